"""The live `System` of the assets: settings, embedded or configured services, one Spark session a run process.

Nothing is read or connected when definitions are loaded; the first asset that asks pays for the start.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from batch.connect import lake_of, spark_of
from frontpage.adapters.spark import session
from frontpage.runtime import Runtime, connect
from frontpage.settings import Settings, load

if TYPE_CHECKING:
    import redis
    from pyspark.sql import SparkSession

    from frontpage.adapters.bus import Bus
    from frontpage.adapters.lake import Lake


class LiveSystem:
    """Implements `assets.system.System`."""

    @cached_property
    def _settings(self) -> Settings:
        return load()

    @cached_property
    def _runtime(self) -> Runtime:
        return connect(self._settings)

    def spark(self) -> SparkSession:
        """The process's Spark session."""
        return session(spark_of(self._settings))

    def lake(self) -> Lake:
        """Where the tables are."""
        return lake_of(self._settings)

    def bootstrap(self) -> str:
        """Kafka's address for Spark."""
        return self._runtime.bootstrap

    def bus(self) -> Bus:
        """Kafka for everything else."""
        return self._runtime.bus

    def redis(self) -> redis.Redis:
        """The serving store."""
        return self._runtime.redis

    def now(self) -> float:
        """Virtual seconds since 1970 UTC."""
        return self._runtime.clock.now()
