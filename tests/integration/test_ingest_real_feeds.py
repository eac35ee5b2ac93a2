"""Every item of a set of feeds ends as exactly one thing: our own small set always, the captured feeds where they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fakes.bus import MemoryBus
from fakes.encoder import HashEncoder

from benchmarks.real_feeds import run
from frontpage.adapters.encoder import EncoderSet

ENCODERS = EncoderSet(HashEncoder("en@1"), HashEncoder("other@1"))


def test_our_own_set_adds_up(valkey: str, tmp_path: Path):
    real = tmp_path / "feeds" / "real"
    real.mkdir(parents=True)
    rows = "".join(
        f"<item><title>Item {n}</title><link>http://s{n % 7}.example/{n}</link><guid>{n}</guid></item>"
        for n in range(60)
    )
    rss = '<rss version="2.0"><channel><title>t</title><link>http://s.example/</link>{}</channel></rss>'
    (real / "a.xml").write_text(rss.format(rows))
    (real / "twin.xml").write_text(rss.format("</item>".join(rows.split("</item>")[:5]) + "</item>"))
    (real / "nolink.xml").write_text(
        rss.format("<item><title>No link</title></item><item><title>Mail</title><link>mailto:x@y.net</link></item>")
    )
    (real / "atom.xml").write_text(
        '<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title><entry><id>urn:1</id><title>Atom one</title>'
        '<link href="http://atom.example/1"/></entry></feed>'
    )
    (real / "page.xml").write_text("<!doctype html><html><body>not a feed</body></html>")
    (real / "empty.xml").write_text("")
    (real / "map.xml").write_text(
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://map.example/1</loc></url>'
        "<url><loc>http://map.example/2</loc></url></urlset>"
    )
    counts = run(tmp_path, bus=MemoryBus(), redis_url=valkey, encoders=ENCODERS)
    assert counts["adds_up"], counts
    assert counts["files_unread"] == {"page.xml": "html", "empty.xml": "empty"}
    assert counts["without_link"] == 2
    assert counts["from_page"] > 25
    assert counts["from_feed"] > 3
    assert counts["dead"].get("page-gone", 0) > 0
    assert counts["duplicates"] >= 3


@pytest.mark.skipif("FRONTPAGE_DATASETS" not in os.environ, reason="the captured feeds are not on this machine")
def test_captured_feeds_add_up(valkey: str):
    counts = run(Path(os.environ["FRONTPAGE_DATASETS"]), bus=MemoryBus(), redis_url=valkey, encoders=ENCODERS)
    assert counts["adds_up"], counts
    # two files list other sitemaps, which nobody plays
    assert set(counts["files_unread"].values()) <= {"sitemap-index"}
    assert counts["files_read"] >= counts["files"] - 2
    assert counts["items"] > 350
    assert counts["from_page"] > counts["from_feed"] > 0
