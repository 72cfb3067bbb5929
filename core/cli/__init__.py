"""The command line: a face without rules of its own."""
