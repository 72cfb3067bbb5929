"""The base of plug-ins for networks, by the name of 2013."""

from heat.engine.resources.openstack.neutron.neutron import NeutronResource

__all__ = ["NeutronResource"]
