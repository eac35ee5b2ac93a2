"""Which language a text is in: its script first, then a detector, and the declared tag only where both are unsure.

Templates ship with `lang="en"` and nobody changes it, so the text decides over the tag. The detector is lingua in its
low-accuracy mode (trigrams): on a body of a few sentences it errs no more than the full mode and takes 47 MB instead of
560 MB a process (measured). It is built once, on first use.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from frontpage.domain.languages import primary_subtag
from frontpage.domain.text import script_counts
from frontpage.domain.wordlists import words

if TYPE_CHECKING:
    from lingua import LanguageDetector

#: Scripts that one language of the news writes in.
_BY_SCRIPT: Final = {
    "Grek": "el", "Hebr": "he", "Beng": "bn", "Taml": "ta", "Telu": "te", "Thai": "th", "Mymr": "my", "Geor": "ka",
    "Armn": "hy", "Khmr": "km", "Laoo": "lo", "Sinh": "si", "Guru": "pa", "Gujr": "gu", "Knda": "kn", "Mlym": "ml",
    "Ethi": "am", "Hang": "ko", "Hani": "zh", "Kana": "ja",
}  # fmt: skip
_CANDIDATES: Final = {
    "Latn": (
        "ENGLISH SPANISH GERMAN FRENCH PORTUGUESE ITALIAN TURKISH VIETNAMESE INDONESIAN DUTCH POLISH CZECH SLOVAK "
        "HUNGARIAN ROMANIAN SWEDISH BOKMAL DANISH FINNISH LATVIAN LITHUANIAN ESTONIAN CATALAN CROATIAN SLOVENE"
    ),
    "Cyrl": "RUSSIAN UKRAINIAN BULGARIAN SERBIAN BELARUSIAN MACEDONIAN",
    "Arab": "ARABIC PERSIAN URDU",
    "Deva": "HINDI MARATHI",
}
#: Tags that mean another: old ISO codes, countries in place of languages, both Norwegians as our edition has one.
_TAGS: Final = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "ji": "yi", "jp": "ja", "cn": "zh", "kr": "ko",
                "cz": "cs", "ua": "uk", "gr": "el", "dk": "da", "se": "sv", "mo": "ro"}  # fmt: skip
#: Letters below which a text is too short to be judged, and the confidence from which the detector beats the tag.
MIN_LETTERS: Final = 24
_SURE_LETTERS: Final = 60
_SURE: Final = 0.75
#: Characters given to the detector: it is sure long before, and its time grows with the text.
_SAMPLE: Final = 400


def declared_subtag(tag: str | None) -> str:
    """The language that a declared tag means, `und` when it means none."""
    subtag = primary_subtag(tag)
    return _TAGS.get(subtag, subtag)


def detect(text: str, declared: str | None = None) -> str:
    """BCP 47 primary subtag of `text` (`und` when nothing tells); `declared` is the tag of page, feed or registry."""
    tag = declared_subtag(declared)
    counts = script_counts(text)
    if not counts:
        return tag
    script = max(counts, key=lambda name: counts[name])
    letters = sum(counts.values())
    if counts.get("Kana", 0) * 12 > counts.get("Hani", 0) + counts.get("Kana", 0) and script in ("Kana", "Hani"):
        # Chinese quotes no kana; Japanese cannot do without.
        return "ja"
    if script in _BY_SCRIPT:
        return tag if _writes(tag, script) else _BY_SCRIPT[script]
    if script not in _CANDIDATES:
        return tag
    if letters < MIN_LETTERS:
        return tag
    if tag != "und" and tag not in _codes(script) and _writes(tag, script):
        # A language that the detector does not know: it would only name the nearest that it does.
        return tag
    language, confidence = _lingua(text[:_SAMPLE], script)
    if tag != "und" and _writes(tag, script) and (confidence < _SURE or letters < _SURE_LETTERS):
        return tag
    return language


#: Languages that share a script of `_BY_SCRIPT` or `_CANDIDATES` and are believed when declared.
_OTHERS: Final = {
    "Hebr": {"he", "yi"}, "Beng": {"bn", "as"}, "Ethi": {"am", "ti"}, "Hani": {"zh", "yue"}, "Mymr": {"my", "shn"},
    "Arab": {"ps", "ku", "sd", "ug", "ckb"}, "Deva": {"ne", "sa", "kok", "mai", "bho"},
    "Cyrl": {"kk", "ky", "mn", "tg", "tt", "ba", "uz"},
}  # fmt: skip
_NOT_LATIN: Final = words(
    "ja zh yue ko ru uk bg be mk el he yi ar fa ur ps ug sd hi mr ne bn as ta te kn ml gu pa si th lo my km ka hy am ti"
)


def _writes(tag: str, script: str) -> bool:
    """Whether the declared language is written in this script."""
    if tag == "und":
        return False
    if script == "Latn":
        return tag not in _NOT_LATIN
    known = set(_OTHERS.get(script, ()))
    if script in _CANDIDATES:
        known |= _codes(script)
    if script in _BY_SCRIPT:
        known.add(_BY_SCRIPT[script])
    return tag in known


@lru_cache(maxsize=8)
def _codes(script: str) -> frozenset[str]:
    from lingua import Language

    codes = {getattr(Language, name).iso_code_639_1.name.lower() for name in _CANDIDATES[script].split()}
    return frozenset(_TAGS.get(code, code) for code in codes)


@lru_cache(maxsize=8)
def _detector(script: str) -> LanguageDetector:
    from lingua import Language, LanguageDetectorBuilder

    languages = [getattr(Language, name) for name in _CANDIDATES[script].split()]
    return LanguageDetectorBuilder.from_languages(*languages).with_low_accuracy_mode().build()


def _lingua(text: str, script: str) -> tuple[str, float]:
    best = _detector(script).compute_language_confidence_values(text)[0]
    code = best.language.iso_code_639_1.name.lower()
    return _TAGS.get(code, code), float(best.value)
