"""The plug-in of the entry point."""
