"""Refresh when readers or publishers have written enough, without waiting for the hour."""

import json
from typing import Final

import dagster as dg

from assets.system import System
from dagster_project.jobs import REFRESH
from frontpage.contracts.topics import ARTICLES, READER_CLICKS, READER_EVENTS, STORY_CHANGES
from frontpage.errors import FrontpageError

#: Topics whose growth is worth a refresh.
WATCHED: Final = (ARTICLES, STORY_CHANGES, READER_CLICKS, READER_EVENTS)
#: New records, all watched topics together, that start a run: a run costs a Spark start and about a minute.
ENOUGH: Final = 1_000
#: Real seconds between looks.
INTERVAL: Final = 120
_ACTIVE: Final = [
    dg.DagsterRunStatus.QUEUED, dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
]  # fmt: skip


@dg.sensor(
    job=REFRESH, minimum_interval_seconds=INTERVAL, default_status=dg.DefaultSensorStatus.STOPPED,
    description=f"Starts `refresh` when Kafka has {ENOUGH} new records since the last time.",
)  # fmt: skip
def new_records(
    context: dg.SensorEvaluationContext, system: dg.ResourceParam[System]
) -> dg.SensorResult | dg.SkipReason:
    """The cursor holds the committed ends at the last start; a run in progress is waited for."""
    try:
        bus = system.bus()
        ends = {f"{topic.name}/{p}": end for topic in WATCHED for p, end in bus.end_offsets(topic.name).items()}
    except FrontpageError as error:
        return dg.SkipReason(f"Kafka cannot be asked: {error}")
    before: dict[str, int] = json.loads(context.cursor or "{}")
    new = sum(max(0, end - before.get(place, 0)) for place, end in ends.items())
    if new < ENOUGH:
        return dg.SkipReason(f"{new} new records, {ENOUGH} start a run")
    if context.instance.get_runs(dg.RunsFilter(job_name=REFRESH.name, statuses=_ACTIVE), limit=1):
        return dg.SkipReason("a refresh is on its way")
    cursor = json.dumps(ends, sort_keys=True)
    return dg.SensorResult(run_requests=[dg.RunRequest(run_key=cursor)], cursor=cursor)
