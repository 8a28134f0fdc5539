"""The worker's side of docs/protocol.md: connections out to a server, and what is said over them."""
