"""The worker side of docs/reference/protocol.md: connections to a server and their messages."""
