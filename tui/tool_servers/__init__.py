"""Servers that offer tools by the Model Context Protocol (MCP).

Only this package knows the library of the protocol.
"""

import logging


def silence() -> None:
    """Keep the library's log, which quotes messages, from the terminal and from our own log."""
    for name in ("mcp", "client", "mcp_types"):
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
