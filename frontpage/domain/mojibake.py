"""UTF-8 that somebody read as windows-1252, latin-1 or windows-1251 and wrote down again: "CafÃ©", "donâ€™t", "РџСЂРё".

Pure. A text is repaired only when that is certain: all of it goes back through the wrong character set to valid UTF-8,
and it has pairs that no language writes, such as "Ã" after a small letter. A capital before a closing quotation mark or
dots ("CAFÉ”", "AMANHÃ…") goes back to valid UTF-8 as well and must stay, so capitals alone prove nothing. What is
repaired in part only (a sound letter beside the broken ones) is left alone.

Before `text.plain`, which takes out the invisible halves. Not here: bytes (`adapters/parse/decode.py`).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

#: Longer texts are bodies, which are decoded from bytes.
LONGEST: Final = 4_000
#: A text may have been through it twice; a third time has been seen, a fourth has not.
ROUNDS: Final = 3


def _continuations(codec: str) -> str:
    """What the bytes 0x80 to 0xBF are in a single-byte set; undefined ones are control characters, as browsers read."""
    return "".join(bytes([byte]).decode(codec, "replace").replace("\ufffd", chr(byte)) for byte in range(0x80, 0xC0))


_WESTERN: Final = _continuations("cp1252") + "".join(map(chr, range(0x80, 0xA0)))
_CYRILLIC: Final = _continuations("cp1251")
_C: Final = f"[{re.escape(_WESTERN)}]"
#: Continuations that may stand behind a capital at the end of a word: dots, dashes, quotation marks, marks and blanks.
_NATURAL: Final = "…–—’‘”“™®©»°ºª·€\u00a0²³¹"
_ODD: Final = "[" + re.escape("".join(c for c in _WESTERN if c not in _NATURAL)) + "]"
_NOT_APOSTROPHE: Final = "[" + re.escape("".join(c for c in _WESTERN if c not in "’‘")) + "]"

#: Pairs that prove it. Letters of Latin scripts: U+00C0 to U+017F are Ã, Ä and Å with a continuation.
_TELLTALE: Final = re.compile(
    f"(?<=[a-zß-öø-ÿ])[ÃÄÅ]{_C}"  # a capital inside a word
    f"|[ÃÄÅ]{_NOT_APOSTROPHE}(?=[a-z])"  # a sign inside a word
    f"|[ÃÄÅ](?:{_ODD})"  # a sign that follows no letter
    f"|(?<![A-ZÀ-Þ])Â[{re.escape('‘’“”«»°ºª™®©§£¥¢·¿¡²³¹½¼¾')}\u00a0\u00ad]"  # what latin-1 has beyond letters
    f"|(?<!\\w)Ã\u00a0"  # "à" alone
    f"|[Â-ô][\x80-\x9f]"  # controls are written by nobody
    f"|â[€‚„]{_C}"  # general punctuation, currencies
    f"|ð[Ÿ\u009f]{_C}{_C}"  # pictographs
    f"|(?:[Â-ß]{_C}){{3}}"  # words of scripts with two bytes a letter
    f"|(?:[à-ï]{_C}{_C}){{2}}"  # and of those with three
)
_TELLTALE_CYRILLIC: Final = re.compile(f"(?:[РС][{re.escape(_CYRILLIC)}]){{3}}")

_BYTES: Final = {
    codec: {ord(c): byte for byte in range(256) if (c := bytes([byte]).decode(codec, "replace")) != "\ufffd"}
    for codec in ("cp1252", "cp1251")
}
#: latin-1's own controls stand for themselves: software disagrees about 0x80 to 0x9F.
_BYTES["cp1252"].update({byte: byte for byte in range(0x80, 0xA0)})
_BYTES["cp1251"][0x98] = 0x98


def repaired(text: str) -> str:
    """`text` as it was meant, when that is certain; else as it is.

    >>> repaired("Le cafÃ© dâ€™Orsay"), repaired("AMANHÃ…")
    ('Le café d’Orsay', 'AMANHÃ…')
    """
    if text.isascii() or len(text) > LONGEST:
        return text
    sound = found = text
    for _ in range(ROUNDS):
        if _TELLTALE.search(found):
            back = _back(found, "cp1252")
        elif _TELLTALE_CYRILLIC.search(found):
            back = _back(found, "cp1251")
        else:
            break
        if back is None:
            break
        found = back
        # halfway through two rounds there are controls, which no result may have
        if all(unicodedata.category(c) not in _NO_TEXT for c in found if c > "~"):
            sound = found
    return sound


#: Unicode's categories of what is no text: controls, unassigned, private, surrogates.
_NO_TEXT: Final = ("Cc", "Cn", "Co", "Cs")


def _back(text: str, codec: str) -> str | None:
    table = _BYTES[codec]
    try:
        return bytes([table[ord(c)] for c in text]).decode("utf-8")
    except (KeyError, UnicodeDecodeError):
        return None
