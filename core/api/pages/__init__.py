"""The pages for people, below ``/ui/``: templates, static files and what handlers show.

``access`` says who asks and whether a form is the server's own, ``stacks`` shows, ``changes``
plans and acts. Imports ``http`` and ``service``; the only room that knows jinja2.
"""
