"""Needs a library that nobody has."""

import library_of_nobody

from heat.engine import resource


def resource_mapping():
    return {'Missing::Thing': resource.Resource, 'x': library_of_nobody}
