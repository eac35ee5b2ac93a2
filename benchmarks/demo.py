"""What `make demo` costs: real seconds to the pages, the batch run, and the memory of all processes together.

    python -m benchmarks.demo

Runs the demo in a directory of its own and samples the summed proportional set size (PSS: shared pages count once)
every few seconds from the first process to the end of the batch run.
"""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path

from rich.console import Console

from benchmarks.harness import HERE, judge, record
from frontpage.settings import Settings
from frontpage_cli.system.demo import Demo, Narrator
from frontpage_cli.system.launch import down
from frontpage_cli.system.look import memory


def main() -> int:
    console = Console()
    with tempfile.TemporaryDirectory(prefix="frontpage-demo-") as var:
        settings = Settings(var=Path(var), serving_port=0, dagster_port=0)
        demo, done, samples = Demo(settings, Narrator(console.print, lambda _: None)), threading.Event(), [0]

        def sample() -> None:
            while not done.wait(3.0):
                samples.append(memory(settings)["total"])

        watcher = threading.Thread(target=sample)
        watcher.start()
        try:
            began = time.monotonic()
            demo.fresh()
            demo.begin()
            demo.quiet_hours()
            breaking = demo.burst()
            to_page = time.monotonic() - began
            demo.complete()
            readers = demo.readers()
            began = time.monotonic()
            status = demo.batch()
            batch = time.monotonic() - began
        finally:
            done.set()
            watcher.join()
            down(settings, [], console.print)
    figures = {
        "seconds_to_breaking_page": to_page,
        "breaking": float(breaking is not None),
        "reader_clicks": readers["clicks"],
        "reader_failures": readers["failed"],
        "batch_seconds": batch,
        "batch_success": float(status == "SUCCESS"),
        "peak_pss_gib": max(samples) / 2**30,
    }
    record("demo", figures, "real seconds; PSS sampled every 3 s")
    return int(judge("demo", figures, console, HERE / "targets.toml")[1] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
