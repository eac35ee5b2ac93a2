"""The embedded Spark session for tests, one for the whole run (`getOrCreate`), and a fresh lake a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from frontpage.adapters.lake import Lake
from frontpage.adapters.spark import SparkConfig, session


@pytest.fixture(scope="session")
def spark(spark_jars: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The session; it stays up until the run ends, as Spark starts only once a process."""
    return session(SparkConfig(jars=spark_jars, master="local[2]", scratch=tmp_path_factory.mktemp("spark")))


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty lake."""
    return Lake(str(tmp_path / "lake"))
