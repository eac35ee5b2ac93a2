"""Input that is read well and then cannot be decoded, encoded or sent on: each must cost its own item, nothing else."""

import json

import pytest

from frontpage.adapters.parse.feeds import read_any
from frontpage.adapters.parse.pages import read_page
from frontpage.adapters.parse.robots import read_robots
from frontpage.domain.languages import language_tag
from frontpage.domain.urls import canonicalise, clean_link

NOW = 1_790_000_000.0
NO_CHARSETS = ["idna", "punycode", "undefined", "unicode_escape", "raw-unicode-escape", "Unicode-Escape"]


@pytest.mark.parametrize("label", NO_CHARSETS)
@pytest.mark.parametrize("letter", ["u", "ü"])
def test_codecs_that_are_no_character_sets_are_not_believed(label, letter):
    title = f"Hafenbr{letter}cke \\ud83d offen"
    xml = f'<?xml version="1.0" encoding="{label}"?><rss version="2.0"><channel><title>{title}</title></channel></rss>'
    headers = {"content-type": f"text/xml; charset={label}"}
    assert read_any(xml.encode(), headers, "https://hafen.test/f", now=NOW).feed.title == title
    page = f'<html><head><meta charset="{label}"><title>{title}</title></head><body><p>x</p></body></html>'
    assert read_page(page.encode(), headers, "https://hafen.test/news/pier", now=NOW).title == title
    robots = f'<?xml version="1.0" encoding="{label}"?>\nUser-agent: *\nDisallow: /{letter}\n'
    assert not read_robots(robots.encode()).allowed(f"/{letter}/1", "FrontpageBot")


@pytest.mark.parametrize("place", ["/news/{}pier", "/?q={}", "/news/pier#!/{}"])
@pytest.mark.parametrize("half", [chr(0xD83D), chr(0xDC00)])
def test_half_a_character_is_no_address(place, half):
    address = "https://hafen.test" + place.format(half)
    assert clean_link(address) == (None, "control-character")
    assert canonicalise(address).canonical is None
    assert clean_link(place.format(half), "https://hafen.test/") == (None, "control-character")


@pytest.mark.parametrize("letter", ["%", "ü", "日"])
def test_an_address_that_grows_too_long_for_a_key_is_refused(letter):
    assert canonicalise("https://hafen.test/" + letter * 4_000).refused == "too-long"
    kept = canonicalise("https://hafen.test/" + letter * 400).canonical
    assert canonicalise(kept).canonical == kept


def test_an_item_with_half_a_character_costs_only_its_address():
    items = [
        {
            "id": "1",
            "url": "https://hafen.test/\ud83d",
            "title": "Pier \ud83d opens",
            "image": "https://hafen.test/\ud83d",
        },
        {"id": "2", "url": "https://hafen.test/two", "title": "Two"},
    ]
    body = json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": items}).encode()
    first, second = read_any(body, {}, "https://hafen.test/f.json", now=NOW).entries
    assert (first.title, first.url, first.image) == ("Pier opens", None, None)
    assert "refused_link: control-character" in first.problems
    assert second.url == "https://hafen.test/two"


def test_a_picture_with_half_a_character_is_left_out():
    data = {"@type": "NewsArticle", "headline": "Pier opens", "image": "https://hafen.test/\ud83d.jpg"}
    page = (
        f'<html><head><script type="application/ld+json">{json.dumps(data)}</script></head><body><p>x</p></body></html>'
    )
    assert read_page(page.encode(), {}, "https://hafen.test/news/pier", now=NOW).image is None


def test_what_is_said_of_a_language_is_a_tag_or_nothing():
    assert [language_tag(text) for text in ("pt-BR", "zh_Hant_TW", "de")] == ["pt-BR", "zh_Hant_TW", "de"]
    assert [language_tag(text) for text in ("", "english", "e", "en\n", "en-" * 9, "en" + "-a" * 99)] == [None] * 6


def test_no_language_is_longer_than_a_tag():
    """A field of a megabyte makes an event that no topic takes, and the whole batch with it."""
    long = "en-" + "x" * 50_000
    item = {"id": "1", "url": "https://hafen.test/one", "title": "One", "language": long}
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "t", "language": long, "items": [item]}
    reading = read_any(json.dumps(feed).encode(), {}, "https://hafen.test/f.json", now=NOW, language="da")
    assert (reading.feed.language, reading.entries[0].language) == ("da", None)
    page = f'<html lang="{long}"><head><title>Pier</title></head><body><p>x</p></body></html>'
    assert read_page(page.encode(), {}, "https://hafen.test/news/pier", now=NOW).declared_language is None
