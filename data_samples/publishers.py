"""The made-up publishers: nationals and names from `texts/publishers.txt`, a local paper per town, a wire, rewriters.

All hosts end in `.example` (RFC 2606): none of them can exist. Local papers of one language partly share a
registrable domain, so that budgets per domain and per host differ.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from random import Random
from typing import Final

from data_samples.grammar import table
from data_samples.model import Publisher

WIRE_NAME: Final = "Meridian Press"
#: The one wire service and its language desks: language -> country.
_WIRE_DESKS: Final = {"en": "GB", "es": "ES", "de": "DE", "fr": "FR", "pt": "PT"}
#: Name of a local paper by language; several for English, where most towns are.
_LOCAL_NAMES: Final = {
    "en": ("{city} Gazette", "{city} Evening Echo", "The {city} Packet", "{city} Now"),
    "es": ("Diario de {city}", "{city} al Día"),
    "de": ("Stadtblatt {city}", "{city} Aktuell"),
    "fr": ("Le Courrier de {city}", "{city} Matin"),
    "pt": ("Jornal de {city}", "{city} Agora"),
    "it": ("Il Giornale di {city}",),
    "ja": ("{city}民報",),
    "ar": ("صدى {city}",),
}
#: Publishers whose local papers are subdomains of one group, by language.
_GROUPS: Final = {"en": "townpress-group.example", "de": "regionalverbund.example", "fr": "presse-locale.example"}
_REWRITER_HEADS: Final = (
    "Daily", "Buzz", "Viral", "Instant", "Hot", "Click", "Rapid", "Mega", "Trend", "Total",
)  # fmt: skip
_REWRITER_TAILS: Final = ("Scoop", "Feedster", "Newsy", "Pulse Hub", "Digest Zone")
#: Latin stand-ins for towns written in other scripts (for host names).
_LATIN: Final = {
    "仙台市": "sendai", "金沢市": "kanazawa", "高松市": "takamatsu", "熊本市": "kumamoto",
    "الإسكندرية": "iskandariya", "أسوان": "aswan", "طرابلس": "tarablus", "أبها": "abha",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """A town with its region, country and three places near it, named in one language."""

    language: str
    scope: str
    country: str
    country_name: str
    city: str
    region: str
    near: tuple[str, ...]


def places() -> list[Place]:
    """Every town of the world, in file order."""
    return [
        Place(language, scope, country, country_name, city, region, tuple(n.strip() for n in near.split(",")))
        for language, scope, country, country_name, city, region, near in table("places.txt")
    ]


def slug(text: str) -> str:
    """ASCII letters and digits with hyphens, '' where nothing is left."""
    text = _LATIN.get(text, text).replace("ß", "ss").replace("ø", "o").replace("œ", "oe").replace("'", "")
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return "-".join("".join(c if c.isalnum() else " " for c in plain).split())


def build_publishers(seed: int) -> list[Publisher]:
    """All publishers: about 80 nationals, a local paper for each home town, wire desks, 50 rewriters."""
    rng = Random(f"{seed}:publishers")
    found: list[Publisher] = []
    for number, (language, country, name, host, authority, flags) in enumerate(table("publishers.txt")):
        found.append(
            Publisher(
                id=host.removesuffix(".example").split(".")[-1],
                name=name,
                host=host,
                country=country,
                language=language,
                tier="national",
                authority=float(authority),
                snippet_allowed="nosnippet" not in flags,
                thumb_allowed="nothumb" not in flags,
                paywalled="paywall" in flags,
                opted_out="optout" in flags,
                style=number,
            )
        )
    for number, place in enumerate(p for p in places() if p.scope == "home"):
        found.append(_local(place, number, rng))
    for number, (language, country) in enumerate(_WIRE_DESKS.items()):
        host = "meridian-press.example" if language == "en" else f"{language}.meridian-press.example"
        id = "meridian" if language == "en" else f"meridian-{language}"
        name = WIRE_NAME if language == "en" else f"{WIRE_NAME} ({language})"
        found.append(Publisher(id, name, host, country, language, "wire", 0.92, style=number))
    for number in range(50):
        name = f"{_REWRITER_HEADS[number % 10]} {_REWRITER_TAILS[number // 10]}"
        host = f"{slug(name)}.example"
        low = round(rng.uniform(0.04, 0.16), 2)
        country = ("US", "GB", "IN", "AU", "CA")[number % 5]
        found.append(Publisher(slug(name), name, host, country, "en", "rewriter", low, style=number))
    return found


def _local(place: Place, number: int, rng: Random) -> Publisher:
    names = _LOCAL_NAMES[place.language]
    name = names[number % len(names)].format(city=place.city)
    town = slug(place.city)
    group = _GROUPS.get(place.language)
    if group and number % 3 == 0:
        host = f"{town}.{group}"
    else:
        host = f"{slug(name) if place.language not in ('ja', 'ar') else town + '-local'}.example"
    return Publisher(
        id=f"{place.language}-{town}",
        name=name,
        host=host,
        country=place.country,
        language=place.language,
        tier="local",
        authority=round(rng.uniform(0.28, 0.52), 2),
        place=place.city,
        snippet_allowed=rng.random() > 0.06,
        thumb_allowed=rng.random() > 0.06,
        paywalled=rng.random() < 0.06,
        style=number,
    )
