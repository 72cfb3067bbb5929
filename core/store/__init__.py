"""Tables, prepared statements, migrations and sealing. SQL lives here and nowhere else."""
