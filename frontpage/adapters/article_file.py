"""Articles from a JSON-lines file `{id, title, text, url, publisher, lang, published_at}`, read by `frontpage cluster`.

A null or missing time means unknown. The text stays in the row; only signals leave this module.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from frontpage.adapters.encoder import EncoderSet
from frontpage.domain.article import ArticleSignals, derive, embedding_text
from frontpage.domain.languages import primary_subtag
from frontpage.errors import UnreadableInput

Row = dict[str, Any]


def read_rows(path: Path) -> Iterator[Row]:
    """Rows of a .jsonl or gzipped file; raises UnreadableInput with the line number on anything else."""
    for number, line in enumerate(_lines(path), start=1):
        if line.strip():
            yield read_row(line, f"{path}:{number}")


def _lines(path: Path) -> Iterator[str]:
    try:
        with open(path, "rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
        opener: Any = gzip.open if zipped else open
        with opener(path, "rt", encoding="utf-8") as stream:
            yield from stream
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UnreadableInput(f"{path}: {error}", cause="unreadable-file") from None


def read_json_rows(path: Path) -> Iterator[Row]:
    """Objects of a .jsonl or gzipped file; raises UnreadableInput with the line number on anything else."""
    for number, line in enumerate(_lines(path), start=1):
        if line.strip():
            yield _object(line, f"{path}:{number}")


def read_row(line: str, where: str) -> Row:
    """One object with a non-empty `id`; raises UnreadableInput naming `where`."""
    row = _object(line, where)
    if not isinstance(row.get("id"), str) or not row["id"]:
        raise UnreadableInput(f"{where}: an article is an object with an id", cause="not-an-article")
    for name in ("title", "text", "lead", "publisher", "lang", "published_at"):
        if row.get(name) is not None and not isinstance(row[name], str):
            raise UnreadableInput(f"{where}: {name} is not a string", cause="not-an-article")
    return row


def _object(line: str, where: str) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UnreadableInput(f"{where}: not JSON: {error}"[:200], cause="not-json") from None
    if not isinstance(row, dict):
        raise UnreadableInput(f"{where}: not an object", cause="not-an-object")
    return row


def encode_rows(rows: Sequence[Row], encoders: EncoderSet) -> list[ArticleSignals]:
    """Signals with vectors, in the order of rows; each language by its encoder."""
    signals = [row_signals(row) for row in rows]
    by_encoder: dict[int, list[int]] = {}
    for at, row in enumerate(rows):
        by_encoder.setdefault(id(encoders.for_language(row_language(row))), []).append(at)
    for places in by_encoder.values():
        encoder = encoders.for_language(row_language(rows[places[0]]))
        vectors = encoder.encode([row_text(rows[at]) for at in places])
        for place, vector in zip(places, vectors, strict=True):
            signals[place] = signals[place].with_vector(vector, encoder.version)
    return signals


def row_text(row: Row) -> str:
    """What the encoder reads of a row."""
    return embedding_text(row.get("title") or "", row.get("lead") or "", row.get("text") or "")


def row_language(row: Row) -> str:
    """Primary subtag, `und` when missing."""
    return primary_subtag(row.get("lang"))


def row_signals(row: Row) -> ArticleSignals:
    """Signals of a row without vector; raises UnreadableInput on a time that is not ISO 8601."""
    return derive(
        article_id=row["id"],
        title=row.get("title") or "",
        lead=row.get("lead") or "",
        body=row.get("text") or "",
        language=row_language(row),
        publisher_id=row.get("publisher") or "",
        publisher=row.get("publisher_name") or row.get("publisher") or "",
        at=row_time(row),
    )


def row_time(row: Row) -> float | None:
    """Seconds since 1970 UTC of `published_at`; a time without zone is taken as UTC."""
    value = row.get("published_at")
    if not value:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise UnreadableInput(f"article {row['id']}: not ISO 8601: {value!r:.40}", cause="bad-time") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
