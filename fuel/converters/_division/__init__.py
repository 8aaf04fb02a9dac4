"""Division of somebody's own data into splits, and names beside the sources."""
