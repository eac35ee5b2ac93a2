"""What crosses a process boundary: Kafka events, Delta tables, Redis views, API shapes."""
