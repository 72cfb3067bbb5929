"""Live events: what the engine commits, sent to every client that listens, as it happens.

``hub`` distributes, ``frames`` writes the texts, ``stream`` is what one client gets: the events
that it has missed, then the new ones. Made by ``service``; imports ``core/app`` and what is below
it. Server-Sent Events are known here, the server is not.
"""
