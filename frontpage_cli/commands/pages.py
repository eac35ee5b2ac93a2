"""`frontpage pages list|show|rollback`: the versions of a shared page, and moving its pointer back.

A rollback takes effect at once in every server; the next cycle of the ranker publishes a new version on top of it.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from frontpage.errors import NotFound

Edition = Annotated[str, typer.Argument(help="edition id, for example en-GB")]
Section = Annotated[str, typer.Argument(help="section id, for example top")]
Json = Annotated[bool, typer.Option("--json", help="JSON on standard output and nothing else")]


def register(app: typer.Typer) -> None:
    """Mounts `pages`."""
    group = typer.Typer(no_args_is_help=True, help="Snapshots of shared pages and their pointers.")
    group.command("list")(list_versions)
    group.command("show")(show)
    group.command("rollback")(rollback)
    app.add_typer(group, name="pages")


def list_versions(edition: Edition, section: Section = "top", json_output: Json = False) -> None:
    """The versions of a page that can be gone back to, newest first."""
    versions = [
        {"version": row.version, "generated_at": _iso(row.at), "latest": row.latest, "stories": row.stories}
        for row in _store().history(edition, section)
    ]
    if json_output:
        _print({"edition": edition, "section": section, "versions": versions})
        return
    for row in versions:
        mark = "*" if row["latest"] else " "
        typer.echo(f"{mark} v{row['version']:<8} {row['generated_at']}  {row['stories']} stories")


def show(
    edition: Edition, section: Section = "top",
    version: Annotated[int | None, typer.Option("--version", help="default: the latest")] = None,
    json_output: Json = False,
) -> None:  # fmt: skip
    """The stories of one version in order."""
    page = _store().read(edition, section, version)
    if page is None:
        raise NotFound(f"there is no page {edition}/{section}" + ("" if version is None else f" v{version}"))
    if json_output:
        fields = page.model_dump(mode="json")
        fields["generated_at"] = _iso(page.generated_at)
        for card in fields["cards"]:
            for name in ("updated_at", "first_seen_at"):
                card[name] = _iso(card[name])
            for article in (card["top"], *card["supporting"]):
                for name in ("first_seen_at", "published_at", "modified_at"):
                    article[name] = _iso(article[name])
        _print(fields)
        return
    typer.echo(f"{edition}/{section} v{page.version}, {_iso(page.generated_at)}")
    for place, card in enumerate(page.cards, start=1):
        label = f"[{card.label}] " if card.label else ""
        typer.echo(
            f"{place:>3}. {label}{card.headline}  ({card.top.publisher}; {card.sources} sources; {card.story_id})"
        )
        typer.echo(f"     {card.reason}")


def rollback(
    edition: Edition, section: Section,
    to: Annotated[int | None, typer.Option("--to", help="version; default: the one before the latest")] = None,
    json_output: Json = False,
) -> None:  # fmt: skip
    """Point a page to an earlier version."""
    version = _store().rollback(edition, section, to)
    if json_output:
        _print({"edition": edition, "section": section, "version": version})
    else:
        typer.echo(f"{edition}/{section} now shows v{version}")


def _store() -> Any:
    from frontpage.adapters.pages import PageStore
    from frontpage.runtime import connect
    from frontpage.settings import load

    return PageStore(connect(load()).redis)


def _iso(seconds: float | None) -> str | None:
    from frontpage.contracts.api import iso

    return iso(seconds)


def _print(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))
