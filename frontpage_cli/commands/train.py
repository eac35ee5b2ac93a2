"""`frontpage train ranker`, `frontpage eval ranker`: the model developers' loop without the Dagster UI.

Both work on the tables as they are; `train` registers what it made (`frontpage models list`) and says how it compares.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from frontpage.errors import FrontpageError, NotFound
from frontpage_cli.commands.cluster import evaluation

Json = Annotated[bool, typer.Option("--json", help="JSON on standard output and nothing else")]


def register(app: typer.Typer) -> None:
    """Mounts `train ranker` and `eval ranker` (into the `eval` group, whoever made it)."""
    training = typer.Typer(no_args_is_help=True, help="Train models from the lake's tables.")
    training.callback()(lambda: None)
    training.command("ranker")(train_ranker)
    app.add_typer(training, name="train")
    evaluation(app).command("ranker")(eval_ranker)


def train_ranker(
    rebuild: Annotated[bool, typer.Option(help="make gold/rank_training anew from silver first")] = False,
    json_output: Json = False,
) -> None:
    """Train, compare with the fallback on later requests, register; better than the fallback becomes current."""
    from batch import gold_training, ranker
    from batch.connect import lake_of, spark_of
    from frontpage.adapters.spark import session
    from frontpage.settings import load

    settings = load()
    lake, spark = lake_of(settings), session(spark_of(settings))
    if rebuild:
        gold_training.build(spark, lake)
    _require_table(lake)
    row = ranker.train(lake, _now())
    ranker.register(spark, lake, row)
    _report({key: row[key] for key in ("version", "stage", "trained_on", "metrics")}, json_output)


def eval_ranker(
    version: Annotated[str | None, typer.Option(help="a model version; default: the current one")] = None,
    json_output: Json = False,
) -> None:
    """AUC and NDCG@10 of a registered model, of the fallback and of the served order, on the test requests."""
    from batch import ranker
    from batch.connect import lake_of
    from frontpage.settings import load

    lake = lake_of(load())
    rows = [row for row in ranker.models(lake) if row["kind"] == "ranker"]
    chosen = next((r for r in rows if (r["version"] == version if version else r["stage"] == "current")), None)
    if chosen is None:
        raise NotFound(f"no model {version}" if version else "no current ranker; `frontpage train ranker` makes one")
    _require_table(lake)
    metrics = ranker.compare(chosen["model_text"], ranker.load(lake, "test"))
    _report({"version": chosen["version"], "metrics": metrics}, json_output)


def _require_table(lake: Any) -> None:
    from deltalake import DeltaTable

    from frontpage.contracts.tables import RANK_TRAINING

    if not DeltaTable.is_deltatable(lake.path(RANK_TRAINING)):
        raise NotFound("there is no gold/rank_training yet: materialise it in Dagster, or `train ranker --rebuild`")


def _now() -> float:
    """The system's clock when one runs, else real time."""
    from frontpage.adapters.clock import SystemClock
    from frontpage.runtime import connect
    from frontpage.settings import load

    try:
        return connect(load()).clock.now()
    except FrontpageError:
        return SystemClock().now()


def _report(found: dict[str, Any], json_output: bool) -> None:
    if json_output:
        typer.echo(json.dumps(found))
        return
    for name, value in found.items():
        if name != "metrics":
            typer.echo(f"{name}: {value}")
    for name, value in found["metrics"].items():
        typer.echo(f"  {name:<18} {value:.4f}" if value < 1 or value % 1 else f"  {name:<18} {value:.0f}")
