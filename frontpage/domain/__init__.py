"""Pure decisions. No clock, no randomness, no I/O: `now`, seeds and policies are passed in."""
