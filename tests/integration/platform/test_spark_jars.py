"""The pinned jars are enough for what we do with them: Delta written and read, Kafka read into Delta."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

from frontpage.adapters.bus import Outgoing
from frontpage.adapters.kafka_bus import KafkaBus

SCRIPT = """
import json, sys
from pathlib import Path
from frontpage.adapters.spark import SparkConfig, session
jars, kafka, topic, work = json.loads(sys.argv[1])
spark = session(SparkConfig(jars=[Path(j) for j in jars], scratch=Path(work) / "scratch"))
stream = (spark.readStream.format("kafka").option("kafka.bootstrap.servers", kafka).option("subscribe", topic)
          .option("startingOffsets", "earliest").option("kafka.isolation.level", "read_committed").load())
(stream.selectExpr("offset", "CAST(value AS STRING) AS value").writeStream.format("delta")
 .option("checkpointLocation", work + "/checkpoint").trigger(availableNow=True).start(work + "/table").awaitTermination())
spark.sql(f"MERGE INTO delta.`{work}/table` t USING (SELECT 'v0' AS value) s ON t.value = s.value "
          "WHEN MATCHED THEN UPDATE SET value = 'changed'")
print(json.dumps(sorted(row.value for row in spark.read.format("delta").load(work + "/table").collect())))
spark.stop()
"""


def test_kafka_into_delta_and_a_merge(
    kafka: str, make_topic: Callable[[int], str], spark_jars: list[Path], tmp_path: Path
) -> None:
    topic = make_topic(2)
    producer = KafkaBus(kafka).transactional(f"t-{uuid.uuid4().hex[:8]}")
    producer.transact([Outgoing(topic, f"k{n}", f"v{n}".encode(), n % 2) for n in range(4)], None)
    producer.close()
    arguments = json.dumps([[str(jar) for jar in spark_jars], kafka, topic, str(tmp_path)])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, arguments], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == ["changed", "v1", "v2", "v3"]
