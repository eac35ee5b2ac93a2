"""The Java archives that Frontpage needs beyond pyspark's: Kafka's broker, Delta and the Kafka connector for Spark.

Fetched once by exact version with the Ivy jar that pyspark ships (nothing but Java is needed), each file checked
against the SHA-256 in `jars.json`. A fetch goes to a directory of its own that is renamed at the end, under a file
lock: an interrupted fetch never counts, and parallel runs fetch once. What Spark ships already is left out.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.resources
import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from frontpage.errors import ConfigurationError, ServiceUnavailable

#: Spark 4.1 runs on 17 and 21 only.
JAVA_VERSIONS: Final = (17, 21)
INSTALL_JAVA: Final = "install it with `apt-get install openjdk-17-jre-headless` (Debian, Ubuntu) or set JAVA_HOME"
#: Real seconds for one artifact with all it depends on; about 30 s on a good line.
FETCH_TIMEOUT: Final = 900.0


@dataclass(frozen=True, slots=True)
class JarSet:
    """Files that are fetched together; `artifacts` are (organisation, name, version) with what they depend on."""

    name: str
    artifacts: tuple[tuple[str, str, str], ...]


KAFKA: Final = JarSet(
    "kafka-4.1.0",
    (
        ("org.apache.kafka", "kafka_2.13", "4.1.0"),
        # without a binding the broker logs nothing, not even why it stops
        ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.24.3"),
    ),
)
SPARK: Final = JarSet(
    "spark-4.1.1",
    (
        ("io.delta", "delta-spark_4.1_2.13", "4.3.0"),
        ("org.apache.spark", "spark-sql-kafka-0-10_2.13", "4.1.1"),
    ),
)
ALL: Final = (KAFKA, SPARK)


def kafka_jars(cache: Path) -> list[Path]:
    """The broker's class path, fetched if it is not in `cache` yet."""
    return _paths(KAFKA, cache)


def spark_jars(cache: Path) -> list[Path]:
    """What `spark.jars` must name, fetched if it is not in `cache` yet: Delta, the Kafka connector, their own needs."""
    return _paths(SPARK, cache)


def missing(jars: JarSet, cache: Path, *, thorough: bool = False) -> list[str]:
    """Names of the files that are absent or of the wrong size (`thorough`: or of the wrong SHA-256)."""
    directory = cache / jars.name
    wrong = []
    for name, pin in _manifest(jars).items():
        path = directory / name
        if (
            not path.is_file()
            or path.stat().st_size != pin["bytes"]
            or (thorough and _sha256(path) != str(pin["sha256"]))
        ):
            wrong.append(name)
    return wrong


def fetch(jars: JarSet, cache: Path, say: Callable[[str], None] = lambda _: None) -> None:
    """Bring `cache/<name>` to what the manifest says. Raises ServiceUnavailable (download) or ConfigurationError."""
    if not missing(jars, cache, thorough=True):
        return
    with _lock(cache / f".{jars.name}.lock"):
        if not missing(jars, cache, thorough=True):
            return  # another process fetched them while we waited
        executable = java()
        with tempfile.TemporaryDirectory(prefix=f".{jars.name}.", dir=cache) as scratch:
            downloads, kept = Path(scratch) / "downloads", Path(scratch) / "kept"
            for artifact in jars.artifacts:
                say(f"fetching {artifact[1]} {artifact[2]} and what it needs")
                _ivy(executable, artifact, Path(scratch) / "ivy", downloads)
            kept.mkdir()
            for name, pin in _manifest(jars).items():
                source = downloads / name
                if not source.is_file():
                    raise ServiceUnavailable(f"{name} was not delivered with {jars.name}: try again")
                if _sha256(source) != str(pin["sha256"]):
                    raise ConfigurationError(f"{name} is not the file that Frontpage was tested with (SHA-256 differs)")
                shutil.move(source, kept / name)
            target = cache / jars.name
            if target.exists():
                target.rename(Path(scratch) / "damaged")
            kept.rename(target)
        say(f"{jars.name}: {len(_manifest(jars))} files in {cache / jars.name}")


def java() -> str:
    """The Java executable (JAVA_HOME, else PATH); raises ConfigurationError when there is none of a right version."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    wanted = " or ".join(map(str, JAVA_VERSIONS))
    if found is None or not Path(found).exists():
        raise ConfigurationError(f"Java {wanted} is missing: {INSTALL_JAVA}")
    try:
        told = subprocess.run([found, "-version"], capture_output=True, text=True, timeout=30, check=False).stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigurationError(f"{found} does not run ({error}): {INSTALL_JAVA}") from None
    version = java_version(told)
    if version not in JAVA_VERSIONS:
        raise ConfigurationError(f"{found} is Java {version or 'unknown'}, Frontpage needs {wanted}: {INSTALL_JAVA}")
    return found


def java_version(told: str) -> int | None:
    """The major version in what `java -version` prints: `openjdk version "17.0.15" ...` is 17, `"1.8.0_292"` is 8."""
    quoted = told.split('"')
    if len(quoted) < 3:
        return None
    parts = quoted[1].replace("-", ".").split(".")
    major = parts[1] if parts[0] == "1" and len(parts) > 1 else parts[0]
    return int(major) if major.isdigit() else None


def _paths(jars: JarSet, cache: Path) -> list[Path]:
    if missing(jars, cache):
        fetch(jars, cache)
    return [cache / jars.name / name for name in _manifest(jars)]


def _manifest(jars: JarSet) -> dict[str, dict[str, int | str]]:
    text = importlib.resources.files(__package__).joinpath("jars.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, int | str]] = json.loads(text)[jars.name]
    return found


def _ivy(executable: str, artifact: tuple[str, str, str], ivy_cache: Path, downloads: Path) -> None:
    package = importlib.util.find_spec("pyspark")
    if package is None or package.origin is None:
        raise ConfigurationError("pyspark is not installed: run `make setup`")
    ivy = sorted((Path(package.origin).parent / "jars").glob("ivy-*.jar"))
    if not ivy:
        raise ConfigurationError("pyspark does not contain the Ivy jar: reinstall it with `make setup`")
    pattern = f"{downloads}/[artifact]-[revision](-[classifier]).[ext]"
    arguments = ["-cache", str(ivy_cache), "-dependency", *artifact, "-confs", "default", "-retrieve", pattern]
    try:
        done = subprocess.run(
            [executable, "-Xmx256m", "-jar", str(ivy[-1]), *arguments],
            capture_output=True,
            text=True,
            timeout=FETCH_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ServiceUnavailable(f"{artifact[1]}: no answer within {FETCH_TIMEOUT:.0f} s: try again") from None
    if done.returncode != 0 or "UNRESOLVED DEPENDENCIES" in done.stdout:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        blame = next(
            (line for line in lines if "UNRESOLVED" in line or "not found" in line), lines[-1] if lines else ""
        )
        raise ServiceUnavailable(f"cannot fetch {':'.join(artifact)} from the Maven repositories: {blame[:300]}")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
