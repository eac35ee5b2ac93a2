"""Jobs and when they run. All run in one process, so that assets share one Spark session."""

from __future__ import annotations

from typing import Final

import dagster as dg

_groups = dg.AssetSelection.groups
_READ: Final = _groups("bronze", "silver")
_STORIES: Final = dg.AssetSelection.assets(
    ["bronze", "story_changes"], ["silver", "stories"], ["silver", "story_members"], ["silver", "copies"],
    ["bronze", "articles"], ["gold", "reclusters"], ["gold", "recluster_agreement"], ["serving", "proposals"],
)  # fmt: skip
_PROFILES: Final = dg.AssetSelection.assets(
    ["gold", "publisher_authority"], ["gold", "vector_projection"], ["gold", "reader_profiles"], ["serving", "views"]
)
_REPORTS: Final = dg.AssetSelection.assets(
    ["gold", "freshness"], ["gold", "cluster_health"], ["gold", "id_churn"], ["gold", "pair_ratings"],
    ["gold", "poll_report"],
)  # fmt: skip
_TRAINING: Final = dg.AssetSelection.assets(
    ["gold", "rank_training"],
    ["gold", "models"],
    ["gold", "term_weights"],
    ["gold", "entities"],
    ["gold", "title_slogans"],
    ["serving", "views"],
)

#: What a job is for stands in its description, which the UI shows.
REFRESH: Final = dg.define_asset_job(
    "refresh", _READ | _PROFILES | _REPORTS,
    description="Kafka to bronze, silver, authority, profiles and reports, and back to serving.",
)  # fmt: skip
RECLUSTER: Final = dg.define_asset_job(
    "recluster", _STORIES, description="48-hour re-clustering; proposals go to the languages' writers."
)
TRAIN: Final = dg.define_asset_job(
    "train",
    _READ | _TRAINING,
    description="Training rows, a new ranker, promotion when it beats the fallback; term weights and names.",
)
EVERYTHING: Final = dg.define_asset_job(
    "everything", dg.AssetSelection.all() - _groups("upkeep"), description="All tables and views once, in order."
)
UPKEEP: Final = dg.define_asset_job(
    "upkeep", _groups("upkeep"), description="Reader deletions, then OPTIMIZE and VACUUM of all tables."
)
JOBS: Final = (REFRESH, RECLUSTER, TRAIN, EVERYTHING, UPKEEP)


def _schedule(job: dg.UnresolvedAssetJobDefinition, cron: str) -> dg.ScheduleDefinition:
    return dg.ScheduleDefinition(
        name=f"{job.name}_schedule", job=job, cron_schedule=cron, execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )  # fmt: skip


#: Personalised-feed document: profiles hourly, re-clustering every 30 min; tiers document: training nightly.
SCHEDULES: Final = (
    _schedule(REFRESH, "5 * * * *"),
    _schedule(RECLUSTER, "*/30 * * * *"),
    _schedule(TRAIN, "20 3 * * *"),
    _schedule(UPKEEP, "40 4 * * *"),
)
