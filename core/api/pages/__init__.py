"""The pages for people, below ``/ui/``: templates, static files and what handlers show.

Imports ``http`` and ``service``; the only room that knows jinja2.
"""
