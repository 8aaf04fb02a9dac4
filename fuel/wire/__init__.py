"""What streams send to each other through sockets: arrays as frames, greetings, keys."""
