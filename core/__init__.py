"""The engine: template language, store, engine, clock and faces. No plug-in imports it."""
