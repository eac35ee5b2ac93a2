"""Readers as serving knows them: settings, follows and hides written through, the merged profile, deletion.

Keys: `profile:explicit:{reader}` is ours; `profile:slow` is the batch layer's and `profile:fast` the trends process's.
A reader is a keyed hash; account ids stop at `auth.py`. Every change is also an event on `reader.events`, because
that is where the batch layer learns of it.
"""

from __future__ import annotations

import json
import logging
import time
import uuid
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import redis

from frontpage.adapters.clock import Clock
from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.api import Follow, Hidden, Me, MePatch, iso
from frontpage.contracts.profiles import (
    event_from_json,
    register_to_field,
    registers_from_hash,
    slow_from_json,
)
from frontpage.contracts.reader_events import ReaderEvent
from frontpage.contracts.topics import READER_EVENTS
from frontpage.contracts.views import PROFILE_EXPLICIT, PROFILE_FAST, PROFILE_SLOW, RANKED_LATEST
from frontpage.domain.editions import DEFAULT_EDITION, EDITIONS
from frontpage.domain.ids import digest
from frontpage.domain.merge import merge
from frontpage.domain.personal import DEFAULT_ALPHA
from frontpage.domain.profile import EMPTY, Profile, Register, RegisterKey
from frontpage.errors import ServiceUnavailable, UnreadableInput
from serving.problems import ProblemError
from serving.sending import EventSender

log = logging.getLogger(__name__)
#: Personalised-feed document: feed servers keep profiles for 60 s. Ours are read fresh, because a click must show in
#: the next list; the kept copy answers while Redis is away.
KEPT: Final = 60.0
CACHE: Final = 10_000
#: Follows, hides and undone ones of a reader: about 200 kB, read in about 1 ms. A reader of years has hundreds.
REGISTERS: Final = 2_000
Action = Literal["follow", "hide"]
TargetKind = Literal["topic", "entity", "source", "story"]


@dataclass(frozen=True, slots=True)
class ReaderState:
    """One reader now. `tag` changes whenever anything that ranking depends on has changed."""

    reader: str
    edition: str = DEFAULT_EDITION
    place: str | None = None
    alpha: float = DEFAULT_ALPHA
    subscriptions: frozenset[str] = frozenset()
    paused: bool = False
    registers: Mapping[RegisterKey, Register] = field(default_factory=dict)
    profile: Profile = EMPTY
    tag: str = ""


class Readers:
    """All methods block for at most the store's short time-out and raise ServiceUnavailable when it does not answer."""

    def __init__(self, store: redis.Redis, clock: Clock, sender: EventSender) -> None:
        self._store, self._clock, self._sender = store, clock, sender
        self._kept: OrderedDict[str, tuple[float, ReaderState]] = OrderedDict()

    def load(self, reader: str) -> ReaderState:
        """Settings and merged profile, one round trip; the copy of the last minute while Redis is away."""
        try:
            with store_errors():
                pipe = self._store.pipeline(transaction=False)
                pipe.get(PROFILE_SLOW.key(reader=reader))
                pipe.zrange(PROFILE_FAST.key(reader=reader), 0, -1)
                pipe.hgetall(PROFILE_EXPLICIT.key(reader=reader))
                slow, fast, explicit = pipe.execute()
        except ServiceUnavailable:
            kept = self._kept.get(reader)
            if kept is not None and time.monotonic() - kept[0] < KEPT:
                return kept[1]
            raise
        state = _state(reader, slow, fast, explicit)
        # out and in again puts it last; another thread may forget the reader at any moment between two steps
        self._kept.pop(reader, None)
        self._kept[reader] = (time.monotonic(), state)
        while len(self._kept) > CACHE:
            self._kept.popitem(last=False)
        return state

    def switch(self, reader: str, action: Action, kind: TargetKind, target: str, on: bool) -> None:
        """Follow, hide or undo: written through before it returns, so that the next list reflects it.

        Raises ProblemError 409 for more of them than anyone reads by: each request reads them all.
        """
        if on:
            with store_errors():
                known = int(self._store.hlen(PROFILE_EXPLICIT.key(reader=reader)))
            if known >= REGISTERS:
                raise ProblemError(409, "too-many", f"at most {REGISTERS} follows and hides")
        at, event_id = self._clock.now(), uuid.uuid4().hex
        name, value = register_to_field((action, kind, target), Register(at, event_id, on))
        self._write(reader, {name: value})
        word = {
            ("follow", True): "follow",
            ("follow", False): "unfollow",
            ("hide", True): "hide",
            ("hide", False): "unhide",
        }
        self._emit(
            reader, word[action, on], at, event_id,
            target_kind=kind, target_id=target, story_id=target if kind == "story" else "",
        )  # fmt: skip

    def patch(self, reader: str, patch: MePatch) -> None:
        """Change settings; fields that are absent stay, `place` "" clears it."""
        changed = patch.model_dump(exclude_unset=True, exclude_none=True)
        if changed:
            self._write(reader, {f"set:{name}": json.dumps(value) for name, value in changed.items()})

    def pause(self, reader: str, paused: bool) -> None:
        """Stop or resume remembering what is read; what is known stays until it is deleted."""
        self._write(reader, {"set:paused": json.dumps(paused)})
        self._emit(reader, "pause" if paused else "resume", self._clock.now(), uuid.uuid4().hex)

    def delete(self, reader: str) -> None:
        """Forget the reader here and now; the event makes trends and the batch layer forget as well."""
        with store_errors():
            lists = list(self._store.scan_iter(match=RANKED_LATEST.key(reader=reader, edition="*"), count=1_000))
            views = (PROFILE_EXPLICIT, PROFILE_FAST, PROFILE_SLOW)
            self._store.delete(*(view.key(reader=reader) for view in views), *lists)
        self._kept.pop(reader, None)
        self._emit(reader, "delete", self._clock.now(), uuid.uuid4().hex)

    def export(self, reader: str) -> dict[str, Any]:
        """Everything that serving's store holds about a reader, as JSON values."""
        with store_errors():
            slow = self._store.get(PROFILE_SLOW.key(reader=reader))
            fast = self._store.zrange(PROFILE_FAST.key(reader=reader), 0, -1)
            explicit = self._store.hgetall(PROFILE_EXPLICIT.key(reader=reader))
        return {
            "reader": reader,
            "explicit": {_text(name): json.loads(value) for name, value in explicit.items()},
            "recent_events": [json.loads(_text(value)) for value in fast],
            "profile": json.loads(slow) if slow else None,
        }

    def _write(self, reader: str, fields: Mapping[str, str]) -> None:
        with store_errors():
            self._store.hset(PROFILE_EXPLICIT.key(reader=reader), mapping=dict(fields))  # type: ignore[arg-type]
        self._kept.pop(reader, None)

    def _emit(self, reader: str, kind: str, at: float, event_id: str, **fields: str) -> None:
        event = ReaderEvent.model_validate(
            {"event_id": event_id, "kind": kind, "at": at, "edition": "", "reader": reader, **fields}
        )
        self._sender.offer(READER_EVENTS, reader, event)


def me(state: ReaderState) -> Me:
    """`GET /v1/me`."""
    on = sorted((key, r) for key, r in state.registers.items() if r.on)
    return Me.model_validate(
        {
            "edition": state.edition,
            "place": state.place,
            "alpha": state.alpha,
            "subscriptions": sorted(state.subscriptions),
            "history_paused": state.paused,
            "follows": [Follow(kind=k, id=id, since=iso(r.at)) for (a, k, id), r in on if a == "follow"],
            "hidden": [Hidden(kind=k, id=id, since=iso(r.at)) for (a, k, id), r in on if a == "hide"],
            "reads_remembered": len(state.profile.recent),
        }
    )


def _state(reader: str, slow: bytes | None, fast: list[bytes], explicit: dict[bytes, bytes]) -> ReaderState:
    registers = registers_from_hash(explicit)
    try:
        batch = slow_from_json(slow) if slow is not None else None
    except UnreadableInput as error:
        log.error("slow profile of a reader is unreadable, going on without it: %s", error)
        batch = None
    events = []
    for member in fast:
        try:
            events.append(event_from_json(member))
        except UnreadableInput as error:
            log.error("a fast event is unreadable, skipped: %s", error)
    profile = merge(batch, events, registers)
    edition = _setting(explicit, "edition", DEFAULT_EDITION)
    alpha = _setting(explicit, "alpha", DEFAULT_ALPHA)
    subscriptions = _setting(explicit, "subscriptions", [])
    return ReaderState(
        reader,
        edition if edition in EDITIONS else DEFAULT_EDITION,
        _setting(explicit, "place", None) or None,
        float(alpha) if isinstance(alpha, int | float) else DEFAULT_ALPHA,
        frozenset(str(s) for s in subscriptions) if isinstance(subscriptions, list) else frozenset(),
        bool(_setting(explicit, "paused", False)),
        dict(profile.registers),
        profile,
        _tag(slow, fast, explicit),
    )


def _text(stored: Any) -> str:
    return stored.decode() if isinstance(stored, bytes) else str(stored)


def _tag(slow: bytes | None, fast: list[bytes], explicit: dict[bytes, bytes]) -> str:
    parts = [repr(sorted(explicit.items())), repr(slow), *(repr(member) for member in fast)]
    return digest("\n".join(parts), 16)


def _setting(explicit: Mapping[bytes, bytes], name: str, default: Any) -> Any:
    stored = explicit.get(f"set:{name}".encode())
    try:
        return default if stored is None else json.loads(stored)
    except ValueError:
        return default
