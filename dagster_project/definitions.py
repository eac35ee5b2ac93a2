"""Dagster's entry point: `dagster dev -m dagster_project.definitions`. Assembly only; loads without environment."""

from __future__ import annotations

import warnings

import dagster as dg

warnings.filterwarnings("ignore", category=dg.BetaWarning)
warnings.filterwarnings("ignore", category=dg.PreviewWarning)

from assets import bronze, checks, gold, recluster, serving, silver, stories  # noqa: E402 - after the warnings they would raise
from dagster_project.jobs import JOBS, SCHEDULES  # noqa: E402
from dagster_project.resources import LiveSystem  # noqa: E402
from dagster_project.sensors import new_records  # noqa: E402

defs = dg.Definitions(
    assets=dg.load_assets_from_modules([bronze, silver, gold, stories, recluster, serving]),
    asset_checks=[
        checks.unique_keys,
        checks.readable,
        checks.articles_are_fresh,
        checks.term_weights_are_counts,
        checks.names_are_supported,
    ],
    jobs=JOBS,
    schedules=SCHEDULES,
    sensors=[new_records],
    resources={"system": LiveSystem()},
    executor=dg.in_process_executor,
)
