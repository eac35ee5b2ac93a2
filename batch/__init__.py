"""Spark jobs: DataFrame to DataFrame, and Delta I/O; nothing of Dagster."""
