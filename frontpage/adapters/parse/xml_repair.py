"""XML as it comes, made well-formed without losing an item for one character.

Characters outside XML's `Char` production go (also as references), a bare ampersand is escaped, HTML's entity names
become their characters. A document type is taken out: entities that stand for short plain text are put in
place, nested or external ones that are used refuse the document (expansion bombs, file and network reads).
"""

from __future__ import annotations

import html.entities
import re
from typing import Final

from frontpage.errors import UnreadableInput

_BAD: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_BREAK: Final = re.compile("[\x0b\x0c\x85]")
_VERBATIM: Final = {"<![CDATA[": "]]>", "<!--": "-->"}
_AMPERSAND: Final = re.compile(r"&(?:#([0-9]{1,7});|#[xX]([0-9a-fA-F]{1,6});|([A-Za-z][A-Za-z0-9._-]{0,63});)?")
#: A "<" that opens no tag, or one that never closes.
#: A character beyond 16 bits written as the two halves that some languages keep it in (emoji, mostly).
_HALVES: Final = re.compile(
    r"&#(?:[xX]([dD][89abAB][0-9a-fA-F]{2})|(5[56]\d{3}));&#(?:[xX]([dD][c-fC-F][0-9a-fA-F]{2})|(5[67]\d{3}));"
)
_BROKEN_TAG: Final = re.compile(r"<(?![A-Za-z_/?!:][^<>]*>)")
_TAG: Final = re.compile(r"<(/?)[A-Za-z_:][^<>]*?(/?)>")
DEPTH_LIMIT: Final = 2_000
#: Python's SAX takes time with the square of an element's attributes; roots of real feeds declare some fifty names.
ATTRIBUTE_LIMIT: Final = 400
_XML_NAMES: Final = frozenset({"amp", "lt", "gt", "quot", "apos"})
_DECLARATION: Final = re.compile(r"^\s*<\?xml\b.*?\?>", re.DOTALL)
_ENTITY: Final = re.compile(
    r"<!ENTITY\s+(%\s+)?([A-Za-z_:][\w:.-]*)\s+(?:\"([^\"]*)\"|'([^']*)'|(SYSTEM|PUBLIC)\b[^>]*)\s*>", re.DOTALL
)
#: What all entities together may add; real feeds use a handful of short names.
_EXPANSION_LIMIT: Final = 100_000
_ENTITY_LIMIT: Final = 2_000


def repair(text: str) -> tuple[str, list[str]]:
    """(well-formed-as-can-be text without declaration and document type, problems). Raises UnreadableInput
    `entity-bomb`, `external-entity` or `too-deep`.
    """
    problems: list[str] = []
    start = _DECLARATION.match(text)
    if start:
        text = text[start.end() :]
    stripped = text.lstrip("\ufeff \t\r\n\x00\x0b\x0c")
    text = stripped
    text, entities, external = _take_doctype(text)
    clean = _BREAK.sub(" ", text)
    clean = _BAD.sub("", clean)
    repaired = clean != text
    state = _References(entities, external)
    parts = _split_verbatim(clean)
    for place in range(0, len(parts), 2):
        if "&" in parts[place]:
            whole = _HALVES.sub(_whole, parts[place])
            repaired = repaired or whole != parts[place]
            parts[place] = _AMPERSAND.sub(state.replace, whole)
        parts[place], broken = _BROKEN_TAG.subn("&lt;", parts[place])
        repaired = repaired or broken > 0
    if repaired or state.repaired:
        problems.append("repaired_xml")
    _refuse_depth(parts)
    return "".join(parts), problems


def _whole(match: re.Match[str]) -> str:
    high = int(match[1], 16) if match[1] else int(match[2])
    low = int(match[3], 16) if match[3] else int(match[4])
    if not (0xD800 <= high <= 0xDBFF and 0xDC00 <= low <= 0xDFFF):
        return match[0]
    return f"&#{0x10000 + ((high - 0xD800) << 10) + low - 0xDC00};"


def _refuse_depth(parts: list[str]) -> None:
    """Parsers take time with the square of the depth; real feeds nest some ten elements, sloppy markup some hundred."""
    depth = 0
    for part in parts[::2]:
        for match in _TAG.finditer(part):
            size = match.end() - match.start()
            if size > 5 * ATTRIBUTE_LIMIT and match[0].count('="') + match[0].count("='") > ATTRIBUTE_LIMIT:
                raise UnreadableInput(f"an element of more than {ATTRIBUTE_LIMIT} attributes", cause="too-deep")
            if match[1]:
                depth = max(0, depth - 1)
            elif not match[2]:
                depth += 1
                if depth > DEPTH_LIMIT:
                    raise UnreadableInput(f"elements nested deeper than {DEPTH_LIMIT}", cause="too-deep")


_OPENING: Final = re.compile(r"<!\[CDATA\[|<!--")


def _split_verbatim(text: str) -> list[str]:
    """Ordinary text at even places, CDATA sections and comments between; linear also when nothing is ever closed."""
    parts: list[str] = []
    place = 0
    open_ended: set[str] = set()
    start = 0
    while match := _OPENING.search(text, place):
        closing = _VERBATIM[match[0]]
        end = -1 if closing in open_ended else text.find(closing, match.end())
        place = match.end()
        if end < 0:
            open_ended.add(closing)
            continue
        parts += [text[start : match.start()], text[match.start() : end + 3]]
        place = start = end + 3
    parts.append(text[start:])
    return parts


class _References:
    """Decides every `&...;` outside CDATA; counts what entities add."""

    def __init__(self, entities: dict[str, str], external: set[str]) -> None:
        self._entities = entities
        self._external = external
        self._added = 0
        self.repaired = False

    def replace(self, match: re.Match[str]) -> str:
        decimal, hexadecimal, name = match.groups()
        if decimal or hexadecimal:
            code = int(decimal) if decimal else int(hexadecimal, 16)
            return self._character(code, match.group())
        if name is None:
            self.repaired = True
            return "&amp;"
        if name in _XML_NAMES:
            return match.group()
        if name in self._external:
            raise UnreadableInput(f"uses the external entity &{name};", cause="external-entity")
        if name in self._entities:
            value = self._entities[name]
            self._added += len(value)
            if self._added > _EXPANSION_LIMIT:
                raise UnreadableInput("entities expand without end", cause="entity-bomb")
            return value
        character = html.entities.html5.get(name + ";")
        self.repaired = True
        if character is None:
            return "&amp;" + match.group()[1:]
        return character.replace("&", "&amp;").replace("<", "&lt;")

    def _character(self, code: int, original: str) -> str:
        if 0x80 <= code <= 0x9F:
            # Numbers of windows-1252 in disguise, as every browser reads them.
            self.repaired = True
            return bytes([code]).decode("windows-1252", "replace").replace("\ufffd", "")
        if code in (0x0B, 0x0C):
            self.repaired = True
            return " "
        legal = code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0x10FFFF
        if not legal or code in (0x7F, 0xFFFE, 0xFFFF):
            self.repaired = True
            return ""
        return original


def _take_doctype(text: str) -> tuple[str, dict[str, str], set[str]]:
    """Cuts the document type out; (rest, internal entities as ready text, names of external ones)."""
    found = re.search(r"<!DOCTYPE\b", text[:100_000], re.IGNORECASE)
    if not found or not _only_prolog(text[: found.start()]):
        return text, {}, set()
    end = _end_of_doctype(text, found.end())
    subset = text[found.start() : end]
    entities: dict[str, str] = {}
    external: set[str] = set()
    for match in _ENTITY.finditer(subset):
        parameter, name, double, single, outside = match.groups()
        if parameter:
            continue  # parameter entities work inside the subset only, which is dropped
        if outside:
            external.add(name)
            continue
        value = double if double is not None else (single or "")
        if len(entities) >= _ENTITY_LIMIT or len(value) > _EXPANSION_LIMIT:
            raise UnreadableInput("too many or too long entities", cause="entity-bomb")
        entities.setdefault(name, value)
    return text[: found.start()] + text[end:], _flat(entities), external


def _only_prolog(head: str) -> bool:
    return not re.sub(r"<!--.*?-->|<\?.*?\?>|\s+", "", head, flags=re.DOTALL)


def _end_of_doctype(text: str, start: int) -> int:
    depth = 0
    quote = ""
    for place in range(start, min(len(text), start + 1_000_000)):
        character = text[place]
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and depth:
            quote = character
        elif character == "[":
            depth += 1
        elif character == "]":
            depth -= 1
        elif character == ">" and depth <= 0:
            return place + 1
    return len(text)


def _flat(entities: dict[str, str]) -> dict[str, str]:
    """Values with character references read and markup escaped; one that names another entity is a bomb's brick."""
    flat: dict[str, str] = {}
    for name, value in entities.items():
        named = [n for n in re.findall(r"&([A-Za-z_:][\w:.-]*);", value) if n not in _XML_NAMES]
        if any(inner in entities for inner in named):
            raise UnreadableInput(f"entity {name} is made of entities", cause="entity-bomb")
        plain = html.unescape(value)
        flat[name] = _BAD.sub("", plain).replace("&", "&amp;").replace("<", "&lt;")
    return flat
