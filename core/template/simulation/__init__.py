"""Simulated types: what stands for a type in a stack that makes nothing.

Called by ``template.definition``; imports hooks.
"""
