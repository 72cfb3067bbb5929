"""The command line: a user interface without rules of its own.

``main`` finds the command in ``commands`` and imports its module only, since ``zonda --help`` must
answer at once. One folder for each group of commands; ``session`` is what they share: settings,
streams, the reader and the application, each made when first asked for.
"""
