"""Which bodies a page, a topic, a place or a story has: the joint between cards and `render.py`.

Knows the site's address and its words; holds no state besides the compiled templates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from frontpage.contracts.api import Page, Story, StoryCard
from frontpage.domain.editions import EDITIONS, Edition
from frontpage.domain.languages import direction
from serving.render import FEED_TYPES, Body, Channel, feed_body, html_body, json_body, make_environment
from serving.words import pretty, words


class Bodies(Mapping[str, Body]):
    """Bodies by kind, each rendered once, by whoever asks first: most pages are replaced before anybody reads them
    in every form. Two threads that ask at the same moment may render twice; they get equal bytes.
    """

    def __init__(self, kinds: Iterable[str], render: Callable[[str], Body]) -> None:
        self._kinds = tuple(kinds)
        self._render = render
        self._done: dict[str, Body] = {}

    def __getitem__(self, kind: str) -> Body:
        found = self._done.get(kind)
        if found is None:
            if kind not in self._kinds:
                raise KeyError(kind)
            found = self._done.setdefault(kind, self._render(kind))
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)


class Sheets:
    """`base`: the public address without a slash at its end, for absolute links in feeds."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._environment = make_environment()
        # a language may have several editions: readers choose among those of their own first
        self._editions = sorted(EDITIONS.values(), key=lambda e: (e.language, e.name))

    def page(
        self, page: Page, now: float, sections: Sequence[str], stale_minutes: int | None
    ) -> Mapping[str, Body]:  # fmt: skip
        """All bodies of a section page: `api`, `html`, `rss`, `atom`, `json`; each rendered when first asked for."""
        edition = EDITIONS[page.edition]
        title = words(edition.language).get(page.section, pretty(page.section))
        path = f"/v1/editions/{page.edition}/{page.section}"
        channel = Channel(f"Frontpage {edition.name}: {title}", path, edition.id, now)

        def render(kind: str) -> Body:
            if kind == "api":
                return json_body(page)
            if kind == "html":
                return self.listing(
                    edition, now, page.items, title=title, section=page.section, sections=sections, feed=path,
                    version=page.version, stale_minutes=stale_minutes,
                )  # fmt: skip
            return feed_body(kind, channel, page.items, self._base)

        return Bodies(("api", "html", *FEED_TYPES), render)

    def feeds(self, title: str, path: str, edition: Edition, now: float, cards: list[StoryCard]) -> dict[str, Body]:
        """The list as `rss`, `atom` and `json`."""
        channel = Channel(title, path, edition.id, now)
        return {kind: feed_body(kind, channel, cards, self._base) for kind in FEED_TYPES}

    def listing(
        self, edition: Edition, now: float, cards: list[StoryCard], *, title: str, section: str,
        sections: Sequence[str], feed: str, version: int = 0, stale_minutes: int | None = None,
    ) -> Body:  # fmt: skip
        """The HTML of a list of cards."""
        return self._html(
            "listing.html", edition, now, cards=cards, title=title, section=section, sections=sections, feed=feed,
            version=version, stale_minutes=stale_minutes,
        )  # fmt: skip

    def story(
        self, story: Story, edition: Edition, now: float, *, sections: Sequence[str], linked: frozenset[str]
    ) -> Body:
        """The HTML of Full Coverage; `linked` are the related topics that have a page."""
        return self._html(
            "story.html", edition, now, story=story, title=story.headline, section="", sections=sections, linked=linked
        )

    def private(self, template: str, edition: Edition, now: float, **context: Any) -> Body:
        """A page of the signed-in part."""
        return self._html(template, edition, now, section="", **context)

    def problem(self, status: int, title: str, detail: str, **context: Any) -> Body:
        """An error as a page."""
        return self._html(
            "problem.html", EDITIONS["en-US"], 0.0, title=title, status=status, detail=detail, section="", sections=[],
            **context,
        )  # fmt: skip

    def docs(self, title: str, **context: Any) -> Body:
        """The API's documentation, drawn from its OpenAPI description without any outside script."""
        return self._html("docs.html", EDITIONS["en-US"], 0.0, title=title, section="", sections=[], **context)

    def _html(self, template: str, edition: Edition, now: float, **context: Any) -> Body:
        return html_body(
            self._environment, template, language=edition.language, now=now, edition=edition,
            editions=self._editions, dir=direction(edition.language), **context,
        )  # fmt: skip
