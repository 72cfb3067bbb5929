"""yaql as Heat has it, with limits on size, steps and time. Called by ``yaql_call``."""
