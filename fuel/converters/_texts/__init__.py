"""Texts: files, lines, vocabularies, and lines as numbers."""
