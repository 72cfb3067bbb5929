"""Heat's custom constraints that ask no service. Registered by ``plugin``; imports hooks."""
