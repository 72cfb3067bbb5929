"""The server: requests become calls, answers become bytes; the process listens and stops.

Called by ``zonda serve``. The only room that knows Starlette and uvicorn; imports all of ``api``.
"""
