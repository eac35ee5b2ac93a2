"""`frontpage merges list|accept|reject`: merges of top stories that the writers hold for a person.

The same as the operations page of serving (`/operations/merges`); what is held and why: `frontpage/domain/reviews.py`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from frontpage.domain.reviews import Decision
    from frontpage.runtime import Runtime

MergeId = Annotated[str, typer.Argument(help="as `frontpage merges list` prints it")]
By = Annotated[str, typer.Option(help="who decides, for the record")]
Json = Annotated[bool, typer.Option("--json", help="JSON on standard output and nothing else")]


def register(app: typer.Typer) -> None:
    """Mounts `merges`."""
    group = typer.Typer(no_args_is_help=True, help="Merges of top stories that wait for a person.")
    group.command("list")(list_merges)
    group.command("accept")(accept)
    group.command("reject")(reject)
    app.add_typer(group, name="merges")


def list_merges(json_output: Json = False) -> None:
    """What is held, the oldest first: both stories with their headlines, and the score beside the bar (log-odds)."""
    from frontpage.adapters.reviews import open_reviews
    from frontpage.contracts.api import iso

    runtime = _runtime()
    found = open_reviews(runtime.bus, runtime.redis)
    if json_output:
        rows = [
            {
                "merge_id": review.event.review_id, "language": review.event.language,
                "held_at": iso(review.event.at), "score": review.event.score, "bar": review.event.bar,
                "stories": [
                    {"story_id": side.story_id, "articles": side.articles, "headlines": [t for t, _ in side.headlines]}
                    for side in review.sides
                ],
            }
            for review in found
        ]  # fmt: skip
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    for review in found:
        event = review.event
        score = f"score {event.score:.2f}, bar {event.bar:.2f}"
        typer.echo(f"{event.review_id}  {event.language}  held {iso(event.at)}  {score}")
        for side in review.sides:
            typer.echo(f"  {side.story_id}: {side.articles} articles")
            for title, publisher in side.headlines:
                typer.echo(f"    {publisher}: {title}")
    if not found:
        typer.echo("no merge waits for a person")


def accept(merge_id: MergeId, by: By = "command line") -> None:
    """Let the two stories become one."""
    _decide(merge_id, "accepted", by)


def reject(merge_id: MergeId, by: By = "command line") -> None:
    """Keep the two stories apart for as long as they live."""
    _decide(merge_id, "rejected", by)


def _decide(merge_id: str, decision: Decision, by: str) -> None:
    from frontpage.adapters.reviews import decide

    runtime = _runtime()
    new = decide(runtime.bus, merge_id, decision, by, runtime.clock.now())
    typer.echo(decision if new else f"was {decision} before")


def _runtime() -> Runtime:
    from frontpage.runtime import connect
    from frontpage.settings import load

    return connect(load())
