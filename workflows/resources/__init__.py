"""Resource types whose actions are workflows. Registered by ``plugin``; imports hooks."""
