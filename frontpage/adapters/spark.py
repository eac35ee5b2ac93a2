"""One Spark session a process: embedded `local[*]` by default, a cluster by configuration.

`SparkConfig` is made by process entry points from settings. Delta's extensions are always on, time is UTC, and Python
workers run this interpreter (they import our domain code). With `remote` (Spark Connect) the server brings its own
jars. Not here: tables (`lake.py`) and jobs (`batch/`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from frontpage.errors import ConfigurationError, ServiceUnavailable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The embedded session shares two cores with everything else: few partitions, each task start costs ~10 ms.
LOCAL_SHUFFLE_PARTITIONS: Final = 4


@dataclass(frozen=True, slots=True)
class SparkConfig:
    """`master` None is `local[*]`; `remote` ("sc://host:15002") wins over it. `scratch` holds shuffle and JVM files."""

    jars: Sequence[Path] = ()
    master: str | None = None
    remote: str | None = None
    scratch: Path = Path("var/spark")
    driver_memory: str = "1g"
    app: str = "frontpage"


def not_shipped(jars: Sequence[Path]) -> list[Path]:
    """`jars` without those that pyspark has in its own folder under any version: two versions of one class clash."""
    import pyspark

    own = {_artifact(path) for path in (Path(pyspark.__file__).parent / "jars").glob("*.jar")}
    return [path for path in jars if _artifact(path) not in own]


def _artifact(path: Path) -> str:
    """`delta-spark_4.1_2.13-4.3.0.jar` -> `delta-spark_4.1_2.13`."""
    return path.stem.rpartition("-")[0]


def session(config: SparkConfig) -> SparkSession:
    """The process's session, started at the first call (about 6 s embedded); raises ServiceUnavailable."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName(config.app)
    for key, value in _options(config).items():
        builder = builder.config(key, value)
    if config.remote:
        builder = builder.remote(config.remote)
    else:
        missing = [str(jar) for jar in config.jars if not jar.exists()]
        if missing:
            raise ConfigurationError(f"Spark jars are missing: {', '.join(missing[:3])}; run `frontpage doctor`")
        config.scratch.mkdir(parents=True, exist_ok=True)
        builder = builder.master(config.master or "local[*]")
    try:
        started = builder.getOrCreate()
    except Exception as error:  # py4j, connect and launcher errors share no base class
        raise ServiceUnavailable(f"Spark did not start: {error}"[:300]) from error
    if not config.remote:
        started.sparkContext.setLogLevel("ERROR")
    return started


def _options(config: SparkConfig) -> dict[str, str]:
    options = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.session.timeZone": "UTC",
    }
    if config.remote:
        return options
    java = f"-Dderby.system.home={config.scratch.resolve()} -XX:+UseSerialGC"
    options |= {
        "spark.jars": ",".join(str(jar.resolve()) for jar in not_shipped(config.jars)),
        "spark.driver.memory": config.driver_memory,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(config.scratch.resolve()),
        "spark.sql.warehouse.dir": str((config.scratch / "warehouse").resolve()),
        "spark.driver.extraJavaOptions": java,
        # the state of a small table's log is one partition's work, not fifty tasks
        "spark.databricks.delta.snapshotPartitions": "2",
        # a checksum file a commit helps tables of millions of files; here it is an extra write and a read
        "spark.databricks.delta.writeChecksumFile.enabled": "false",
        "spark.sql.streaming.stopTimeout": "30s",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    if config.master is None or config.master.startswith("local"):
        options |= {
            "spark.sql.shuffle.partitions": str(LOCAL_SHUFFLE_PARTITIONS),
            "spark.default.parallelism": str(LOCAL_SHUFFLE_PARTITIONS),
            # compiling takes most of the time of short jobs: silver from nothing costs 66 CPU seconds with the JVM's
            # and Spark's compilers, 37 with the JVM's quick one only, 23 without Spark's code generation as well
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.driver.extraJavaOptions": f"{java} -XX:TieredStopAtLevel=1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
        }
    return options
