"""The service: Heat's REST API over one engine, for Heat's clients.

``server`` (Starlette, uvicorn) gets a request, ``identity`` says whose it is, ``http`` finds its
route, ``heat`` answers it, ``service`` is what the answers are made of. Called by ``zonda serve``.
Imports ``core/app`` and what is below it; the command line is not known here.
"""
