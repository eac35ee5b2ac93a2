"""The story writer as a process of its own, with the foreseeable clusterer and frequent snapshots: `python writer_process.py PARTITION`."""

from __future__ import annotations

import sys

from fakes.speed import EventClusterer

from frontpage.runtime import run_process
from streaming.cluster import writer

if __name__ == "__main__":
    numbers = [int(sys.argv[1])]
    run_process(
        writer.PROCESS,
        lambda runtime, stop: writer.main(runtime, stop, numbers, minds=EventClusterer, snapshot_every=100),
    )
