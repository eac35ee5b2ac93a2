"""`frontpage inspect`: the shapes that other programs rely on, and its exit codes."""

import json

import pytest
import typer
from typer.testing import CliRunner

from frontpage.errors import UnreadableInput
from frontpage_cli.commands import inspect


@pytest.fixture
def run(tmp_path):
    app = typer.Typer()
    app.callback()(lambda: None)
    inspect.register(app)

    def call(*arguments, body=None, code=0):
        if body is not None:
            file = tmp_path / "input"
            file.write_bytes(body)
            arguments = (arguments[0], str(file), *arguments[1:])
        result = CliRunner().invoke(app, ["inspect", *arguments])
        assert result.exit_code == code, result.output
        return result

    return call


RSS = b"""<rss version="2.0"><channel><title>Bay</title><item><title>Pier</title><link>/pier</link>
<pubDate>Thu, 05 Mar 2026 10:00:00 GMT</pubDate></item></channel></rss>"""


def test_feed(run, tmp_path):
    headers = tmp_path / "headers.json"
    headers.write_text('{"content-type": "text/xml; charset=utf-8"}')
    found = json.loads(
        run("feed", "--url", "https://bay.test/f", "--headers", str(headers), "--now", "2026-03-06", body=RSS).stdout
    )
    assert set(found) == {"feed", "entries", "problems"}
    (entry,) = found["entries"]
    assert set(entry) >= {
        "id", "url", "title", "summary", "published_at", "updated_at", "authors", "categories", "image", "problems",
    }  # fmt: skip
    assert (entry["url"], entry["published_at"], entry["updated_at"]) == (
        "https://bay.test/pier",
        "2026-03-05T10:00:00Z",
        None,
    )


def test_a_refused_feed_prints_its_cause_and_fails(run):
    result = run("feed", "--url", "https://bay.test/f", body=b"<html>x</html>", code=1)
    assert json.loads(result.stdout) == {"feed": None, "entries": [], "problems": ["html"]}
    assert isinstance(result.exception, UnreadableInput)


def test_page(run):
    page = b"<html lang=en><head><title>Pier opens</title></head><body><p>The pier opens on Monday, the council said today.</p></body></html>"
    found = json.loads(
        run("page", "--url", "https://bay.test/2026/pier", "--now", "2026-03-06", "--json", body=page).stdout
    )
    assert set(found) == {
        "canonical_url", "syndicated_from", "title", "snippet", "authors", "published_at", "modified_at", "language",
        "declared_language", "dir", "image", "section", "kind", "paywalled", "publisher", "problems",
    }  # fmt: skip
    assert found["published_at"] is None
    assert found["kind"] == "news"


def test_url(run):
    found = json.loads(run("url", "https://bay.test/a?utm_source=x", "javascript:x").stdout)
    assert [set(row) for row in found] == [{"url", "canonical", "article_id", "fetch", "removed", "refused"}] * 2
    assert found[0]["canonical"] == "https://bay.test/a"
    assert found[1] == {
        "url": "javascript:x",
        "canonical": None,
        "article_id": None,
        "fetch": None,
        "removed": [],
        "refused": "scheme",
    }


def test_date(run):
    found = json.loads(run("date", "2026-03-05T10:00:00+01:00", "03/05/2026").stdout)
    assert found == [
        {"raw": "2026-03-05T10:00:00+01:00", "instant": "2026-03-05T09:00:00Z", "zone_known": True, "problems": []},
        {"raw": "03/05/2026", "instant": None, "zone_known": False, "problems": ["ambiguous"]},
    ]


def test_robots(run):
    found = json.loads(run("robots", "--agent", "baybot", "/a", "/b", body=b"User-agent: *\nDisallow: /a").stdout)
    assert found == {"allowed": {"/a": False, "/b": True}, "crawl_delay": None, "sitemaps": [], "problems": []}
    assert json.loads(run("robots", "--agent", "x", "--status", "500", "/a", body=b"").stdout)["allowed"] == {
        "/a": False
    }


def test_sitemap(run):
    body = (
        b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://bay.test/1</loc></url></urlset>'
    )
    found = json.loads(run("sitemap", "--url", "https://bay.test/map.xml", body=body).stdout)
    assert found == {
        "kind": "urlset",
        "entries": [{"url": "https://bay.test/1", "lastmod": None, "news": None}],
        "problems": [],
    }


@pytest.mark.parametrize(
    "arguments", [("feed", "/no/such/file"), ("date",), ("date", "x", "--now", "soon"), ("nonsense",)]
)
def test_usage_errors_are_code_two(run, arguments):
    run(*arguments, code=2)
