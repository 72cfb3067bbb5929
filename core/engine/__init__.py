"""Plan, steps, transitions and recovery. No SQL text, no HTTP, no YAML, no clock of its own."""
