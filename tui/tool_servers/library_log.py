"""The log of the protocol's library, which quotes messages."""

import logging


def silence() -> None:
    """Keep it from the terminal and from our own log."""
    for name in ("mcp", "client", "mcp_types"):
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
