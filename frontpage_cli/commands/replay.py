"""`replay`: publishes a file of articles or events through the running system."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(replay)


def replay(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="JSON lines, .gz too.")],
    speed: Annotated[float, typer.Option(min=0, help="Times as fast as the lines' own times; 0: no waiting.")] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="JSON on standard output, nothing else.")] = False,
) -> None:
    """Publish FILE's lines in order. A corrupt line is named, counted and put into FILE.rejected; the rest goes on."""
    from frontpage.runtime import connect
    from frontpage.settings import load
    from frontpage_cli.system import replay as machinery

    runtime = connect(load())
    producer = runtime.bus.producer()
    try:
        report = machinery.replay(
            file,
            speed,
            producer=producer,
            clock=runtime.clock,
            stop=threading.Event(),
            complain=lambda number, cause: typer.echo(f"line {number}: {cause}", err=True),
        )
    finally:
        producer.close()
    typer.echo(json.dumps(machinery.report_row(report)) if as_json else machinery.report_text(report))
    if report.lines and not report.published:
        raise typer.Exit(1)
