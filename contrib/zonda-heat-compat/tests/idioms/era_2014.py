"""A plug-in of 2014: schemas are objects, and a library that is missing disables types."""

from heat.common import exception
from heat.common.i18n import _
from heat.db import api as db_api
from heat.engine import attributes
from heat.engine import clients
from heat.engine import constraints
from heat.engine import properties
from heat.engine import resource
from heat.openstack.common import log as logging

LOG = logging.getLogger(__name__)

SHIPYARD_INSTALLED = False
try:
    import shipyard_of_nobody as shipyard
    SHIPYARD_INSTALLED = True
except ImportError:
    shipyard = None

try:
    from heat.openstack.common.gettextutils import _LW
except ImportError:
    _LW = _


class Ship(resource.Resource):
    PROPERTIES = (NAME, CARGO) = ('name', 'cargo')
    properties_schema = {
        NAME: properties.Schema(
            properties.Schema.STRING,
            _('Name.'),
            constraints=[constraints.AllowedPattern('[A-Z].*')],
        ),
        CARGO: properties.Schema(properties.Schema.LIST, _('Cargo.'), default=[]),
    }

    def handle_create(self):
        self.resource_id_set(shipyard.build(self.properties[self.NAME]))


class Boat(resource.Resource):
    """Needs no library."""

    PROPERTIES = (
        NAME, SIZE, SAILS, CREW, HARBOUR,
    ) = (
        'name', 'size', 'sails', 'crew', 'harbour',
    )
    _SAIL_KEYS = (SAIL_AREA, SAIL_KIND) = ('area', 'kind')
    ATTRIBUTES = (WHERE, SAIL_AREAS) = ('where', 'sail_areas')

    properties_schema = {
        NAME: properties.Schema(properties.Schema.STRING, _('Name.')),
        SIZE: properties.Schema(
            properties.Schema.INTEGER,
            _('Size.'),
            required=True,
            constraints=[constraints.Range(min=1, max=20)],
            update_allowed=True,
        ),
        SAILS: properties.Schema(
            properties.Schema.LIST,
            _('Sails.'),
            schema=properties.Schema(
                properties.Schema.MAP,
                schema={
                    SAIL_AREA: properties.Schema(properties.Schema.NUMBER, required=True),
                    SAIL_KIND: properties.Schema(
                        properties.Schema.STRING,
                        constraints=[constraints.AllowedValues({'jib': 1, 'main': 2}.keys())],
                    ),
                },
            ),
        ),
        CREW: properties.Schema(properties.Schema.MAP, _('Crew.'), update_allowed=True),
        HARBOUR: properties.Schema(
            properties.Schema.STRING,
            _('Harbour.'),
            constraints=[constraints.CustomConstraint('era2014.harbour')],
        ),
    }
    attributes_schema = {
        WHERE: attributes.Schema(_('Where.')),
        SAIL_AREAS: attributes.Schema(_('Areas.'), type=attributes.Schema.LIST),
    }

    def validate(self):
        super(Boat, self).validate()
        if self.properties.get(self.SIZE) == 13:
            msg = _('%(size)s is no good for %(name)s') % dict(size=13, name=self.name)
            raise exception.StackValidationFailed(message=msg)
        if self.properties[self.CREW] and self.properties[self.HARBOUR]:
            raise exception.ResourcePropertyConflict(self.CREW, self.HARBOUR)

    def handle_create(self):
        args = dict((k, v) for k, v in self.properties.items() if v is not None)
        assert self.properties[self.CREW] is None or args[self.CREW]
        assert 'harbour' in args or self.properties.get(self.HARBOUR) is None
        name = self.properties[self.NAME] or self.physical_resource_name()
        self.resource_id_set(name)
        return name

    def check_create_complete(self, name):
        assert name == self.resource_id
        if name == 'wreck':
            raise exception.Error(_('%s has sunk') % name)
        return True

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        if prop_diff:
            self.properties = json_snippet.properties(self.properties_schema, self.context)
            if self.SIZE in prop_diff:
                self._grow(prop_diff[self.SIZE])

    def _grow(self, size):
        if size < 5:
            raise resource.UpdateReplace(self.name)
        LOG.warn(_LW('%(name)s grows to %(size)s'), {'name': self.name, 'size': size})

    def handle_check(self):
        if self.resource_id == 'ghost':
            self._verify_check_conditions([
                {'attr': 'status', 'expected': 'AFLOAT', 'current': 'SUNK'},
            ])

    def _resolve_attribute(self, name):
        if name == self.WHERE:
            return '%s@%s' % (self.resource_id, self.properties[self.SIZE])
        return [sail[self.SAIL_AREA] for sail in self.properties[self.SAILS] or ()]


class Raft(resource.Resource):
    """Keeps its attributes itself, and says how it is in the words of 2014."""

    properties_schema = {
        'port': properties.Schema(
            properties.Schema.STRING,
            _('Port.'),
            default='sound',
            constraints=[constraints.CustomConstraint('era2014.port')],
        ),
    }
    attributes_schema = {'port': attributes.Schema(_('Port.'))}

    def __init__(self, name, definition, stack):
        super(Raft, self).__init__(name, definition, stack)
        self.attributes = {}

    def handle_create(self):
        db_api.resource_data_set(self, 'log', 'afloat', redact=True)
        self.resource_id_set('raft')

    def handle_check(self):
        if db_api.resource_data_get(self, 'log') != db_api.resource_data_get_all(self)['log']:
            raise exception.Error('no log')
        db_api.resource_data_delete(self, 'log')
        try:
            db_api.resource_data_get(self, 'log')
        except exception.NotFound:
            return
        raise exception.Error('still there')

    def check_create_complete(self, token):
        port = self.properties['port']
        if port == 'leak':
            raise resource.ResourceInError(resource_status='SUNK', status_reason=_('a leak'))
        if port == 'fog':
            raise resource.ResourceUnknownStatus(resource_status='GREY', result=_('No view'))
        return True

    def _resolve_attribute(self, name):
        return self.properties['port']


class PortConstraint(object):
    """Extends nothing."""

    def validate(self, value, context):
        return clients.Clients(context).context is not None and value != 'bern'


class NoUniqueMatch(Exception):
    """The error of a client of OpenStack for a name that several things have."""


class HarbourConstraint(constraints.BaseCustomConstraint):
    expected_exceptions = (exception.EntityNotFound,)

    def validate_with_client(self, client, harbour):
        if harbour == 'neustadt':
            raise NoUniqueMatch('There are several.')
        if harbour != 'kiel':
            raise exception.EntityNotFound(entity='Harbour', name=harbour)


def constraint_mapping():
    return {'era2014.harbour': HarbourConstraint, 'era2014.port': PortConstraint}


def resource_mapping():
    return {'Era2014::Ship': Ship, 'Era2014::Boat': Boat, 'Era2014::Raft': Raft}


def available_resource_mapping():
    if SHIPYARD_INSTALLED:
        return resource_mapping()
    LOG.warn(_LW('No ships.'))
    return {'Era2014::Boat': Boat, 'Era2014::Raft': Raft}
