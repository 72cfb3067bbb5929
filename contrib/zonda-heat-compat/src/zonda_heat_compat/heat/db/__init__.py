"""What plug-ins of 2013 and 2014 asked Heat's database for."""
