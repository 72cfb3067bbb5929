"""What ``zonda plugin new`` writes: a small plug-in package, complete and tested."""
