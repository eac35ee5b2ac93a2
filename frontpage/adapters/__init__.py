"""The outside world behind small interfaces, each with an in-memory twin for tests (`tests/fakes`)."""
