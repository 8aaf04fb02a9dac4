"""How a file came about, and checksums of what is in it."""
