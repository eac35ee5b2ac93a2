"""`frontpage stories show|explain ID`: members of a story, why each joined, and why the story ranks where it does.

`show` reads the story's row (an absorbed id leads to its survivor); `explain` adds the evidence of every decision, and
the places on current pages with the parts of the score and the close calls lost from `rank.decisions`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from pydantic import ValidationError

from frontpage.errors import NotFound, UnreadableEvent, UnreadableInput

if TYPE_CHECKING:
    from frontpage.contracts.views import StoryRow
    from frontpage.runtime import Runtime

StoryId = Annotated[str, typer.Argument(help="story id; an absorbed one leads to its survivor")]
Json = Annotated[bool, typer.Option("--json", help="JSON on standard output and nothing else")]
#: The newest decisions that `explain` looks through: a day of a busy edition.
DECISIONS: Final = 50_000


def register(app: typer.Typer) -> None:
    """Mounts `stories`."""
    group = typer.Typer(no_args_is_help=True, help="Stories: members, decisions, ranks.")
    group.command("show")(show)
    group.command("explain")(explain)
    app.add_typer(group, name="stories")


def show(story_id: StoryId, json_output: Json = False) -> None:
    """The members of a story in order of joining."""
    row, asked = _row(_runtime(), story_id), story_id
    members = [_member(member) for member in row.members]
    if json_output:
        _print({**_head(row, asked), "members": members})
        return
    _echo_head(row, asked)
    for member in members:
        copy = f"  (copy of {member['copy_of']})" if member["copy_of"] else ""
        typer.echo(f"  {member['first_seen_at']}  {member['publisher']:<24} {member['title']}{copy}")


def explain(story_id: StoryId, json_output: Json = False) -> None:
    """Why each article is in the story, what repairs did, and where and why it is ranked."""
    runtime = _runtime()
    row = _row(runtime, story_id)
    members = [{**_member(member), "score": member.score, "evidence": dict(member.evidence)} for member in row.members]
    history = [
        {**entry, "at": _iso(entry["at"]) if isinstance(entry.get("at"), float) else None} for entry in row.history
    ]
    places = _places(runtime, row)
    if json_output:
        _print({**_head(row, story_id), "members": members, "history": history, "ranks": places})
        return
    _echo_head(row, story_id)
    for member in members:
        score = "" if member["score"] is None else f"  score {member['score']:.2f}"
        typer.echo(f"  {member['publisher']}: {member['title']}{score}")
        if member["evidence"]:
            typer.echo("    " + ", ".join(f"{name} {value}" for name, value in member["evidence"].items()))
    for entry in history:
        typer.echo(f"  {entry['at']}  {entry.get('kind')}  {entry.get('stories', '')}  {entry.get('why', '')}".rstrip())
    for place in places:
        parts = ", ".join(f"{name} {value:.2f}" for name, value in place["parts"].items())
        typer.echo(f"  {place['edition']}/{place['section']} rank {place['rank']}: {place['reason']} ({parts})")
        for lost in place["close_calls_lost"]:
            typer.echo(f"    not {lost['publisher_id']}: {lost['why']}")


def _runtime() -> Runtime:
    from frontpage.runtime import connect
    from frontpage.settings import load

    return connect(load())


def _row(runtime: Runtime, story_id: str) -> StoryRow:
    from frontpage.contracts.views import STORY, StoryRow

    for _ in range(2):  # an alias is one hop
        value: Any = runtime.redis.get(STORY.key(story=story_id))
        if value is None:
            break
        try:
            row = StoryRow.model_validate_json(value)
        except ValidationError as error:
            raise UnreadableInput(
                f"the row of story {story_id} is unreadable: {error.error_count()} faults", cause="row"
            ) from None
        if row.alias_of is None:
            return row
        story_id = row.alias_of
    raise NotFound(f"there is no story {story_id}")


def _places(runtime: Runtime, row: StoryRow) -> list[dict[str, Any]]:
    """Where the story stands on current pages, with what the decision of that version recorded."""
    from frontpage.adapters.pages import PageStore
    from frontpage.domain.editions import EDITIONS, SECTIONS

    store = PageStore(runtime.redis)
    found: list[dict[str, Any]] = []
    for edition in EDITIONS.values():
        if edition.language != row.language:
            continue
        for section in SECTIONS:
            page = store.read(edition.id, section)
            for place, card in enumerate(page.cards if page is not None else (), start=1):
                if card.story_id == row.story_id and page is not None:
                    found.append(
                        {
                            "edition": edition.id, "section": section, "version": page.version, "rank": place,
                            "label": card.label, "reason": card.reason, "score": card.score, "parts": card.parts,
                            "representative": card.top.article_id, "publisher_id": card.top.publisher_id,
                            "close_calls_lost": [],
                        }
                    )  # fmt: skip
    lost = _lost(runtime, row.story_id) if found else {}
    for place_row in found:
        place_row["close_calls_lost"] = lost.get((place_row["edition"], place_row["section"]), [])
    return found


def _lost(runtime: Runtime, story_id: str) -> dict[tuple[str, str], list[dict[str, str | float]]]:
    """Of the newest decision on the story in each page."""
    from frontpage.contracts.rank_events import RankDecision
    from frontpage.contracts.topics import RANK_DECISIONS

    found: dict[tuple[str, str], list[dict[str, str | float]]] = {}
    for partition, end in runtime.bus.end_offsets(RANK_DECISIONS.name).items():
        for record in runtime.bus.read(RANK_DECISIONS.name, partition, max(0, end - DECISIONS), end):
            try:
                decision = RankDecision.decode(record.value)
            except UnreadableEvent:
                continue
            if decision is not None and decision.story_id == story_id:
                found[decision.edition, decision.section] = decision.lost
    return found


def _head(row: StoryRow, asked: str) -> dict[str, Any]:
    return {
        "story_id": row.story_id,
        "absorbed": asked if asked != row.story_id else None,
        "language": row.language,
        "created_at": _iso(row.created_at),
        "updated_at": _iso(row.updated_at),
        "closed": row.closed,
        "sources": len({member.article.publisher_id for member in row.members if member.copy_of is None}),
        "articles": len(row.members),
    }


def _echo_head(row: StoryRow, asked: str) -> None:
    head = _head(row, asked)
    alias = f" ({asked} was merged into it)" if head["absorbed"] else ""
    state = ", closed" if row.closed else ""
    typer.echo(f"{row.story_id}{alias}: {head['articles']} articles of {head['sources']} sources{state}")


def _member(member: Any) -> dict[str, Any]:
    card = member.article
    return {
        "article_id": card.article_id,
        "publisher": card.publisher,
        "title": card.title,
        "url": card.url,
        "version": card.version,
        "kind": card.kind,
        "first_seen_at": _iso(card.first_seen_at),
        "joined_at": _iso(member.joined_at),
        "copy_of": member.copy_of,
    }


def _iso(seconds: Any) -> str | None:
    from frontpage.contracts.api import iso

    return iso(seconds)


def _print(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))
