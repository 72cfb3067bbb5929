"""Stacks inside stacks, beside types that are none."""

from heat.common import template_format
from heat.engine import attributes
from heat.engine import properties
from heat.engine.resources import signal_responder
from heat.engine.resources import stack_resource
from heat.engine.resources.openstack.neutron import neutron

INNER = '''
heat_template_version: 2016-04-08
parameters: {word: {type: string}, count: {type: number, default: 1}}
resources:
  one: {type: OS::Heat::Value, properties: {value: {get_param: word}}}
  many:
    type: OS::Heat::ResourceGroup
    properties:
      count: {get_param: count}
      resource_def: {type: OS::Heat::TestResource, properties: {value: x}}
outputs:
  said: {value: {get_attr: [one, value]}}
'''


class Group(stack_resource.StackResource):
    """By ``child_template`` and ``child_params`` alone."""

    PROPERTIES = (WORD, COUNT) = ('word', 'count')
    properties_schema = {
        WORD: properties.Schema(properties.Schema.STRING, required=True, update_allowed=True),
        COUNT: properties.Schema(properties.Schema.INTEGER, update_allowed=True),
    }
    attributes_schema = {'said': attributes.Schema('What it said.')}

    def child_template(self):
        return template_format.parse(INNER)

    def child_params(self):
        return {'word': self.properties[self.WORD], 'count': self.properties[self.COUNT]}

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        self.properties = json_snippet.properties(self.properties_schema, self.context)
        return self.update_with_template(self.child_template(), self.child_params())


class Loud(Group):
    """With a handler of its own, an environment, and a reference to what is inside."""

    def handle_create(self):
        params = self.child_params()
        params['word'] = params['word'].upper()
        return self.create_with_template(self.child_template(), {'parameters': params})

    def get_reference_id(self):
        return self.nested()['one'].FnGetAtt('value')


class Alarm(signal_responder.SignalResponder):
    def handle_create(self):
        super().handle_create()
        self.resource_id_set('alarm')

    def handle_signal(self, details=None):
        self.data_set('rung', 'yes')

    def get_reference_id(self):
        if self.data().get('rung') == 'yes':
            return 'yes'
        urls = (self._get_ec2_signed_url(), self._get_heat_signal_url())
        return 'no: %s %s' % urls


class Port(neutron.NeutronResource):
    pass


def resource_mapping():
    return {
        'Nested::Group': Group,
        'Nested::Loud': Loud,
        'Nested::Alarm': Alarm,
        'Nested::Port': Port,
    }
