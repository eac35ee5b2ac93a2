"""OPML in and out."""

from __future__ import annotations

import contextlib
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from frontpage.adapters.feed_rows import FeedSource
from frontpage.domain.ids import feed_id
from frontpage.errors import UnreadableInput
from streaming.ingest.opml import read_opml, write_opml


def test_nested_folders_and_what_other_readers_write():
    body = b"""<?xml version="1.0"?><opml version="1.0"><head><title>x</title></head><body>
    <outline text="News"><outline text="World"><outline text="A &amp; B" xmlUrl="https://a.example/f" htmlUrl="https://a.example/" type="rss"/></outline>
    <outline title="T" XMLURL="https://b.example/f"/></outline>
    <outline text="plain" xmlUrl=" https://c.example/f "/><outline text="again" xmlUrl="https://a.example/f"/></body></opml>"""
    found = read_opml(body)
    assert [(o.url, o.title, o.folder) for o in found] == [
        ("https://a.example/f", "A & B", ("News", "World")), ("https://b.example/f", "T", ("News",)),
        ("https://c.example/f", "plain", ()),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (b"", "not-opml"), (b"<html><body/></html>", "not-opml"), (b"<opml><body/></opml>", "no-feeds"),
        (b"\x00\x01", "not-opml"), (b'{"feeds": []}', "not-opml"),
    ],
)  # fmt: skip
def test_what_is_no_list_is_refused_with_its_cause(body, cause):
    with pytest.raises(UnreadableInput) as caught:
        read_opml(body)
    assert caught.value.cause == cause


def test_entities_are_neither_resolved_nor_expanded(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("do not read me")
    bomb = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 9))
    body = f"""<!DOCTYPE opml [<!ENTITY file SYSTEM "file://{secret}"><!ENTITY l0 "lol">{bomb}]>
    <opml><body><outline text="&file;&l8;" xmlUrl="https://a.example/f"/></body></opml>"""
    try:
        found = read_opml(body.encode())
    except UnreadableInput:
        return
    assert all("do not read me" not in o.title and len(o.title) < 1_000 for o in found)


@pytest.mark.parametrize("tag", [":", "a:", ":outline", "a:b:c", "x"])
def test_damaged_tags_beside_a_feed_are_passed_over(tag):
    body = f'<opml><body><{tag}/><outline text="A" xmlUrl="https://a.example/f"/></body></opml>'
    assert [found.url for found in read_opml(body.encode())] == ["https://a.example/f"]


@given(st.binary(max_size=200))
@example(b"<:")
def test_reading_never_raises_anything_else(body):
    with contextlib.suppress(UnreadableInput):
        read_opml(b"<opml><body>" + body)


names = st.text(st.characters(categories=("L", "N"), max_codepoint=0xFFFF), min_size=1, max_size=10).map(
    lambda name: unicodedata.normalize("NFC", name)
)


@given(st.lists(st.tuples(names, st.lists(names, max_size=3), st.booleans()), min_size=1, max_size=8))
def test_what_is_written_is_read_back(rows):
    sources = {}
    for number, (title, folder, flag) in enumerate(rows):
        url = f"https://s{number}.example/f?a=1&b=<2>"
        sources[url] = FeedSource(
            feed_id(url), url, f"p{number}", f"s{number}.example", title=title, folder=tuple(folder), authoritative=flag,
            kind="sitemap" if flag else "feed", language="pt-BR" if flag else None,
        )  # fmt: skip
    found = {o.url: o for o in read_opml(write_opml(sources.values()))}
    for url, source in sources.items():
        outline = found[url]
        assert (outline.title, outline.folder, outline.publisher_id) == (
            source.title,
            source.folder,
            source.publisher_id,
        )
        assert (outline.kind, outline.authoritative, outline.language) == (
            source.kind, source.authoritative, source.language,
        )  # fmt: skip


@pytest.mark.parametrize("junk", [b"\xed\xa0\x80", b"\xff\xfe", b"caf\xe9", b"\xc3"])
@pytest.mark.parametrize("declared", [b"", b"<?xml version='1.0' encoding='utf-8'?>"])
def test_bytes_of_no_character_set_spoil_no_list(junk, declared):
    lines = (
        b'<outline text="' + junk + b'" xmlUrl="https://a.example/f"/><outline text="B" xmlUrl="https://b.example/f"/>'
    )
    found = read_opml(declared + b"<opml><body>" + lines + b"</body></opml>")
    assert [outline.url for outline in found] == ["https://a.example/f", "https://b.example/f"]
    assert found[1].title == "B"


@pytest.mark.parametrize("half", ["&#xD800;", "&#55296;", "&#xDFFF;", "&#xFFFE;"])
def test_references_to_no_character_spoil_no_outline(half):
    body = f'<opml><body><outline text="A{half}b" xmlUrl="https://a.example/f" title=""/></body></opml>'
    assert [(found.url, found.title) for found in read_opml(body.encode())] == [("https://a.example/f", "Ab")]


@pytest.mark.parametrize("encoding", ["utf-16", "windows-1251", "utf-8-sig"])
def test_lists_in_other_character_sets(encoding):
    text = f"<?xml version='1.0' encoding='{encoding.removesuffix('-sig')}'?><opml><body><outline text='Порт' xmlUrl='https://a.example/f'/></body></opml>"
    assert read_opml(text.encode(encoding))[0].title == "Порт"
