"""Sessions in memory: opening, leasing, saving, switching, closing."""
