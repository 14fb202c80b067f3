"""Everything between a prompt and its answer; knows no widget."""
