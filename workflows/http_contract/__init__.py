"""The wire contract: responses, states, callbacks.

Called by the runner, the service and the check.
"""
