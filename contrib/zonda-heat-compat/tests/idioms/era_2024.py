"""A plug-in as it is written now: every handler, delays, tokens that are no JSON, live state."""

import datetime

from heat.common import exception
from heat.common.i18n import _
from heat.engine import attributes
from heat.engine.clients import progress
from heat.engine import constraints
from heat.engine import properties
from heat.engine import resource
from heat.engine import rsrc_defn
from heat.engine import support
from heat.engine import translation

CALLS = []


class Garden(resource.Resource):
    support_status = support.SupportStatus(version='20.0.0')

    PROPERTIES = (
        NAME, PLANTS, PLANT, SIZE, KIND, SECRET,
    ) = (
        'name', 'plants', 'plant', 'size', 'kind', 'secret',
    )

    properties_schema = {
        NAME: properties.Schema(properties.Schema.STRING, update_allowed=True),
        PLANTS: properties.Schema(
            properties.Schema.LIST,
            _('Plants.'),
            schema=properties.Schema(properties.Schema.STRING),
            update_allowed=True,
            default=[],
        ),
        PLANT: properties.Schema(
            properties.Schema.STRING,
            support_status=support.SupportStatus(status=support.HIDDEN, version='21.0.0'),
        ),
        SIZE: properties.Schema(
            properties.Schema.NUMBER,
            update_allowed=True,
            constraints=[constraints.Modulo(step=2, offset=0)],
        ),
        KIND: properties.Schema(properties.Schema.STRING, immutable=True, default='rose'),
        SECRET: properties.Schema(properties.Schema.STRING),
    }

    attributes_schema = {
        'grown': attributes.Schema(
            'When.', cache_mode=attributes.Schema.CACHE_NONE, type=attributes.Schema.STRING
        ),
        'plants': attributes.Schema('Plants.', type=attributes.Schema.LIST),
        'props': attributes.Schema('Values.', type=attributes.Schema.MAP),
    }

    def translation_rules(self, props):
        if not props[self.PLANT]:
            return None
        return [
            translation.TranslationRule(
                props, translation.TranslationRule.ADD, [self.PLANTS], [props.get(self.PLANT)]
            ),
            translation.TranslationRule(
                props, translation.TranslationRule.DELETE, [self.PLANT]
            ),
        ]

    def add_dependencies(self, deps):
        super().add_dependencies(deps)
        for other in self.stack.values():
            if other.has_interface('Era2024::Fence') and other.properties.get('around') == self.name:
                deps += (self, other)

    def _note(self, what):
        CALLS.append((what, self.action, self.status))

    def handle_create(self):
        self._note('create')
        self.data_set('key', 'value', redact=True)
        return datetime.datetime(2024, 2, 29, 12), (1, 2), {'step': 0}, b'raw'

    def check_create_complete(self, token):
        when, pair, state, raw = token
        assert when == datetime.datetime(2024, 2, 29, 12)
        assert (pair, raw) == ((1, 2), b'raw')
        state['step'] += 1
        if state['step'] == 1:
            raise resource.PollDelay(50)
        if state['step'] < 3:
            return False
        self.resource_id_set('garden-%s' % self.name)
        self.data_set('grown', when.isoformat())
        return True

    def needs_replace_with_prop_diff(self, changed_properties_set, after_props, before_props):
        return self.SIZE in changed_properties_set and after_props[self.SIZE] == 2

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        self._note('update')
        assert isinstance(json_snippet, rsrc_defn.ResourceDefinition)
        if tmpl_diff.metadata_changed():
            self.metadata_set(json_snippet.metadata())
        if not prop_diff:
            return None
        after = json_snippet.properties(self.properties_schema, self.context)
        if after[self.NAME] == 'stone':
            raise exception.ResourceActionNotSupported(action='update to stone')
        return progress.ServerUpdateProgress(
            self.resource_id, 'grow', handler_extra={'args': (after[self.SIZE],)}
        )

    def check_update_complete(self, prg):
        if prg is None:
            return True
        if not prg.called:
            prg.called = True
            assert prg.handler_extra['args']
            return False
        return True

    def handle_suspend(self):
        self._note('suspend')

    def check_suspend_complete(self, cookie):
        return cookie is None

    def handle_resume(self):
        self._note('resume')
        return self.resource_id

    def check_resume_complete(self, cookie):
        return cookie == self.resource_id

    def handle_check(self):
        self._note('check')

    def handle_snapshot(self):
        self._note('snapshot')
        self.data_set('snapshot', '1')

    def handle_delete_snapshot(self, snapshot):
        self._note('delete_snapshot')

    def handle_snapshot_delete(self, state):
        self._note('snapshot_delete')

    def handle_delete(self):
        self._note('delete')
        return self.resource_id

    def check_delete_complete(self, resource_id):
        return True

    def get_live_state(self, resource_properties):
        return {'plants': ['weed'] + list(resource_properties[self.PLANTS])}

    def _resolve_attribute(self, name):
        if name == 'props':
            frozen = self.frozen_definition().properties(self.properties_schema, self.context)
            return {key: frozen[key] for key in (self.NAME, self.PLANTS, self.SIZE)}
        if name == 'plants':
            return self.properties[self.PLANTS]
        return self.data().get('grown')


class Fence(resource.Resource):
    PROPERTIES = (AROUND,) = ('around',)
    properties_schema = {AROUND: properties.Schema(properties.Schema.STRING)}

    def handle_create(self):
        CALLS.append(('fence', self.action, self.status))

    def handle_delete(self):
        CALLS.append(('no fence', self.action, self.status))


class Task(resource.Resource):
    """A handler that is a task, and a check that takes no token."""

    properties_schema = {'steps': properties.Schema(properties.Schema.INTEGER, default=2)}

    def handle_create(self):
        for step in range(self.properties['steps']):
            self.data_set('step', step)
            yield
        self.resource_id_set('done')

    def handle_delete(self):
        return 'ignored'

    def check_delete_complete(self):
        return True


class Choosy(resource.Resource):
    """Decides about updates itself."""

    properties_schema = {
        'text': properties.Schema(properties.Schema.STRING, update_allowed=True, default=''),
    }

    def handle_create(self):
        self.resource_id_set(self.physical_resource_name())

    def _needs_update(self, after, before, after_props, before_props, prev_resource,
                      check_init_complete=True):
        if after_props['text'] == 'again':
            return True
        if after_props['text'] == 'never':
            return False
        return super()._needs_update(after, before, after_props, before_props, prev_resource,
                                     check_init_complete)

    def needs_replace(self, after_props):
        return after_props['text'] == 'anew'

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        CALLS.append(('choosy', self.action, dict(prop_diff)))


class Broken(resource.Resource):
    """Cannot even be made."""

    properties_schema = {'text': properties.Schema(properties.Schema.STRING)}

    def __init__(self, name, definition, stack):
        super().__init__(name, definition, stack)
        raise RuntimeError('no power')


class Machine(resource.Resource):
    """Begins with a text, or with what a software config of that id has."""

    properties_schema = {
        'user_data': properties.Schema(properties.Schema.STRING, required=True),
    }

    def handle_create(self):
        text = self.properties['user_data']
        with self.rpc_client().ignore_error_by_name('NotFound'):
            text = self.rpc_client().show_software_config(self.context, text)['config']
        CALLS.append(('machine', text))
        if text == 'deploy':
            self.rpc_client().create_software_deployment(self.context)
        self.resource_id_set(self.physical_resource_name())


def resource_mapping():
    return {
        'Era2024::Machine': Machine,
        'Era2024::Garden': Garden,
        'Era2024::Fence': Fence,
        'Era2024::Task': Task,
        'Era2024::Choosy': Choosy,
        'Era2024::Broken': Broken,
    }
