"""The protocols of a database and its connections, and the classes of their errors.

``file`` has SQLite behind them, ``postgresql`` a server; whoever uses them knows neither.
"""
