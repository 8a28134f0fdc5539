"""The worker's side of docs/protocol.md: connections to a server, and what is said over them."""
