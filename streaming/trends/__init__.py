"""Click and trend aggregation."""
