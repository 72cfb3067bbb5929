"""Named after the package of Heat that plug-ins import."""
