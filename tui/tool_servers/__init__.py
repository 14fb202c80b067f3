"""Servers that offer tools by the Model Context Protocol (MCP).

Only this package knows the library of the protocol.
"""
