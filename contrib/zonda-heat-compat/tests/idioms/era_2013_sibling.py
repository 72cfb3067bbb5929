"""Imports another file of its folder by the name that Heat gave it."""

from heat.engine.plugins import era_2013


class Torch(era_2013.Lamp):
    def FnGetRefId(self):
        return 'torch'


def resource_mapping():
    return {'Era2013::Torch': Torch}
