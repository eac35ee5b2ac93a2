"""The HTTP API and the reader page."""
