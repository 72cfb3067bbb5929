"""Resource types and constraints that come with zonda: plug-ins like anybody's."""
