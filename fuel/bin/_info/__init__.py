"""What `fuel-info` does: read what is known of a file, verify it, compare it, draw it."""
