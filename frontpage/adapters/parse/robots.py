"""robots.txt by RFC 9309, over Protego: what the status means, size limit, and what to do with a page in its place.

For the fetch tier: `read_robots(body, status=...)` once per host, cached a day at most by the caller, then `allowed`.
"""

from __future__ import annotations

import re
from typing import Final

from protego import Protego

from frontpage.adapters.parse.decode import decode
from frontpage.adapters.parse.sniff import looks_like_html
from frontpage.domain.text import plain
from frontpage.domain.urls import clean_link

#: RFC 9309, 2.5: crawlers must read at least 500 KiB; the rest is ignored.
ROBOTS_LIMIT: Final = 500 * 1024
_SITEMAPS: Final = 100
_TOKEN: Final = re.compile(r"[A-Za-z_-]+")


class RobotsRules:
    """The rules of one host. `problems`: html, too_large, unreachable, missing."""

    def __init__(self, parser: Protego | None, verdict: bool | None, sitemaps: list[str], problems: list[str]) -> None:
        self._parser = parser
        self._verdict = verdict
        self.sitemaps = sitemaps
        self.problems = problems

    def allowed(self, path: str, agent: str) -> bool:
        """Whether `agent` (a product token or a whole User-Agent) may fetch `path` (or a whole address)."""
        if self._verdict is not None or self._parser is None:
            return bool(self._verdict)
        target = path if path.startswith(("/", "http://", "https://")) else "/" + path
        # RFC 9309, 2.2.2: robots.txt itself is always allowed.
        if re.sub(r"^https?://[^/]*", "", target).partition("?")[0] == "/robots.txt":
            return True
        return bool(self._parser.can_fetch(target, _token(agent)))

    def crawl_delay(self, agent: str) -> float | None:
        """Seconds between requests as asked (not in the RFC, widely meant), or None."""
        delay = self._parser.crawl_delay(_token(agent)) if self._parser else None
        return float(delay) if delay is not None and 0 <= float(delay) < 86_400 else None


def _token(agent: str) -> str:
    """The product token of a User-Agent: `FrontpageBot/1.0 (+https://…)` -> `FrontpageBot`."""
    found = _TOKEN.match(agent.strip())
    return found[0] if found else "*"


def read_robots(body: bytes, *, status: int | None = None) -> RobotsRules:
    """The rules in `body` as answered with `status` (None: 200). Never raises.

    4xx other than 429: no rules, all allowed. 429, 5xx and whatever is no answer: nothing allowed for now (RFC 9309,
    2.3.1.3 and 2.3.1.4). Redirects are the fetch tier's; one that arrives here counts as missing.
    """
    if status is not None and (status == 429 or status >= 500 or status < 200):
        return RobotsRules(None, False, [], ["unreachable"])
    if status is not None and status >= 300:
        return RobotsRules(None, True, [], ["missing"])
    problems = ["too_large"] if len(body) > ROBOTS_LIMIT else []
    head = body[:ROBOTS_LIMIT]
    if problems:
        head = head[: max(head.rfind(b"\n"), 0)]
    if looks_like_html(head):
        return RobotsRules(None, True, [], ["html"])
    text = decode(head, {"content-type": "text/plain; charset=utf-8"}, markup="xml").text
    text = text.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n")
    try:
        parser = Protego.parse(text)
        listed = [link for raw in list(parser.sitemaps)[:_SITEMAPS] if (link := clean_link(plain(raw))[0])]
    except Exception:  # noqa: BLE001 - a line that breaks the parser leaves no rules to break: be cautious
        return RobotsRules(None, False, [], [*problems, "unreadable"])
    return RobotsRules(parser, None, list(dict.fromkeys(listed)), problems)
