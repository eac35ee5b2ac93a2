"""The `frontpage` command line."""
