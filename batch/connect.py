"""Where the lake is and which Spark to use, by the settings; shared by Dagster's resource and the command line."""

from __future__ import annotations

from frontpage.adapters.services.jars import spark_jars
from frontpage.adapters.spark import SparkConfig
from frontpage.runtime import lake_of
from frontpage.settings import Settings

__all__ = ["lake_of", "spark_of"]


def spark_of(settings: Settings) -> SparkConfig:
    """Embedded unless SPARK_REMOTE or SPARK_MASTER names a cluster; jars are fetched at the first use."""
    return SparkConfig(
        jars=() if settings.spark_remote else spark_jars(settings.cache),
        master=settings.spark_master,
        remote=settings.spark_remote,
        scratch=settings.var / "spark",
    )
