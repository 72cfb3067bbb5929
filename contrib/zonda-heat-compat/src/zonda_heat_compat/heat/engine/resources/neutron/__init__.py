"""Networks, by the name of 2013."""
