# Generated from crates/api/openapi.json. Do not edit: run `make clients`.

"""The HTTP API of the server."""
