"""`frontpage models list|promote`: the registry of rankers and which of them serves."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated

import typer

from frontpage.errors import FrontpageError

Json = Annotated[bool, typer.Option("--json", help="JSON on standard output and nothing else")]


def register(app: typer.Typer) -> None:
    """Mounts `models`."""
    group = typer.Typer(no_args_is_help=True, help="Trained rankers and section models, and which are current.")
    group.command("list")(list_models)
    group.command("promote")(promote)
    app.add_typer(group, name="models")


def list_models(json_output: Json = False) -> None:
    """All registered models, newest first."""
    from batch import ranker
    from batch.connect import lake_of
    from frontpage.settings import load

    shown = ("version", "kind", "stage", "features_version", "trained_on", "metrics")
    rows = [
        {**{key: row[key] for key in shown}, "at": datetime.fromtimestamp(row["at"], UTC).isoformat()}
        for row in ranker.models(lake_of(load()))
    ]
    if json_output:
        typer.echo(json.dumps({"models": rows}))
        return
    if not rows:
        typer.echo("no models yet; `frontpage train ranker` makes one")
    for row in rows:
        typer.echo(f"{row['version']:<36} {row['stage']:<10} {_figures(row['kind'], row['metrics'])}  {row['at']}")


def _figures(kind: str, metrics: dict[str, float]) -> str:
    nothing = float("nan")
    if kind == "ranker":
        ndcg, fallback = (metrics.get(name, nothing) for name in ("model_ndcg10", "fallback_ndcg10"))
        return f"NDCG@10 {ndcg:.3f} (fallback {fallback:.3f})"
    accuracy, used = (metrics.get(name, nothing) for name in ("accuracy", "used_accuracy"))
    return f"accuracy {accuracy:.3f} (in use {used:.3f})"


def promote(version: Annotated[str, typer.Argument(help="a version from `models list`")]) -> None:
    """Make a model current; serving, or enrich for sections, takes it up within a minute."""
    from batch import publish, ranker
    from batch.connect import lake_of, spark_of
    from frontpage.adapters.clock import SystemClock
    from frontpage.adapters.spark import session
    from frontpage.runtime import connect
    from frontpage.settings import load

    settings = load()
    lake = lake_of(settings)
    ranker.promote(session(spark_of(settings)), lake, version, SystemClock().now())
    try:
        store = connect(settings).redis
        publish.model(lake, store)
        publish.sections(lake, store)
    except FrontpageError as error:
        typer.echo(f"{version} is current in the registry; serving gets it with the next publication ({error})")
        return
    typer.echo(f"{version} is current and published")
