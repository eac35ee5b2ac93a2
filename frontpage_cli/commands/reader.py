"""`frontpage reader delete/pause/export USER`: what a reader may ask of us, done by an operator on their behalf.

The same code paths as `DELETE /v1/me`, `POST /v1/me/history/pause` and the export: the event goes to `reader.events`,
from where trends and the batch layer forget too. USER is the account id (the `sub` of the bearer token).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from serving.readers import Readers

User = Annotated[str, typer.Argument(help="The account id.")]


def register(app: typer.Typer) -> None:
    """Mount the group."""
    group = typer.Typer(no_args_is_help=True, help="A reader's privacy: delete, pause, export.")
    group.command()(delete)
    group.command()(pause)
    group.command()(export)
    app.add_typer(group, name="reader")


def delete(
    user: User, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False
) -> None:  # fmt: skip
    """Forget everything about a reader: here at once, in tables and their history with the next deletion run."""
    if not yes:
        typer.confirm(f"Erase follows, hides, settings and history of {user!r} for good?", abort=True)
    with _readers() as (readers, hashed):
        readers.delete(hashed(user))
    typer.echo(f"deleted {user}: serving's store is clean, the batch layer follows")


def pause(
    user: User, resume: Annotated[bool, typer.Option("--resume", help="Start remembering again.")] = False
) -> None:
    """Stop remembering what a reader reads (or start again)."""
    with _readers() as (readers, hashed):
        readers.pause(hashed(user), not resume)
    typer.echo(f"history of {user} {'resumed' if resume else 'paused'}")


def export(user: User) -> None:
    """Print what serving's store holds about a reader as JSON."""
    import json

    with _readers() as (readers, hashed):
        typer.echo(json.dumps(readers.export(hashed(user)), ensure_ascii=False, indent=2, sort_keys=True))


@contextmanager
def _readers() -> Iterator[tuple[Readers, Callable[[str], str]]]:
    """(the readers, user -> hash); on leaving, waits until what was emitted is in Kafka or says that it is not."""
    from frontpage.domain.tokens import KeyRing
    from frontpage.errors import ServiceUnavailable
    from frontpage.runtime import connect
    from frontpage.settings import load
    from serving.metrics import Metrics
    from serving.readers import Readers
    from serving.sending import EventSender

    runtime = connect(load())
    ring = KeyRing.parse(runtime.settings.token_keys.get_secret_value())
    sender = EventSender(runtime.bus.producer, Metrics())
    sender.start()
    yield Readers(runtime.redis, runtime.clock, sender), ring.reader_hash
    if not sender.close(30.0):
        raise ServiceUnavailable("done in Redis, but Kafka did not take the event within 30 s: run this again")
