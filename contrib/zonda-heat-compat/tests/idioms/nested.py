"""A stack inside a stack, beside a type that is none."""

from heat.engine import resource
from heat.engine.resources import stack_resource
from heat.engine.resources import signal_responder
from heat.engine.resources.openstack.neutron import neutron


class Group(stack_resource.StackResource):
    def child_template(self):
        return {}


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
    return {'Nested::Group': Group, 'Nested::Alarm': Alarm, 'Nested::Port': Port}
