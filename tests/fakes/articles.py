"""Article pages for ingest tests, made up here: a text of its own per number, with the usual metadata."""

from __future__ import annotations

import random

_WORDS = [
    "harbour",
    "council",
    "bridge",
    "ferry",
    "river",
    "budget",
    "teacher",
    "orchard",
    "library",
    "tunnel",
    "signal",
    "engine",
    "village",
    "market",
    "glacier",
    "minister",
    "painter",
    "factory",
    "railway",
    "window",
    "garden",
    "lantern",
    "captain",
    "valley",
    "castle",
    "meadow",
    "printer",
    "baker",
    "weather",
    "station",
    "museum",
    "election",
    "concert",
    "lawyer",
    "hospital",
    "farmer",
    "quarry",
    "island",
    "border",
    "treaty",
    "merchant",
    "sailor",
    "archive",
]


def sentences(number: int, count: int = 14) -> list[str]:
    """Sentences that no other number has."""
    rng = random.Random(number)
    return [
        " ".join(rng.choice(_WORDS) for _ in range(12)).capitalize() + f" number {number} part {part}."
        for part in range(count)
    ]


def article(
    url: str,
    number: int,
    *,
    title: str | None = None,
    canonical: str | None = None,
    image: str | None = None,
    count: int = 14,
    published: str = "2026-03-02T08:00:00Z",
) -> str:
    title = title or f"Council decides on case {number}"
    picture = f'<meta property="og:image" content="{image}">' if image else ""
    body = "".join(f"<p>{sentence}</p>" for sentence in sentences(number, count))
    return f"""<!doctype html><html lang="en"><head><title>{title}</title>
<link rel="canonical" href="{canonical or url}"><meta property="og:title" content="{title}">{picture}
<meta property="article:published_time" content="{published}"><meta name="author" content="Ann Writer"></head>
<body><header><nav>Home News Sport</nav></header><article><h1>{title}</h1>{body}</article><footer>About us</footer></body></html>"""
