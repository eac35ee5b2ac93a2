"""Bytes to text: unpacking and character sets, with a repair that never ruins what is readable.

A byte order mark decides, then what HTTP and the document agree on (RFC 7303); bad bytes inside a declared set are
replaced one by one. Another set is guessed only when nothing was declared or the declared one fails over a large
part of the bytes. Labels mean what browsers mean by them (WHATWG Encoding: latin-1 is windows-1252).
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from charset_normalizer import from_bytes

from frontpage.errors import UnreadableInput

#: Of a text, the share of bad characters up to which its declared set is believed: cut-off letters are far rarer,
#: a wrong single-byte label in a European text is far more.
BAD_SHARE: Final = 0.01
_GUESS_BYTES: Final = 40_000
_CHUNK: Final = 1 << 16
_PIECE: Final = 1 << 14
#: Files packed in blocks have one of 64 kB or so each; a hundred thousand empty ones are an attack on our time.
_MEMBERS: Final = 2_000

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: First bytes of "<" or "<?" in wide sets without a mark.
_WIDE: Final = (
    (b"<\x00\x00\x00", "utf-32-le"),
    (b"\x00\x00\x00<", "utf-32-be"),
    (b"<\x00", "utf-16-le"),
    (b"\x00<", "utf-16-be"),
)
_ALIASES: Final = {
    "iso-8859-1": "windows-1252", "iso8859-1": "windows-1252", "latin1": "windows-1252", "latin-1": "windows-1252",
    "l1": "windows-1252", "us-ascii": "windows-1252", "ascii": "windows-1252", "cp1252": "windows-1252",
    "iso-8859-9": "windows-1254", "iso-8859-11": "windows-874", "tis-620": "windows-874", "gb2312": "gb18030",
    "gbk": "gb18030", "gb_2312-80": "gb18030", "x-gbk": "gb18030", "ks_c_5601-1987": "cp949", "euc-kr": "cp949",
    "shift_jis": "cp932", "shift-jis": "cp932", "x-sjis": "cp932", "sjis": "cp932", "big5": "big5hkscs",
    "x-euc-jp": "euc-jp", "unicode": "utf-16", "x-mac-roman": "mac-roman",
    "csmacintosh": "mac-roman", "mac": "mac-roman", "ms-cyrl": "windows-1251", "macintosh": "mac-roman",
    "utf8": "utf-8", "unicode-1-1-utf-8": "utf-8", "windows-874": "cp874",
}  # fmt: skip
#: Sets of western Europe, whose languages never write four accented letters in a row: that often, it is another script.
_WESTERN: Final = frozenset({"cp1252", "iso8859-15", "cp1254"})
_UNWESTERN: Final = re.compile(rb"[\xc0-\xff]{4,}")
UNWESTERN: Final = 5
_RUN: Final = re.compile(rb"[\x80-\xff]{3}")
#: Python calls them text encodings, but no document is written in them: they raise even where bad bytes are to be
#: replaced, or read escapes as letters, halves of surrogate pairs among them.
_NO_CHARSETS: Final = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"})
_XML_DECLARATION: Final = re.compile(rb"^\s*<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._:-]+)[\"']")
_META_CHARSET: Final = re.compile(rb"<meta[^>]+?charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]+)", re.IGNORECASE)
_HTTP_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9._:-]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Decoded:
    """`replaced` counts characters that could not be decoded and became U+FFFD."""

    text: str
    encoding: str
    replaced: int = 0
    problems: tuple[str, ...] = ()


def header(headers: Mapping[str, object], name: str) -> str:
    """A header's value by name in any case; empty when absent."""
    wanted = name.lower()
    for key, value in headers.items():
        if str(key).lower() == wanted:
            return str(value)
    return ""


def unpack(body: bytes, limit: int, *, ratio: int | None = None) -> bytes:
    """Undoes gzip or zlib by the first bytes, whatever name or type says; twice packed is unpacked twice.

    Raises UnreadableInput `too-large` when more than `limit` bytes come out (counted after unpacking), or more than
    `ratio` times what went in; `bad-gzip` when the stream is broken before anything came out.
    """
    for _ in range(2):
        if len(body) > limit:
            raise UnreadableInput(f"larger than {limit} bytes", cause="too-large")
        if body[:2] != b"\x1f\x8b":
            return body
        body = _gunzip(body, limit, ratio)
    if body[:2] == b"\x1f\x8b":
        raise UnreadableInput("packed more than twice", cause="bad-gzip")
    return body


def _gunzip(body: bytes, limit: int, ratio: int | None) -> bytes:
    out = bytearray()
    place, members = 0, 0
    allowed = limit if ratio is None else min(limit, max(1 << 20, len(body) * ratio))
    while body[place : place + 2] == b"\x1f\x8b":
        members += 1
        if members > _MEMBERS:
            raise UnreadableInput(f"more than {_MEMBERS} gzip members", cause="bad-gzip")
        unpacker = zlib.decompressobj(31)
        try:
            while place < len(body) and not unpacker.eof:
                # a piece at a time: what is left over is copied at each member's end
                piece = body[place : place + _PIECE]
                out += unpacker.decompress(piece, _CHUNK)
                place += len(piece) - len(unpacker.unconsumed_tail) - len(unpacker.unused_data)
                if len(out) > allowed:
                    raise UnreadableInput(f"unpacks to more than {allowed} bytes", cause="too-large")
        except zlib.error as error:
            raise UnreadableInput(f"broken gzip: {error}", cause="bad-gzip") from None
        if not unpacker.eof:
            raise UnreadableInput("gzip cut off", cause="bad-gzip")
    return bytes(out)


def decode(body: bytes, headers: Mapping[str, object], *, markup: str) -> Decoded:
    """Text of an XML or HTML document (`markup` "xml" or "html" says where the document states its set)."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return _with_replacement(body[len(mark) :], name)
    for first, name in _WIDE:
        if body.startswith(first):
            return _with_replacement(body, name)
    pattern = _XML_DECLARATION if markup == "xml" else _META_CHARSET
    inside = pattern.search(body[:4096])
    stated = _known(inside[1].decode("ascii")) if inside else None
    http = _known((_HTTP_CHARSET.search(header(headers, "content-type")) or ["", ""])[1])
    declared = [name for name in (http, stated) if name]
    if not body.isascii() and set(declared) != {"utf-8"}:
        # Text that is valid UTF-8 beyond ASCII is UTF-8, whatever a default header says.
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError:
            pass
        else:
            agreed = not declared or "utf-8" in declared
            return Decoded(text, "utf-8", 0, () if agreed else ("wrong_charset",))
    if len(declared) == 2 and declared[0] != declared[1]:
        # They contradict each other: the first that reads without a fault, else the document's own.
        for name in declared:
            try:
                return Decoded(body.decode(name), name, 0, ("charset_conflict",))
            except (UnicodeDecodeError, LookupError):
                continue
        declared = [declared[1]]
    if declared:
        found = _with_replacement(body, declared[0])
        if declared[0] in _WESTERN and len(_UNWESTERN.findall(body)) >= UNWESTERN:
            return _guessed(body, ("wrong_charset",)) or found
        if found.replaced <= max(8, len(found.text) * BAD_SHARE):
            return _as_western(body, found) if declared[0] == "utf-8" else found
        return _guessed(body, ("wrong_charset",)) or found
    try:
        return Decoded(body.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        found = _with_replacement(body, "utf-8")
        if found.replaced <= len(found.text) * BAD_SHARE / 4:
            return found
        return _guessed(body, ("no_charset",)) or found


def _as_western(body: bytes, found: Decoded) -> Decoded:
    """A few bad bytes alone in a text without one good letter beyond ASCII: no cut-off letters but another set's."""
    if not found.replaced or _RUN.search(body):
        return found
    good = sum(letter > "\x7f" for letter in found.text) - found.replaced
    if good:
        return found
    return Decoded(body.decode("windows-1252", "replace"), "windows-1252", 0, ("wrong_charset",))


def _known(label: str) -> str | None:
    if not label:
        return None
    lowered = label.strip().lower()
    lowered = _ALIASES.get(lowered, lowered)
    try:
        info = codecs.lookup(lowered)
    except (LookupError, ValueError):
        return None
    # Only character sets: "base64", "rot13" and the like are codecs of another kind.
    return info.name if getattr(info, "_is_text_encoding", True) and info.name not in _NO_CHARSETS else None


def _with_replacement(body: bytes, name: str) -> Decoded:
    try:
        return Decoded(body.decode(name), name)
    except (UnicodeDecodeError, UnicodeError):
        pass
    # windows-1252 leaves five bytes undefined; browsers read them as the control characters they would be.
    text = body.decode(name, "replace")
    return Decoded(text, name, text.count("\ufffd"), ("repaired_encoding",))


def _guessed(body: bytes, problems: tuple[str, ...]) -> Decoded | None:
    best = from_bytes(body[:_GUESS_BYTES]).best()
    if best is None:
        return Decoded(body.decode("windows-1252", "replace"), "windows-1252", 0, (*problems, "guessed_charset"))
    found = _with_replacement(body, best.encoding)
    if found.replaced > len(found.text) * BAD_SHARE:
        return None
    return Decoded(found.text, found.encoding, found.replaced, (*problems, "guessed_charset"))
