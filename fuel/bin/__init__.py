"""The programs behind the commands ``fuel-convert``, ``fuel-download`` and ``fuel-info``."""
