"""Contact sheets: a file drawn as a picture, so that a person can look instead of read."""
