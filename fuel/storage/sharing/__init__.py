"""Data in memory that the processes of a machine share."""
