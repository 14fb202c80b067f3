"""Failing disks, kills and power cuts, at every point of what the program does to its files."""
