"""Services of the application that no screen shows."""
