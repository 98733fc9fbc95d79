"""Rules of this app as plain Python: no Django, clock, network or database."""
