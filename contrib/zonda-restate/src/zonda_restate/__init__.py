"""Restate executes the workflows of zonda's resources."""
