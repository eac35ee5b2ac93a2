"""The embedded Kafka: one KRaft node on 127.0.0.1, run with the jars of `jars.py`; and the topics of our contracts.

Starting and stopping belongs to the caller (the supervisor, or a test's fixture): this module says how. Data lives in
`directory` and is found again by a second start. On a real cluster only `ensure_topics` is used.
"""

from __future__ import annotations

import subprocess
import time
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kafka import KafkaAdminClient, errors

from frontpage.adapters.services.ports import LOCAL
from frontpage.contracts.topics import Topic
from frontpage.errors import ServiceUnavailable

#: 2 M articles a day are not for one node; the sample world's few thousand records fit this heap many times over.
HEAP: Final = "320m"


def command(
    directory: Path, java: str, jars: Iterable[Path], port: int, controller_port: int, *, heap: str = HEAP
) -> list[str]:
    """The command that runs the broker in the foreground. Writes its configuration and formats a new directory.

    Raises ServiceUnavailable when formatting fails (its output is in the message).
    """
    directory.mkdir(parents=True, exist_ok=True)
    classpath = ":".join(str(jar) for jar in sorted(jars))
    properties = directory / "server.properties"
    properties.write_text(_properties(directory.resolve() / "data", port, controller_port), encoding="utf-8")
    (directory / "log4j2.properties").write_text(_LOGGING, encoding="utf-8")
    base = [
        java,
        f"-Xmx{heap}",
        "-Xms64m",
        "-XX:+UseSerialGC",  # one node on a small machine: the fewest threads and the least memory
        "-XX:MaxDirectMemorySize=64m",
        "-XX:ReservedCodeCacheSize=64m",
        "-XX:TieredStopAtLevel=1",
        f"-Dlog4j2.configurationFile={(directory / 'log4j2.properties').resolve()}",
        "-cp",
        classpath,
    ]
    if not (directory / "data" / "meta.properties").exists():
        cluster = uuid.uuid4().hex[:22]
        done = subprocess.run(
            [*base, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(properties)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode != 0:
            raise ServiceUnavailable(f"Kafka cannot format {directory}: {(done.stderr or done.stdout).strip()[-500:]}")
    return [*base, "kafka.Kafka", str(properties.resolve())]


def wait_ready(bootstrap: str, timeout: float = 60.0) -> None:
    """Return when the broker answers requests; raises ServiceUnavailable after `timeout` real seconds."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            admin = _admin(bootstrap)
            try:
                admin.list_topics()
            finally:
                admin.close()
            return
        except (errors.KafkaError, OSError) as error:
            if time.monotonic() > deadline:
                raise ServiceUnavailable(
                    f"Kafka does not answer on {bootstrap} after {timeout:.0f} s: {error}"
                ) from error
            time.sleep(0.2)


def ensure_topics(bootstrap: str, topics: Iterable[Topic], *, replication: int = 1) -> list[str]:
    """Make the missing ones of `topics`; returns their names. Existing topics are left as they are.

    `replication` applies to new topics; use 3 on a cluster. Raises ServiceUnavailable.
    """
    try:
        admin = _admin(bootstrap)
        try:
            present = set(admin.list_topics())
            missing = {
                topic.name: {
                    "num_partitions": topic.partitions,
                    "replication_factor": replication,
                    "configs": {
                        "retention.ms": str(topic.retention_ms),
                        # The segment decides when retention can apply; the default of a week would keep all for a week.
                        "segment.ms": str(max(600_000, topic.retention_ms // 4)),
                    },
                }
                for topic in topics
                if topic.name not in present
            }
            if missing:
                admin.create_topics(missing, timeout_ms=30_000, wait_for_metadata=True)
            return sorted(missing)
        finally:
            admin.close()
    except (errors.KafkaError, OSError) as error:
        raise ServiceUnavailable(f"Kafka at {bootstrap}: cannot make topics: {error}") from error


def _admin(bootstrap: str) -> KafkaAdminClient:
    return KafkaAdminClient(bootstrap_servers=bootstrap, request_timeout_ms=15_000, bootstrap_timeout_ms=3_000)


def _properties(data: Path, port: int, controller_port: int) -> str:
    rows = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{LOCAL}:{controller_port}",
        "listeners": f"PLAINTEXT://{LOCAL}:{port},CONTROLLER://{LOCAL}:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://{LOCAL}:{port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": str(data),
        "auto.create.topics.enable": "false",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "8",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "8",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        # A single worker need not wait for others to join its group.
        "group.initial.rebalance.delay.ms": "0",
        "group.min.session.timeout.ms": "1000",
        # Index files are mapped whole: the 10 MB default times a hundred partitions is a lot of address space.
        "log.index.size.max.bytes": "262144",
        "num.network.threads": "2",
        "num.io.threads": "2",
        "background.threads": "2",
        "log.cleaner.dedupe.buffer.size": "2097152",
        "log.retention.check.interval.ms": "60000",
        # An aborted producer's markers keep readers waiting for this long at most.
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "5000",
        "controlled.shutdown.enable": "false",
        # A killed node waits at its next start until its own session of before has run out; the default is 9 s.
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
    }
    return "".join(f"{key}={value}\n" for key, value in rows.items())


_LOGGING: Final = """\
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d %p %c{1}: %m%n
rootLogger.level=WARN
rootLogger.appenderRef.out.ref=out
"""
