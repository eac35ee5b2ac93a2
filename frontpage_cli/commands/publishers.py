"""`frontpage publishers`: the sample world as real sites on a local port, and the keys of publishers that ping."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Mounts `publishers`."""
    group = typer.Typer(
        no_args_is_help=True, help="Publishers: their ping keys, and the made-up ones of the sample world."
    )
    group.command("serve")(serve)
    group.command("list")(listing)
    group.command("key")(key)
    app.add_typer(group, name="publishers")


def serve(  # noqa: PLR0917 - options of a command, all given by name
    port: Annotated[int, typer.Option(min=0, max=65535, help="local port; 0 takes a free one")] = 0,
    speed: Annotated[float, typer.Option(min=0.001, help="virtual seconds per real second")] = 1.0,
    start_at: Annotated[float, typer.Option(min=0, max=48, help="hours of the world already past")] = 0.0,
    seed: Annotated[int, typer.Option(help="another world")] = 1,
    push_to: Annotated[str | None, typer.Option(help="base address that pinging sites ping")] = None,
    burst_at: Annotated[float, typer.Option(min=1, max=47, help="hour at which the big story breaks")] = 46.5,
) -> None:
    """Play all made-up sites, told apart by the Host header, until interrupted."""
    import asyncio

    from data_samples.serve import OwnClock, run
    from data_samples.world import build

    world = build(seed=seed, burst_hour=burst_at)

    def ready(bound: int) -> None:
        example = world.feeds()[0]["url"]
        host, _, path = example.removeprefix("http://").partition("/")
        typer.echo(f"{len(world.publishers)} sites on http://127.0.0.1:{bound}", err=True)
        typer.echo(f"try: curl -H 'Host: {host}' http://127.0.0.1:{bound}/{path}", err=True)

    try:
        asyncio.run(run(world, OwnClock(world.start + start_at * 3600, speed), port, ready=ready, push_to=push_to))
    except KeyboardInterrupt:
        typer.echo("stopped", err=True)


def listing(
    json_output: Annotated[bool, typer.Option("--json", help="JSON on standard output")] = False,
    seed: Annotated[int, typer.Option(help="another world")] = 1,
) -> None:
    """The made-up publishers with their feeds."""
    import json

    from data_samples.world import build

    world = build(seed=seed)
    feeds: dict[str, list[dict[str, str]]] = {}
    for feed in world.feeds():
        feeds.setdefault(feed["publisher_id"], []).append({"url": feed["url"], "kind": feed["kind"]})
    rows = [{**row.model_dump(), "feeds": feeds[row.publisher_id]} for row in world.publishers_as_registry()]
    if json_output:
        typer.echo(json.dumps(rows, ensure_ascii=False))
        return
    for row in rows:
        typer.echo(f"{row['publisher_id']:28} {row['language']} {row['country']} {row['authority']:.2f} {row['name']}")


def key(
    publisher_id: Annotated[str, typer.Argument(help="id in the registry, as in `frontpage feeds list`")],
    new: Annotated[bool, typer.Option("--new", help="replace the key; the old one is refused at once")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="take the key away")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="JSON on standard output")] = False,
) -> None:
    """The key with which a publisher signs its pings; made at first use."""
    import json

    from frontpage.adapters.push_rows import PushRows
    from frontpage.errors import NotFound
    from frontpage.runtime import connect
    from frontpage.settings import load
    from streaming.ingest.publishers import read_publishers

    store = connect(load()).redis
    rows = PushRows(store)
    if revoke:
        gone = rows.revoke_ping_key(publisher_id)
        typer.echo(json.dumps({"publisher_id": publisher_id, "revoked": gone}) if json_output else f"revoked: {gone}")
        return
    if all(row.publisher_id != publisher_id for row in read_publishers(store)):
        raise NotFound(f"no publisher {publisher_id[:200]}")
    value = None if new else rows.ping_key(publisher_id)
    value = value or rows.new_ping_key(publisher_id)
    typer.echo(json.dumps({"publisher_id": publisher_id, "key": value}) if json_output else value)
