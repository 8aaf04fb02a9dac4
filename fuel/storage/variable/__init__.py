"""Sources whose examples have sizes of their own."""
