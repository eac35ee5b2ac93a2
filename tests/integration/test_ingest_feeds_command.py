"""`frontpage feeds ...` against a real Valkey and a local server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
import typer
from fakes.web import LocalServer
from typer.testing import CliRunner

from frontpage_cli.commands import feeds


@pytest.fixture
def run(valkey: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("REDIS_URL", valkey)
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:1")
    app = typer.Typer()
    feeds.register(app)

    def invoke(*words: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, ["feeds", *words])
        assert result.exit_code == code, (result.output, result.exception)
        return result.stdout

    return invoke


@pytest.fixture
def server() -> Iterator[LocalServer]:
    server = LocalServer()
    yield server
    server.close()


def test_lists_go_in_and_out_with_their_folders(run, tmp_path):
    given = tmp_path / "in.opml"
    given.write_text(
        '<opml version="2.0"><body><outline text="News"><outline text="Paper" xmlUrl="https://paper.example/feed"/>'
        '</outline><outline text="bad" xmlUrl="javascript:alert(1)"/></body></opml>'
    )
    report = json.loads(run("import", str(given), "--json"))
    assert (report["added"], report["known"], report["publishers"]) == (1, 0, 1)
    assert report["skipped"] == [{"url": "javascript:alert(1)", "cause": "scheme"}]
    assert json.loads(run("import", str(given), "--json"))["known"] == 1
    out = tmp_path / "out.opml"
    run("export", str(out))
    assert 'text="News"' in out.read_text()
    assert "https://paper.example/feed" in out.read_text()


def test_add_list_remove_and_report(run, monkeypatch):
    run("add", "https://paper.example/feed", "--title", "Paper", "--folder", "News/World", "--authoritative")
    (row,) = json.loads(run("list", "--json"))
    assert (row["url"], row["folder"], row["publisher_id"]) == (
        "https://paper.example/feed",
        "News/World",
        "paper.example",
    )
    assert row["next_at"].endswith("Z")
    assert row["last_at"] is None
    report = json.loads(run("report", "--json"))
    assert (report["total"]["feeds"], report["total"]["polls"], report["total"]["delay_seconds"]) == (1, 0, None)
    monkeypatch.setenv("COLUMNS", "80")
    narrow = run("report", "--by", "feed")
    heads = ["name", "feeds", "polls", "304", "waste", "failed", "new", "delay", "audit", "/min", "gone"]
    assert re.split(r"\s{2,}", narrow.splitlines()[0].strip()) == heads, "nothing is cut"
    monkeypatch.setenv("COLUMNS", "140")
    assert "https://paper.example/feed" in run("report", "--by", "feed")
    run("remove", "https://paper.example/feed")
    assert json.loads(run("list", "--json")) == []
    run("add", "file:///etc/passwd", code=1)
    run("add", "https://other.example/feed", "--publisher", "nosuch", code=1)
    assert json.loads(run("list", "--json")) == [], "a publisher that does not exist is no wish for another one"
    run("report", "--by", "colour", code=2)


def test_a_feed_is_removed_by_its_address_or_its_id_and_an_unknown_one_is_named(run):
    for url in ("https://paper.example/feed.xml", "https://paper.example/rss?id=1", "https://paper.example/"):
        run("add", url)
        run("remove", url)
        assert json.loads(run("list", "--json")) == []
    run("add", "https://paper.example/feed.xml")
    run("remove", json.loads(run("list", "--json"))[0]["feed_id"])
    assert json.loads(run("list", "--json")) == []
    for unknown in ("https://paper.example/feed.xml", "no address", "f0123456789abcdef"):
        with pytest.raises(AssertionError, match=f"no feed {unknown}"):
            run("remove", unknown)


RSS = (
    '<rss version="2.0"><channel><title>{title}</title><link>https://paper.example/</link>'
    "<item><title>A</title><link>https://paper.example/{title}/a</link></item></channel></rss>"
)


@pytest.fixture
def site(server, monkeypatch) -> LocalServer:
    """paper.example: a front page that declares a dead feed, the comments, two feeds of articles and one internal."""
    monkeypatch.setenv("FRONTPAGE_RESOLVER", f"127.0.0.1:{server.port}")
    links = "".join(
        f'<link rel="alternate" type="application/rss+xml" href="{href}">'
        for href in ("/dead", "/comments/feed", "http://127.0.0.1:6379/", "/secret/feed", "main.xml", "/sport.xml")
    )
    server.on("paper.example/", f"<!doctype html><html><head><base href='/feeds/'>{links}</head><body>Hi</body></html>")
    for path in ("feeds/main.xml", "sport.xml", "comments/feed", "secret/feed"):
        server.on(f"paper.example/{path}", RSS.format(title=path.split("/")[-1].split(".")[0]))
    server.on("paper.example/robots.txt", "User-agent: *\nDisallow: /secret/\n", Content_Type="text/plain")
    return server


def test_a_site_is_added_by_its_best_feed(run, site):
    told = run("add", "https://paper.example/", "--folder", "News")
    assert "+ https://paper.example/feeds/main.xml  main" in told
    assert "- https://paper.example/sport.xml" in told
    assert "comments or a search" in told
    (row,) = json.loads(run("list", "--json"))
    assert (row["url"], row["title"], row["folder"]) == ("https://paper.example/feeds/main.xml", "main", "News")
    assert site.hits["paper.example/secret/feed"] == 0, "robots.txt holds for guesses, too"


def test_all_feeds_of_a_site_or_none_but_a_report(run, site):
    seen = json.loads(run("add", "https://paper.example/", "--dry-run", "--json"))
    assert (seen["added"], seen["chosen"], seen["cause"]) == (0, [], None)
    assert [(one["url"], one["via"], one["aside"]) for one in seen["found"]] == [
        ("https://paper.example/feeds/main.xml", "link", False),
        ("https://paper.example/sport.xml", "link", False),
        ("https://paper.example/comments/feed", "link", True),
    ]
    assert {(one["url"], one["cause"]) for one in seen["missed"]} == {
        ("https://paper.example/dead", "http-404"),
        ("http://127.0.0.1:6379/", "loopback"),
        ("https://paper.example/secret/feed", "robots"),
    }
    assert json.loads(run("list", "--json")) == []
    added = json.loads(run("add", "https://paper.example/", "--all", "--json"))
    assert (added["added"], len(added["chosen"])) == (2, 2)
    assert json.loads(run("add", "https://paper.example/sport.xml", "--json"))["known"] == 1


def test_a_site_without_feeds_says_why(run, site):
    site.on("empty.example/", "<!doctype html><html><body>nothing</body></html>")
    seen = json.loads(run("add", "https://empty.example/", "--json", code=1))
    assert (seen["cause"], seen["added"], seen["chosen"]) == ("no-feeds", 0, [])
    assert {"url": "https://empty.example/rss.xml", "cause": "http-404"} in seen["missed"]
    for address, cause in (("http://127.0.0.1:6379/", "loopback"), ("https://paper.example/dead", "http-404")):
        assert json.loads(run("add", address, "--json", code=1))["cause"] == cause
    assert json.loads(run("list", "--json")) == []


def test_what_does_not_answer_now_or_is_not_to_be_asked_is_added_as_it_is(run, site):
    site.on("down.example/feed", "later", status=503)
    seen = json.loads(run("add", "https://down.example/feed", "--json"))
    assert (seen["added"], seen["chosen"], seen["cause"]) == (1, ["https://down.example/feed"], "http-503")
    assert json.loads(run("add", "https://down.example/feed", "--dry-run", "--json", code=1))["known"] == 0
    assert json.loads(run("add", "https://blind.example/feed", "--unchecked", "--json"))["added"] == 1
    assert site.hits["blind.example/feed"] == 0


def test_the_default_list_is_added_and_keeps_schedules(run, tmp_path):
    report = json.loads(run("import", "--default", "--json"))
    assert (report["added"] > 280, report["known"], report["skipped"]) == (True, 0, [])
    rows = json.loads(run("list", "--json"))
    assert {row["folder"].count("/") for row in rows} == {1}
    assert json.loads(run("import", "--default", "--json"))["known"] == len(rows)
    run("import", code=2)
    given = tmp_path / "in.opml"
    given.write_text("<opml/>")
    run("import", str(given), "--default", code=2)


def test_check_says_what_a_poll_would_find(run, server, monkeypatch):
    monkeypatch.setenv("FRONTPAGE_RESOLVER", f"127.0.0.1:{server.port}")
    server.on(
        "paper.example/feed",
        '<rss version="2.0"><channel><title>Paper</title><item><title>A</title><link>https://paper.example/a</link></item></channel></rss>',
        ETag='"1"',
    )
    server.on("paper.example/page", "<!doctype html><html><body>hello</body></html>")
    found = json.loads(run("check", "https://paper.example/feed", "--json"))
    assert (found["status"], found["entries"], found["title"], found["etag"]) == (200, 1, "Paper", '"1"')
    page = json.loads(run("check", "https://paper.example/page", "--json", code=1))
    assert (page["cause"], "feeds add" in page["detail"]) == ("html", True)
    assert json.loads(run("check", "http://127.0.0.1:6379/", "--json", code=1))["cause"] == "loopback"
    assert "http-404" in run("check", "https://paper.example/none", code=1)
