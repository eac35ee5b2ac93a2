"""Thin Dagster assets, checks and partitions over `batch`."""
