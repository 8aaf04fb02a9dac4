"""Tables: how they are read, what their columns hold, and matrices made of them."""
