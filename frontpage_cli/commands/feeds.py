"""`frontpage feeds import|export|add|list|remove|check|report`: the sources and their polling scorecard.

All but `check` talk to the running system's Redis. `check` fetches one address by hand, under the same rules as the
poller (addresses, robots.txt, limits), and says what a poll would find. `add` does so, too, and looks for the feeds of
a site when it is given a page.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import defaultdict
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from frontpage.errors import FrontpageError, NotFound

if TYPE_CHECKING:
    from frontpage.adapters.feed_rows import FeedRow
    from frontpage.runtime import Runtime
    from frontpage.settings import Settings
    from streaming.ingest.discovery import Discovery
    from streaming.ingest.registry import ImportReport, Registry

Json = Annotated[bool, typer.Option("--json", help="JSON on standard output and nothing else")]
Url = Annotated[str, typer.Argument(help="address of a feed or sitemap")]


def register(app: typer.Typer) -> None:
    """Mounts `feeds`."""
    group = typer.Typer(no_args_is_help=True, help="Sources: what is polled, how often, and how well.")
    group.command("import")(import_list)
    group.command("export")(export_list)
    group.command("add")(add)
    group.command("list")(list_feeds)
    group.command("remove")(remove)
    group.command("check")(check)
    group.command("report")(report)
    app.add_typer(group, name="feeds")


def import_list(
    file: Annotated[Path | None, typer.Argument(exists=True, dir_okay=False, help="an OPML list")] = None,
    *,
    default: Annotated[bool, typer.Option("--default", help="the list that ships with Frontpage")] = False,
    json_output: Json = False,
) -> None:
    """Add the feeds of an OPML list; feeds that are known keep their schedule."""
    from streaming.ingest.opml import default_list

    if (file is None) == (not default):
        raise typer.BadParameter("give FILE or --default")
    body = default_list() if file is None else file.read_bytes()
    runtime, registry = _registry()
    _tell(registry.import_opml(body, runtime.clock.now()), json_output)


def export_list(file: Annotated[Path, typer.Argument(dir_okay=False, help="where to write, - for output")]) -> None:
    """Write all feeds as OPML, in their folders."""
    body = _registry()[1].export_opml()
    if str(file) == "-":
        sys.stdout.buffer.write(body)
    else:
        file.write_bytes(body)


def add(
    url: Annotated[str, typer.Argument(help="address of a feed or sitemap, or of a site whose feeds are looked for")],
    *,
    publisher: Annotated[str | None, typer.Option(help="publisher id; default: the owner of the domain")] = None,
    title: Annotated[str, typer.Option(help="name of the feed; default: its own")] = "",
    language: Annotated[str | None, typer.Option(help="BCP 47 tag, where the feed states none")] = None,
    folder: Annotated[str, typer.Option(help="place in the list, for example News/World")] = "",
    authoritative: Annotated[bool | None, typer.Option(help="poll at the short floor")] = None,
    all_found: Annotated[bool, typer.Option("--all", help="of a site, all feeds of articles and not the best")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what is found and add nothing")] = False,
    unchecked: Annotated[bool, typer.Option("--unchecked", help="add the address as it is, without a look")] = False,
    json_output: Json = False,
) -> None:
    """Add a feed, or the best feed of a site.

    The address is read first. One that does not answer just now is added as given, with a warning; exit code 1 when
    there is no feed or it must not be read.
    """
    from streaming.ingest.discovery import Found
    from streaming.ingest.publishers import PublisherBook
    from streaming.ingest.registry import NewFeed

    runtime, registry = _registry()
    if publisher is not None and PublisherBook(runtime.redis).get(publisher) is None:
        raise NotFound(f"no publisher {publisher}; `frontpage publishers list` shows them")
    seen = None if unchecked else asyncio.run(_discover(runtime, url))
    wanted: list[Found] = []
    if seen is None or seen.later:
        wanted = [Found(url, "address")]
    elif seen.main:
        wanted = seen.main if all_found else seen.main[:1]
    feeds = [
        NewFeed(
            one.url,
            publisher,
            title or one.title,
            language,
            kind=one.kind,
            authoritative=authoritative,
            folder=tuple(part for part in folder.split("/") if part),
            site_url=one.site_url,
        )
        for one in wanted
    ]
    result = registry.add([] if dry_run else feeds, runtime.clock.now())
    added = [] if dry_run else [one.url for one in wanted if one.url not in {address for address, _ in result.skipped}]
    if json_output:
        _print(_report(result) | {"chosen": added} | (_discovery(seen) if seen else {}))
    else:
        if seen is not None:
            _tell_discovery(seen, added)
        if added or result.skipped:
            _tell(result, json_output=False)
    if result.skipped or (seen is not None and not seen.main and not (seen.later and not dry_run)):
        raise typer.Exit(1)


def list_feeds(json_output: Json = False) -> None:
    """All feeds, one a line, with their next poll."""
    rows = sorted(_registry()[1].list(), key=lambda row: (row.source.folder, row.source.url))
    if json_output:
        _print([_row(row) for row in rows])
        return
    for row in rows:
        state = row.state.stopped or _iso(row.state.next_at) or ""
        typer.echo(f"{state:<25} {row.source.publisher_id:<24} {row.source.url}")


def remove(url: Url) -> None:
    """Forget a feed (address or id). Its articles stay."""
    _registry()[1].remove(url)


def check(url: Url, json_output: Json = False) -> None:
    """Fetch one feed now and say what a poll would find; exit code 1 when it cannot be read."""
    from frontpage.settings import load

    found = asyncio.run(_check(load(), url))
    if json_output:
        _print(found)
    else:
        for name, value in found.items():
            typer.echo(f"{name:<14} {value if not isinstance(value, list) else ', '.join(map(str, value)) or '-'}")
    if found["cause"]:
        raise typer.Exit(1)


def report(
    by: Annotated[str, typer.Option(help="feed or domain")] = "domain",
    worst: Annotated[int, typer.Option(help="rows to show, most polls first; 0 shows all")] = 50,
    json_output: Json = False,
) -> None:
    """The polling scorecard: polls, share of 304, waste, failures, discovery delay, requests a minute.

    Of delays, in seconds, "delay" is by the items' own times and "audit" by the audit, which watches a sample
    (docs/scorecard.md).
    """
    from frontpage.adapters.audit_rows import AuditRows
    from streaming.ingest.scorecard import score

    if by not in ("feed", "domain"):
        raise typer.BadParameter("--by is feed or domain")
    runtime, registry = _registry()
    groups: dict[str, list[FeedRow]] = defaultdict(list)
    for row in registry.list():
        groups[row.source.url if by == "feed" else row.source.domain].append(row)
    now = runtime.clock.now()
    watches = {watch.feed_id: watch for watch in AuditRows(runtime.redis).all()}
    rows = sorted((score(name, members, watches, now) for name, members in groups.items()), key=lambda r: -r["polls"])
    total = score("all", [row for members in groups.values() for row in members], watches, now)
    if json_output:
        _print({"by": by, "total": total, "rows": rows[: worst or None]})
        return
    from rich.console import Console
    from rich.table import Table

    heads = ("feeds", "polls", "304", "waste", "failed", "new", "delay", "audit", "/min", "gone")
    table = Table(box=None, pad_edge=False)
    table.add_column("name", overflow="fold", ratio=1)
    for head in heads:  # numbers are never cut: a narrow terminal folds the names
        table.add_column(head, justify="right", no_wrap=True, min_width=len(head))
    for line in [total, *rows[: worst or None]]:
        shares = [f"{line[name]:.0%}" for name in ("not_modified_share", "waste_share", "failed_share")]
        delays = [line["delay_seconds"], line["audit_delay_seconds"]]
        told = ["" if delay is None else f"{delay:.0f}" for delay in delays]
        cells = [line["name"], line["feeds"], line["polls"], *shares, line["new_items"], *told]
        table.add_row(*map(str, [*cells, f"{line['polls_per_minute']:.2f}", line["stopped"]]))
    Console().print(table)


async def _discover(runtime: Runtime, url: str) -> Discovery:
    from streaming.ingest.discovery import discover
    from streaming.ingest.wiring import fetch_tier

    async with fetch_tier(runtime) as tier:
        return await discover(url, tier, runtime.clock.now())


def _discovery(seen: Discovery) -> dict[str, Any]:
    return {
        "url": seen.url,
        "found": [asdict(one) | {"newest": _iso(one.newest)} for one in seen.found],
        "missed": [{"url": url, "cause": cause} for url, cause in seen.missed],
        "requests": seen.requests,
        "cause": seen.cause,
        "detail": seen.detail,
    }


#: How a feed was found, in words.
_VIA = {
    "address": "the address itself",
    "link": "declared by the page",
    "anchor": "linked by the page",
    "sitemap": "sitemap",
    "usual": "a usual place",
}


def _tell_discovery(seen: Discovery, added: list[str]) -> None:
    for one in seen.found:
        mark = "+" if one.url in added else "-"
        newest = f", newest {_iso(one.newest)}" if one.newest is not None else ""
        aside = ", comments or a search" if one.aside else ""
        typer.echo(f"{mark} {one.url}  {one.title}")
        typer.echo(f"    {_VIA[one.via]}, {one.format or one.kind}, {one.entries} items{newest}{aside}")
        for other in one.also:
            typer.echo(f"    also at {other}")
    if seen.cause is None:
        return
    if seen.later:
        typer.echo(f"not read now ({seen.cause}): {seen.detail}", err=True)
        return
    typer.echo(f"no feed ({seen.cause}): {seen.detail}", err=True)
    for address, cause in seen.missed:
        typer.echo(f"    {cause}: {address}", err=True)


async def _check(settings: Settings, url: str) -> dict[str, Any]:
    from frontpage.adapters.clock import SystemClock
    from frontpage.adapters.fetch import FetchTier
    from frontpage.adapters.fetch_addresses import Gate, ResolverMap
    from frontpage.adapters.fetch_budget import NoBudget
    from frontpage.adapters.parse.feeds import read_any
    from frontpage.runtime import resolver

    found: dict[str, Any] = {
        "url": url, "final_url": None, "moved_to": None, "status": None, "bytes": 0, "format": None, "title": None,
        "language": None, "entries": 0, "newest": None, "etag": None, "last_modified": None, "hub": None,
        "problems": [], "cause": None, "detail": None,
    }  # fmt: skip
    made_up = resolver(settings)
    tier = FetchTier(
        Gate(ResolverMap.parse(made_up) if made_up else None),
        NoBudget(),
        SystemClock(),
        contact=settings.operator_contact,
        timeout=settings.fetch_timeout_real,
    )
    async with tier:
        try:
            answer = await tier.get(url, kind="feed")
            found.update(
                final_url=answer.url,
                moved_to=answer.moved_to,
                status=answer.status,
                bytes=len(answer.body),
                etag=answer.headers.get("etag"),
                last_modified=answer.headers.get("last-modified"),
            )
            if answer.status >= 300:
                found.update(cause=f"http-{answer.status}", detail=f"the server answers {answer.status}")
                return found
            reading = read_any(answer.body, answer.headers, answer.url, now=time.time())
            dated = [entry.published_at for entry in reading.entries if entry.published_at is not None]
            found.update(
                format=reading.feed.format,
                title=reading.feed.title,
                language=reading.feed.language,
                entries=len(reading.entries),
                newest=_iso(max(dated, default=None)),
                hub=reading.feed.hub,
                problems=reading.problems,
            )
        except FrontpageError as error:
            found.update(cause=getattr(error, "cause", "unreadable"), detail=str(error))
            if found["cause"] == "html":
                found["detail"] += "; `frontpage feeds add` looks for the feeds of a page"
    return found


def _registry() -> tuple[Runtime, Registry]:
    from frontpage.runtime import connect
    from frontpage.settings import load
    from streaming.ingest.registry import Registry

    runtime = connect(load())
    return runtime, Registry(runtime.redis)


def _row(row: FeedRow) -> dict[str, Any]:
    source, state = row.source, row.state
    return {
        "feed_id": source.feed_id,
        "url": source.url,
        "publisher_id": source.publisher_id,
        "title": source.title,
        "kind": source.kind,
        "folder": "/".join(source.folder),
        "next_at": _iso(state.next_at),
        "last_at": _iso(state.last_at),
        "status": state.last_status,
        "cause": state.last_cause,
        "stopped": state.stopped,
        "moved_to": state.moved_to,
        "boost_until": _iso(state.boost_until),
        "validators": state.trust,
    }


def _report(result: ImportReport) -> dict[str, Any]:
    skipped = [{"url": url, "cause": cause} for url, cause in result.skipped]
    return {"added": result.added, "known": result.known, "publishers": result.publishers, "skipped": skipped}


def _tell(result: ImportReport, json_output: bool) -> None:
    if json_output:
        _print(_report(result))
        return
    typer.echo(f"{result.added} added, {result.known} known, {result.publishers} new publishers")
    for url, cause in result.skipped:
        typer.echo(f"skipped ({cause}): {url}", err=True)


def _iso(at: float | None) -> str | None:
    if at is None:
        return None
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _print(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False))
