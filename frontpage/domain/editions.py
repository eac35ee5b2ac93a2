"""Editions (region plus language) and sections: the shared pages are their product, about 70 x 12.

An edition id is `language-REGION` (BCP 47); a section id is a lower-case word. Both are opaque to clients.

To add an edition, add a row to `_NAMES`: ranker, API and page follow. Its language has a writer without more
(`languages.py`); the page speaks English until `serving/words.py` has the language. To add a section, add it to
`SECTIONS`, its words to `serving/words.py` and the labels that publishers use for it to `sections.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: Section ids in the order in which a reader sees them. "top" ranks all; "local" is built per place on demand.
SECTIONS: Final = (
    "top", "world", "nation", "politics", "business", "technology", "science", "health", "sports",
    "entertainment", "climate", "local",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Edition:
    """`region` is ISO 3166-1 alpha-2, `language` the primary subtag whose stories the edition ranks."""

    id: str
    region: str
    language: str
    name: str


def _edition(id: str, name: str) -> Edition:
    language, region = id.split("-")
    return Edition(id, region, language, name)


_NAMES: Final = {
    "en-US": "United States", "en-GB": "United Kingdom", "en-IE": "Ireland", "en-CA": "Canada",
    "en-AU": "Australia", "en-NZ": "New Zealand", "en-IN": "India", "en-PK": "Pakistan", "en-BD": "Bangladesh",
    "en-SG": "Singapore", "en-MY": "Malaysia", "en-PH": "Philippines", "en-HK": "Hong Kong",
    "en-ZA": "South Africa", "en-NG": "Nigeria", "en-KE": "Kenya", "en-GH": "Ghana", "en-UG": "Uganda",
    "en-IL": "Israel (English)", "es-ES": "España", "es-MX": "México", "es-AR": "Argentina", "es-CO": "Colombia",
    "es-CL": "Chile", "es-PE": "Perú", "es-VE": "Venezuela", "es-CU": "Cuba", "es-US": "Estados Unidos",
    "de-DE": "Deutschland", "de-AT": "Österreich", "de-CH": "Schweiz", "fr-FR": "France", "fr-BE": "Belgique",
    "fr-CH": "Suisse", "fr-CA": "Canada (français)", "fr-MA": "Maroc", "fr-SN": "Sénégal", "pt-BR": "Brasil",
    "pt-PT": "Portugal", "it-IT": "Italia", "ru-RU": "Россия", "ru-UA": "Украина (русский)", "uk-UA": "Україна",
    "ar-EG": "مصر", "ar-SA": "السعودية", "ar-AE": "الإمارات", "ar-LB": "لبنان", "he-IL": "ישראל",
    "tr-TR": "Türkiye", "fa-IR": "ایران", "hi-IN": "भारत", "bn-BD": "বাংলাদেশ", "ta-IN": "தமிழ்", "te-IN": "తెలుగు",
    "mr-IN": "मराठी", "ja-JP": "日本", "zh-CN": "中国", "zh-TW": "台灣", "zh-HK": "香港", "ko-KR": "대한민국",
    "vi-VN": "Việt Nam", "th-TH": "ไทย", "id-ID": "Indonesia", "nl-NL": "Nederland", "nl-BE": "België",
    "pl-PL": "Polska", "cs-CZ": "Česko", "sk-SK": "Slovensko", "hu-HU": "Magyarország", "ro-RO": "România",
    "bg-BG": "България", "el-GR": "Ελλάδα", "sv-SE": "Sverige", "no-NO": "Norge",
}  # fmt: skip

EDITIONS: Final[dict[str, Edition]] = {id: _edition(id, name) for id, name in _NAMES.items()}
DEFAULT_EDITION: Final = "en-US"
