"""A plug-in as they were written in 2013: schemas are dicts, ``_`` needs no import."""

from heat.common import exception
from heat.engine import clients
from heat.engine import resource
from heat.engine import scheduler
from heat.openstack.common import log as logging
from heat.openstack.common import timeutils
from heat.openstack.common.gettextutils import _ as translated

logger = logging.getLogger(__name__)

if clients.novaclient is not None:
    raise RuntimeError('there should be no novaclient here')


class Lamp(resource.Resource):
    bulb_schema = {
        'Watt': {'Type': 'Integer', 'MinValue': 1, 'MaxValue': 100, 'Default': 40},
        'Colour': {'Type': 'String', 'AllowedValues': ['white', 'red']},
    }
    properties_schema = {
        'Name': {
            'Type': 'String',
            'Required': True,
            'MinLength': 2,
            'AllowedPattern': '[a-z]+',
            'Description': _('The name.'),
        },
        'Bulbs': {'Type': 'List', 'Schema': {'Type': 'Map', 'Schema': bulb_schema}},
        'Bright': {'Type': 'Number', 'UpdateAllowed': True, 'Default': 1},
        'Tags': {'Type': 'Map'},
        'Fuse': {'Type': 'String', 'Implemented': False},
    }
    attributes_schema = {
        'Name': translated('The name.'),
        'Bright': _('How bright it is.'),
        'Watts': 'What the bulbs take.',
        'show': _('All of it.'),
    }
    update_allowed_keys = ('Properties', 'Metadata')
    update_allowed_properties = ('Bulbs',)
    deleted = []

    def __init__(self, name, json_snippet, stack):
        super(Lamp, self).__init__(name, json_snippet, stack)
        self._switched = False

    def validate(self):
        result = super(Lamp, self).validate()
        if result:
            return result
        if self.properties['Name'] == 'dark':
            return {'Error': _('%s gives no light') % self.name}

    def _warm_up(self, steps):
        for step in range(steps):
            logger.debug(_('%(name)s: %(step)s') % {'name': self.name, 'step': step})
            yield
        self._switched = True

    def handle_create(self):
        self.resource_id_set(self.physical_resource_name())
        self.metadata = {'made': timeutils.isotime()}
        self.data_set('bright', self.properties['Bright'])
        task = scheduler.TaskRunner(self._warm_up, 3)
        task.start()
        return task

    def check_create_complete(self, task):
        done = task.step()
        assert done == self._switched
        return done

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        if 'Metadata' in tmpl_diff:
            self.metadata = json_snippet.get('Metadata', {})
        if 'Properties' in tmpl_diff:
            if prop_diff.get('Bright') == 0:
                raise resource.UpdateReplace(self.name)
            if 'Bright' in prop_diff:
                assert json_snippet['Properties']['Bright'] == prop_diff['Bright']
                self.data_set('bright', prop_diff['Bright'])
                assert self.properties['Bright'] != prop_diff['Bright']

    def handle_delete(self):
        if self.resource_id is None:
            return None
        runner = scheduler.TaskRunner(self._warm_up, 1)
        runner.start()
        return runner

    def check_delete_complete(self, runner):
        if runner is None:
            return True
        if not runner.step():
            return False
        Lamp.deleted.append(self.name)
        self.resource_id_set(None)
        return True

    def handle_suspend(self):
        self.data_set('bright', '0')

    def FnGetRefId(self):
        return 'lamp-%s' % self.properties['Name']

    def _resolve_attribute(self, name):
        if name == 'Bright':
            return self.data()['bright']
        if name == 'Watts':
            return sum(bulb['Watt'] for bulb in self.properties['Bulbs'] or [])
        if name == 'show':
            return dict(self.parsed_template('Properties'))
        return self.properties[name]


class Switch(resource.Resource):
    """Overrides what attributes are, as one did then."""

    properties_schema = {'Lamp': {'Type': 'String'}}

    def handle_create(self):
        lamp = self.stack.resource_by_refid(self.properties['Lamp'])
        if lamp is None:
            raise exception.NotFound(_('no lamp %s') % self.properties['Lamp'])
        self.data_set('watts', lamp.FnGetAtt('Watts'))

    def FnGetAtt(self, key):
        if key == 'Watts':
            return self.data().get('watts')
        raise exception.InvalidTemplateAttribute(resource=self.name, key=key)


def resource_mapping():
    return {
        'Era2013::Lamp': Lamp,
        'Era2013::Light': Lamp,
        'Era2013::Switch': Switch,
    }
