"""Readers of the formats that raw files come in."""
