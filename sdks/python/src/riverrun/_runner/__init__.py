"""The runner: a child process of the server that executes handlers. See docs/protocol.md."""
