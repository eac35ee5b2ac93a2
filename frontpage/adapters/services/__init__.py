"""The services that Frontpage starts by itself when no address is configured: Kafka, Valkey, and Spark's jars."""
