"""Runs handlers as a child process of the server. See docs/reference/protocol.md."""
