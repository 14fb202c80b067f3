"""The functions behind the command table: each does its work and returns effects."""
