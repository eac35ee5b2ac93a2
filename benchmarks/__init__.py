"""Labelled evaluation, benchmarks and long runs; figures go to `benchmarks/results`."""
