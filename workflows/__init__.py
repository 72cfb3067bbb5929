"""Workflow runners, the resource types made of workflows, and the bundled runner service."""
