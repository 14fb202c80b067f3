"""The terminal: first frame, driver, output, keys and colours."""
