"""Heat's plug-in API on top of ``zonda.hooks``. See the README of the distribution."""
