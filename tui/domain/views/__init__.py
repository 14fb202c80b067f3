"""Values that the screen and the command line show."""
