"""Wait conditions and their handles. Registered by ``plugin``; imports hooks."""
