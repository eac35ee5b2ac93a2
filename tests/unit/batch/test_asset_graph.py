"""The asset graph as Dagster sees it, pinned: a change of it is seen in review."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import dagster as dg

from dagster_project.definitions import defs
from frontpage.contracts.tables import ALL

SNAPSHOT = Path(__file__).parent / "asset_graph.json"


def graph() -> dict[str, dict[str, object]]:
    found = {}
    for node in defs.resolve_asset_graph().asset_nodes:
        found[node.key.to_user_string()] = {
            "group": node.group_name,
            "deps": sorted(key.to_user_string() for key in node.parent_keys),
            "owners": sorted(node.owners),
            "checks": sorted(key.name for key in node.check_keys),
        }
    return dict(sorted(found.items()))


def test_the_graph_is_the_one_in_the_snapshot():
    """After a wanted change: UPDATE_SNAPSHOTS=1 pytest tests/unit/batch/test_asset_graph.py."""
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOT.write_text(json.dumps(graph(), indent=1) + "\n")
    assert graph() == json.loads(SNAPSHOT.read_text())


def test_every_table_is_an_asset_and_every_asset_explains_itself():
    nodes = {node.key.to_user_string(): node for node in defs.resolve_asset_graph().asset_nodes}
    assert {table.id for table in ALL} <= set(nodes)
    for key, node in nodes.items():
        assert node.is_materializable, f"{key} is named as a source but nothing makes it"
        assert node.description, key
        assert node.group_name in {"bronze", "silver", "gold", "serving", "upkeep"}, key
        assert node.owners, key
        assert all(owner.startswith("team:") for owner in node.owners)
        assert node.kinds, key


def test_all_jobs_share_one_process_and_schedules_run_by_default():
    jobs = {job.name for job in defs.resolve_all_job_defs()}
    assert {"refresh", "recluster", "train", "everything", "upkeep"} <= jobs
    assert defs.executor is dg.in_process_executor
    crons = {schedule.name: schedule.cron_schedule for schedule in defs.schedules}
    assert crons["recluster_schedule"] == "*/30 * * * *"
    assert all(s.default_status == dg.DefaultScheduleStatus.RUNNING for s in defs.schedules)


def test_definitions_load_without_environment(tmp_path):
    code = "from dagster_project.definitions import defs; print(len(defs.resolve_asset_graph().asset_nodes))"
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= len(ALL)
