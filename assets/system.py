"""What assets are given: the outside world behind one small interface, so that they can be called in a test.

`dagster_project/resources.py` has the live one (settings, embedded or configured services); tests make their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import redis
    from pyspark.sql import SparkSession

    from frontpage.adapters.bus import Bus
    from frontpage.adapters.lake import Lake


class System(Protocol):
    """Connections are made at the first call and shared by all assets of a run process."""

    def spark(self) -> SparkSession:
        """The process's Spark session."""

    def lake(self) -> Lake:
        """Where the tables are."""

    def bootstrap(self) -> str:
        """Kafka's address for Spark."""

    def bus(self) -> Bus:
        """Kafka for everything else."""

    def redis(self) -> redis.Redis:
        """The serving store."""

    def now(self) -> float:
        """Virtual seconds since 1970 UTC."""
