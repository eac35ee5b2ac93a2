"""`frontpage rate`: asks a person about pairs of articles, and keeps each answer at once.

Half the pairs are from inside stories (is the story right?), half are the most alike of different stories (should they
be one?); what readers saw more is asked more. Answers become rows of `gold/pair_ratings`, which `frontpage eval
clustering --rated` and the plots of `gold/cluster_health` read; for training there is `adapters.ratings.labels`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

if TYPE_CHECKING:
    from frontpage.domain.rating import Ask

_KEYS: Final = {"y": True, "n": False}


def register(app: typer.Typer) -> None:
    """Add `rate`."""
    app.command("rate")(rate)


def rate(
    count: Annotated[int, typer.Option(min=1, max=1000, help="how many pairs")] = 20,
    language: Annotated[str | None, typer.Option(help="only this language (en, de, …)")] = None,
    by: Annotated[str, typer.Option(help="who answers: each person's latest word on a pair counts once")] = "me",
    seed: Annotated[int, typer.Option(help="another number samples other pairs")] = 0,
    json_output: Annotated[bool, typer.Option("--json", help="print the pairs as JSON and ask nothing")] = False,
) -> None:
    """Say of pairs of articles whether they report one event."""
    from frontpage.adapters import ratings
    from frontpage.domain.rating import sample
    from frontpage.runtime import connect, lake_of
    from frontpage.settings import load

    settings = load()
    runtime = connect(settings)
    lake = lake_of(settings)
    shelf = ratings.shelf(lake, language)
    asks = sample(shelf.candidates, count, seed, known=ratings.rated(lake, runtime.bus))
    if json_output:
        typer.echo(json.dumps([_row(ask, shelf.articles) for ask in asks], ensure_ascii=False, indent=2))
        return
    if not asks:
        typer.echo("nothing to ask: no story has been through the batch layer yet, or all such pairs are rated")
        return
    answered = 0
    for number, ask in enumerate(asks, start=1):
        typer.echo(f"\n{number} of {len(asks)}")
        for side in (ask.left, ask.right):
            article = shelf.articles[side]
            typer.echo(f"  {article['title']}\n    {article['publisher']}, {_iso(article['first_seen_at'])}")
            if article["snippet"]:
                typer.echo(f"    {article['snippet']}")
        key = _key()
        if key == "q":
            break
        if key in _KEYS:
            ratings.answer(runtime.bus, ask, shelf.articles, _KEYS[key], by=by, now=runtime.clock.now())
            answered += 1
    typer.echo(f"{answered} answers kept; the next refresh brings them into gold/pair_ratings")


def _key() -> str:
    """One of y, n, s and q; the end of the input is q."""
    while True:
        try:
            given = typer.prompt("one event? [y]es [n]o [s]kip [q]uit", default="s", show_default=False)
        except typer.Abort:
            return "q"
        key = str(given).strip().lower()[:1]
        if key in (*_KEYS, "s", "q"):
            return key


def _row(ask: Ask, articles: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    sides = [
        {**articles[name], "first_seen_at": _iso(articles[name]["first_seen_at"])} for name in (ask.left, ask.right)
    ]
    return {"pair_id": ask.pair_id, "kind": ask.kind, "cosine": ask.cosine, "seen": ask.seen, "articles": sides}


def _iso(seconds: float | None) -> str | None:
    from frontpage.contracts.api import iso

    return iso(seconds)
