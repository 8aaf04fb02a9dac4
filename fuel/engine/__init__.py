"""How the work of a stream is run: in this process, by threads, or by worker processes."""
