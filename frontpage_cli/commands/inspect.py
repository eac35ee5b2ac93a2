"""`frontpage inspect ...`: what our readers make of a feed, page, address, date, robots.txt or sitemap, as JSON.

The output is the contract of CONTRACTS; input that is refused prints its JSON with the cause under `problems`, one line
on standard error, and exit code 1. Nothing here decides anything: the readers in `frontpage` do.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from frontpage.errors import UnreadableInput
from frontpage_cli.commands import cluster

if TYPE_CHECKING:
    from frontpage.adapters.parse.readings import FeedEntry, FeedMeta, PageReading, SitemapEntry

File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="the bytes as received")]
Url = Annotated[str, typer.Option("--url", help="where it was retrieved from")]
Now = Annotated[str | None, typer.Option("--now", help="the time of retrieval, ISO 8601 or epoch; default: now")]
Language = Annotated[str | None, typer.Option("--language", help="language as registered, BCP 47")]
Json = Annotated[bool, typer.Option("--json", help="JSON on one line; without it, indented")]


def register(app: typer.Typer) -> None:
    """Mounts `inspect` and its sub-commands; `inspect pair` is the clusterer's and stands in its module."""
    group = typer.Typer(no_args_is_help=True, help="What our readers make of one input, as JSON.")
    for name, command in _COMMANDS.items():
        group.command(name)(command)
    group.command("pair")(cluster.inspect_pair)
    app.add_typer(group, name="inspect")


def feed(
    file: File, *, url: Url = "", headers: Annotated[Path | None, typer.Option("--headers", help="JSON object")] = None,
    now: Now = None, language: Language = None, json_output: Json = False,
) -> None:  # fmt: skip
    """A feed (RSS, RDF, Atom, JSON Feed) or a sitemap, as entries."""
    from frontpage.adapters.parse.feeds import read_any

    try:
        reading = read_any(file.read_bytes(), _headers(headers), url, now=_now(now), language=language)
    except UnreadableInput as error:
        _refuse({"feed": None, "entries": [], "problems": [error.cause]}, error, json_output)
    entries = [_entry(entry) for entry in reading.entries]
    _print({"feed": _feed(reading.feed), "entries": entries, "problems": reading.problems}, json_output)


def page(
    file: File, *, url: Url, now: Now = None, site_name: Annotated[str | None, typer.Option("--site-name")] = None,
    headers: Annotated[Path | None, typer.Option("--headers", help="JSON object")] = None, json_output: Json = False,
) -> None:  # fmt: skip
    """An article page."""
    from frontpage.adapters.parse.pages import read_page

    try:
        reading = read_page(file.read_bytes(), _headers(headers), url, now=_now(now), site_name=site_name)
    except UnreadableInput as error:
        _refuse({"canonical_url": None, "problems": [error.cause]}, error, json_output)
    _print(_page(reading), json_output)


def url(urls: Annotated[list[str], typer.Argument(metavar="URL...")], *, json_output: Json = False) -> None:
    """Addresses: identity, the address to request, what was left out, and why one is refused."""
    from frontpage.domain.ids import article_id
    from frontpage.domain.urls import inspect_address

    rows = []
    for address in urls:
        result = inspect_address(address)
        rows.append(
            {
                "url": address,
                "canonical": result.canonical,
                "article_id": article_id(result.canonical) if result.canonical else None,
                "fetch": result.fetch,
                "removed": [{"what": removed.what, "why": removed.why} for removed in result.removed],
                "refused": result.refused,
            }
        )
    _print(rows, json_output)


def date(
    raw: Annotated[list[str], typer.Argument(metavar="RAW...")], *, language: Language = None, now: Now = None,
    json_output: Json = False,
) -> None:  # fmt: skip
    """Dates as publishers write them."""
    from frontpage.domain.dates import iso, parse_date

    readings = [parse_date(text, language=language, now=_now(now)) for text in raw]
    _print(
        [
            {"raw": r.raw, "instant": iso(r.instant), "zone_known": r.zone_known, "problems": list(r.problems)}
            for r in readings
        ],
        json_output,
    )


def robots(
    file: File, paths: Annotated[list[str], typer.Argument(metavar="PATH...")], *,
    agent: Annotated[str, typer.Option("--agent")],
    status: Annotated[int | None, typer.Option("--status", help="HTTP status it came with")] = None,
    json_output: Json = False,
) -> None:  # fmt: skip
    """A robots.txt (RFC 9309) for one agent and some paths."""
    from frontpage.adapters.parse.robots import read_robots

    rules = read_robots(file.read_bytes(), status=status)
    _print(
        {
            "allowed": {path: rules.allowed(path, agent) for path in paths},
            "crawl_delay": rules.crawl_delay(agent),
            "sitemaps": rules.sitemaps,
            "problems": rules.problems,
        },
        json_output,
    )


def sitemap(file: File, *, url: Url, json_output: Json = False) -> None:
    """A sitemap, sitemap index, news sitemap or list of addresses."""
    from frontpage.adapters.parse.sitemaps import read_sitemap

    try:
        reading = read_sitemap(file.read_bytes(), {}, url)
    except UnreadableInput as error:
        _refuse({"kind": None, "entries": [], "problems": [error.cause]}, error, json_output)
    _print(
        {"kind": reading.kind, "entries": [_row(row) for row in reading.entries], "problems": reading.problems},
        json_output,
    )


_COMMANDS: dict[str, Callable[..., None]] = {
    "feed": feed,
    "page": page,
    "url": url,
    "date": date,
    "robots": robots,
    "sitemap": sitemap,
}


def _print(data: Any, one_line: bool) -> None:
    typer.echo(json.dumps(data, ensure_ascii=False, indent=None if one_line else 1))


def _refuse(data: Any, error: UnreadableInput, one_line: bool) -> NoReturn:
    _print(data, one_line)
    raise error


def _headers(path: Path | None) -> dict[str, object]:
    if path is None:
        return {}
    try:
        parsed = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"{path}: {error}", param_hint="--headers") from None
    if not isinstance(parsed, dict):
        raise typer.BadParameter(f"{path}: not a JSON object", param_hint="--headers")
    return parsed


def _now(text: str | None) -> float:
    from frontpage.domain.dates import parse_date

    if text is None:
        return time.time()
    reading = parse_date(text)
    if reading.instant is None:
        raise typer.BadParameter(f"{text!r} is no time", param_hint="--now")
    return reading.instant


def _time(instant: float | None, *, day_only: bool = False) -> str | None:
    from frontpage.domain.dates import iso

    return iso(instant, day_only=day_only)


def _feed(meta: FeedMeta) -> dict[str, Any]:
    return {
        "title": meta.title,
        "link": meta.link,
        "language": meta.language,
        "hub": meta.hub,
        "self": meta.self_url,
        "ttl": meta.ttl,
        "updated_at": _time(meta.updated_at),
        "format": meta.format,
        "encoding": meta.encoding,
    }


def _entry(entry: FeedEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "url": entry.url,
        "title": entry.title,
        "summary": entry.summary,
        "published_at": _time(entry.published_at),
        "updated_at": _time(entry.updated_at),
        "authors": entry.authors,
        "categories": entry.categories,
        "image": entry.image,
        "problems": entry.problems,
        "published_raw": entry.published_raw,
    }


def _page(reading: PageReading) -> dict[str, Any]:
    from frontpage.domain.sections import sections_of

    return {
        "canonical_url": reading.canonical_url,
        "syndicated_from": reading.syndicated_from,
        "title": reading.title,
        "snippet": reading.snippet,
        "authors": reading.authors,
        "published_at": _time(reading.published_at, day_only=reading.published_day_only),
        "modified_at": _time(reading.modified_at),
        "language": reading.language,
        "declared_language": reading.declared_language,
        "dir": reading.dir,
        "image": reading.image,
        "section": next(iter(sections_of(reading.section, reading.canonical_url, reading.keywords)), None),
        "kind": reading.kind,
        "paywalled": reading.paywalled,
        "publisher": reading.publisher,
        "problems": reading.problems,
    }


def _row(row: SitemapEntry) -> dict[str, Any]:
    news = row.news
    return {
        "url": row.url,
        "lastmod": _time(row.lastmod),
        "news": None
        if news is None
        else {
            "title": news.title,
            "publication": news.publication,
            "language": news.language,
            "published_at": _time(news.published_at, day_only=news.published_day_only),
        },
    }
