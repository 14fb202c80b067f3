"""Values and rules: no input, no output, no clock, no chance."""
