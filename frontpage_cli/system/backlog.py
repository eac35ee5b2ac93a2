"""How far each consumer group is behind, from Kafka's own committed offsets."""

from __future__ import annotations

from collections import defaultdict

from kafka import KafkaAdminClient, errors

from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.contracts.topics import ALL
from frontpage.errors import ServiceUnavailable


def backlog(bootstrap: str) -> dict[str, dict[str, int]]:
    """Records behind, by group and topic of ours; raises ServiceUnavailable.

    A transaction's marker takes an offset too and nobody commits past it without a record, so that one offset behind
    in a partition is nothing behind.
    """
    ours = {topic.name for topic in ALL}
    try:
        admin = KafkaAdminClient(bootstrap_servers=bootstrap, request_timeout_ms=15_000, bootstrap_timeout_ms=5_000)
        try:
            groups = [str(row["group_id"]) for row in admin.list_groups()]
            offsets = admin.list_group_offsets(groups) if groups else {}
        finally:
            admin.close()
    except (errors.KafkaError, OSError) as error:
        raise ServiceUnavailable(f"Kafka at {bootstrap}: {error}") from error
    bus = KafkaBus(bootstrap)
    ends: dict[str, dict[int, int]] = {}
    found: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for group, committed in offsets.items():
        for tp, position in committed.items():
            if tp.topic not in ours:
                continue
            if tp.topic not in ends:
                ends[tp.topic] = bus.end_offsets(tp.topic)
            behind = ends[tp.topic].get(tp.partition, 0) - max(0, position.offset)
            found[group][tp.topic] += behind if behind > 1 else 0
    return {group: dict(topics) for group, topics in sorted(found.items())}
