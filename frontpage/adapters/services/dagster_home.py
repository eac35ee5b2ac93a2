"""DAGSTER_HOME for the embedded system: instance configuration and the workspace with its one code server.

Webserver and daemon share one code server over a unix socket or port, instead of loading all definitions twice each.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

#: One Spark session fits beside everything else on a small machine; runs wait for each other.
CONCURRENT_RUNS: Final = 1

_INSTANCE: Final = """\
telemetry:
  enabled: false
concurrency:
  runs:
    max_concurrent_runs: {runs}
run_monitoring:
  enabled: true
  start_timeout_seconds: 300
nux:
  enabled: false
"""

_WORKSPACE: Final = """\
load_from:
  - grpc_server:
      host: 127.0.0.1
      port: {port}
      location_name: frontpage
"""


def write(home: Path, code_port: int) -> Path:
    """Write `dagster.yaml` and `workspace.yaml` under `home` (made if missing); returns the workspace file."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "dagster.yaml").write_text(_INSTANCE.format(runs=CONCURRENT_RUNS), encoding="utf-8")
    workspace = home / "workspace.yaml"
    workspace.write_text(_WORKSPACE.format(port=code_port), encoding="utf-8")
    return workspace
