"""Dagster assembly: definitions, jobs, schedules, sensors, resources."""
