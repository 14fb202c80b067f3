"""View models: values that the screen and the command line show."""
