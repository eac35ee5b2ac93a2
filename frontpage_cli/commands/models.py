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
    group = typer.Typer(no_args_is_help=True, help="Trained rankers and which of them is current.")
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
        ndcg = row["metrics"].get("model_ndcg10", float("nan"))
        fallback = row["metrics"].get("fallback_ndcg10", float("nan"))
        typer.echo(f"{row['version']:<36} {row['stage']:<10} NDCG@10 {ndcg:.3f} (fallback {fallback:.3f})  {row['at']}")


def promote(version: Annotated[str, typer.Argument(help="a version from `models list`")]) -> None:
    """Make a model current; serving takes it up within a minute."""
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
        publish.model(lake, connect(settings).redis)
    except FrontpageError as error:
        typer.echo(f"{version} is current in the registry; serving gets it with the next publication ({error})")
        return
    typer.echo(f"{version} is current and published")
