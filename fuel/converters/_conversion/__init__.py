"""What every converter is made of: inputs, output, options, checks and workers."""
