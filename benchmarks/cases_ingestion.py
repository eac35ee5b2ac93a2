"""The labelled ingestion cases of a directory (FRONTPAGE_CASES), each judged through `frontpage inspect ...`.

    python -m benchmarks.cases_ingestion [DIR]

`run(cases_dir)` gives one row per case: (name, whether all of it holds, what does not). The command itself is run, in
this process, so that the contract of its output is judged with it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from frontpage.domain.dates import effective_time, parse_date, settle

Row = tuple[str, bool, str]


def inspect(*arguments: str) -> Any:
    """The JSON that `frontpage inspect <arguments>` prints; a refusal (exit code 1) still prints its JSON."""
    import typer
    from typer.testing import CliRunner

    from frontpage_cli.commands import inspect as command

    app = typer.Typer()
    app.callback()(lambda: None)
    command.register(app)
    result = CliRunner().invoke(app, ["inspect", *arguments])
    if result.exit_code not in (0, 1):
        raise AssertionError(f"exit code {result.exit_code}: {result.output[:300]}")
    return json.loads(result.stdout)


class Case:
    """One case folder and the complaints about it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.faults: list[str] = []

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def load(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text("utf-8"))

    def same(self, what: str, found: object, *expected: object) -> None:
        if found not in expected:
            self.faults.append(f"{what}: {found!r:.120} is not {expected[0]!r:.120}")

    def true(self, what: str, condition: bool) -> None:
        if not condition:
            self.faults.append(what)


def _feed(case: Case, name: str, url: str, **options: str) -> Any:
    extra = [part for key, value in options.items() for part in (f"--{key}", value)]
    return inspect("feed", case.path(name), "--url", url, *extra)


def _case_001(case: Case) -> None:
    expected = case.load("expected.json")
    found = _feed(case, "feed.xml", "https://zpravy.example.com/rss", headers=case.path("headers.json"))
    case.same("titles", [e["title"] for e in found["entries"]], expected["titles"])
    case.true("flag", expected["flag"] in found["problems"])


def _case_002(case: Case) -> None:
    expected = case.load("expected.json")
    found = _feed(case, "feed.xml", "https://town.example.org/rss")
    case.same("titles", [e["title"] for e in found["entries"]], expected["titles"])
    case.same("links", [e["url"] for e in found["entries"]], expected["links"])
    case.true("flag", expected["flag"] in found["problems"])
    text = json.dumps(found, ensure_ascii=False)
    case.true(
        "no control characters", not any((ord(c) < 32 and c not in "\t\n\r") or 0x7F <= ord(c) < 0xA0 for c in text)
    )


def _case_003(case: Case) -> None:
    expected = case.load("expected.json")
    found = _feed(case, "feed.xml", expected["retrieved_from"])
    case.same("links", [e["url"] for e in found["entries"]], expected["links"])
    case.same("images", [e["image"] for e in found["entries"]], expected["images"])


def _case_004(case: Case) -> None:
    expected = case.load("expected.json")
    found = _feed(case, "feed.xml", "https://mix.example.com/rss")
    case.same("links", [e["url"] for e in found["entries"]], expected["links"])
    case.same("ids", [e["id"] for e in found["entries"]], expected["ids"])
    case.true("a reason for each item without a link", all(e["url"] or e["problems"] for e in found["entries"]))


def _case_007(case: Case) -> None:
    rows = case.load("dates.json")
    found = inspect("date", *[row["raw"] for row in rows])
    for row, reading in zip(rows, found, strict=True):
        case.same(row["raw"], reading["instant"], row["expected"], *row.get("or", []))


def _case_009(case: Case) -> None:
    expected = case.load("expected.json")
    seen: dict[str, float] = {}
    effective: dict[str, float] = {}
    for poll in ("poll1", "poll2"):
        now = parse_date(expected["clock"][poll]).instant or 0.0
        found = _feed(case, f"{poll}.xml", "https://desk.example.net/rss", now=expected["clock"][poll])
        for entry in found["entries"]:
            first = seen.setdefault(entry["id"], now)
            effective[entry["id"]] = effective_time(parse_date(entry["published_at"]).instant, first)
    for item, stated in expected["effective_time_after_poll2"].items():
        case.same(item, effective[item], parse_date(stated.split(" ")[0]).instant)
    order = sorted(effective, key=lambda item: -effective[item])
    case.true("newest first", order[0] == "p7" and order[-1] == "p6")


def _case_010(case: Case) -> None:
    expected = case.load("expected.json")
    for name in ("page.html", "page-no-date.html"):
        url = f"https://lequai.example.com/{name}"
        found = inspect("page", case.path(name), "--url", url, "--now", expected["fetched_at"])
        case.same(name, found["published_at"], expected[name]["published"])
        if "modified" in expected[name]:
            case.same(f"{name} modified", found["modified_at"], expected[name]["modified"])


def _canonicals(urls: list[str]) -> list[str]:
    return [inspect("url", url)[0]["canonical"] for url in urls]


def _groups(case: Case, urls: dict[str, Any]) -> None:
    for group in urls.get("keep_apart", []):
        case.true(f"keep apart {group[0]}", len(set(_canonicals(group))) == len(group))
    for group in [*urls.get("same", []), *urls.get("same_key_different_fetch", [])]:
        case.same(f"same {group[0]}", len(set(_canonicals(group))), 1)
    for group in urls.get("same_key_different_fetch", []):
        case.same("fetch", [row["fetch"] for row in inspect("url", *group)], group)
    for url in urls.get("idempotent", []):
        once = _canonicals([url])
        case.same(f"twice {url}", _canonicals(once), once)
    for url in urls.get("fetch_unchanged", []):
        case.same("fetch", inspect("url", url)[0]["fetch"], url)


def _case_urls(case: Case) -> None:
    _groups(case, case.load("urls.json"))


def _case_019(case: Case) -> None:
    _groups(case, case.load("urls.json"))
    found = _feed(case, "feed.xml", "https://proxy.example/desk.xml")
    case.same("one article", [e["url"] for e in found["entries"]], ["https://desk.example.com/2026/bridge.html"])


def _case_020(case: Case) -> None:
    expected = case.load("expected.json")
    keys = set()
    for name, row in expected.items():
        if not isinstance(row, dict):
            continue
        found = inspect("page", case.path(name), "--url", row["fetched"])
        case.same(name, found["canonical_url"], row["canonical"])
        case.same(f"{name} syndicated", found["syndicated_from"], row.get("syndicated_from"))
        keys.add(found["canonical_url"])
    case.same("distinct", len(keys), expected["distinct_articles"])


def _case_021(case: Case) -> None:
    body = "<p>The council met on Monday and spoke for three hours about the matter before it went home.</p>"
    for row in case.load("titles.json"):
        with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8") as file:
            title = row["title"].replace("&", "&amp;").replace("<", "&lt;")
            head = f"<!doctype html><html><head><meta charset=utf-8><title>{title}</title></head>"
            file.write(f"{head}<body>{body}</body></html>")
            file.flush()
            found = inspect("page", file.name, "--url", "https://paper.test/2026/a", "--site-name", row["site_name"])
        case.same(row["title"], found["title"], row["expected"], *row.get("or", []))


def _case_023(case: Case) -> None:
    for name, row in case.load("expected.json").items():
        found = inspect("page", case.path(name), "--url", f"https://bus.example.com/2026/{name}")
        case.same(name, found["language"], row["language"])
        if "direction" in row:
            case.same(f"{name} dir", found["dir"], row["direction"])
        if "declared" in row:
            case.same(f"{name} declared", found["declared_language"], row["declared"])


def _case_029(case: Case) -> None:
    urls = case.load("urls.json")
    for url in urls["deny"]:
        case.true(f"deny {url}", inspect("url", url)[0]["refused"] is not None)
    for url in urls["allow"]:
        case.same(f"allow {url}", inspect("url", url)[0]["refused"], None)
    for chain in urls["redirects"]:
        refused = [inspect("url", url)[0]["refused"] for url in chain["chain"]]
        case.same(chain["id"], any(refused), chain["verdict"].startswith("deny"))
    for body in case.load("bodies.json"):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(body["body"])
            file.flush()
            found = inspect("feed", file.name, "--url", "https://feeds.example.com/rss")
        case.true(body["id"], found["entries"] == [] and bool(found["problems"]))


def _case_031(case: Case) -> None:
    expected = case.load("expected.json")
    found = _feed(case, "feed.xml", "https://lk.example.com/feed.xml")
    links = {entry["title"]: entry["url"] for entry in found["entries"]}
    case.same("titles", set(links), set(expected["links"]))
    case.same("links", links, expected["links"])


def _case_034(case: Case) -> None:
    for name, row in case.load("expected.json").items():
        if not isinstance(row, dict) or "urls" not in row or not (case.folder / name).exists():
            continue
        if name == "index-self.xml":
            _walk(case, name, row)
            continue
        found = inspect("sitemap", case.path(name), "--url", f"https://map.example.com/{name}")
        case.same(name, len(found["entries"]), row["urls"])
        case.true(f"{name} reason", bool(found["problems"]) == ("reason" in row))
    trimmed = inspect("sitemap", case.path("b-real.xml.gz"), "--url", "https://map.example.com/b.xml.gz")
    case.same("trimmed", trimmed["entries"][1]["url"], case.load("expected.json")["urls_trimmed"])
    chain = case.load("index-chain.json")
    from frontpage.adapters.parse.sitemap_walk import walk

    head = '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    index = head + "<sitemap><loc>{}</loc></sitemap></sitemapindex>"
    asked: list[str] = []

    def endless(url: str) -> bytes:
        asked.append(url)
        return index.format(f"https://map.example.com/chain/{len(asked)}.xml").encode()

    walk("https://map.example.com/chain/0.xml", endless)
    case.true(f"endless chain: {len(asked)} requests", len(asked) <= chain["max_requests"])


def _walk(case: Case, name: str, row: dict[str, Any]) -> None:
    from frontpage.adapters.parse.sitemap_walk import walk

    asked: list[str] = []

    def read(url: str) -> bytes | None:
        asked.append(url)
        file = case.folder / url.rpartition("/")[2]
        return file.read_bytes() if file.exists() else None

    found = walk(f"https://map.example.com/{name}", read)
    case.same(name, len(found.entries), row["urls"])
    case.same(f"{name} requests", len(asked), row["requests"])


def _case_035(case: Case) -> None:
    expected = case.load("expected.json")
    clock = expected["clock"]
    feed = _feed(case, "feed.xml", "https://nm.example.com/feed", now=clock["poll1"])
    stated = {entry["url"]: parse_date(entry["published_at"]).instant for entry in feed["entries"]}
    sitemap = inspect("sitemap", case.path("poll1.xml"), "--url", "https://nm.example.com/news.xml")
    case.true("lastmod is not trusted", "lastmod_untrusted" in sitemap["problems"])
    articles = [row for row in sitemap["entries"] if row["news"]]
    case.same("articles", len(articles), expected["articles"])
    for row in articles:
        wanted = expected["published"][row["url"]]
        if "day only" in wanted:
            case.same(row["url"], row["news"]["published_at"], wanted.split(" ")[0])
            continue
        instant, doubt = settle(parse_date(row["news"]["published_at"]).instant, stated.get(row["url"]))
        case.same(row["url"], instant, parse_date(wanted).instant)
        case.same("doubt", doubt, "offset +02:00 doubtful")
    as_feed = _feed(case, "poll1.xml", "https://nm.example.com/news.xml", now=clock["poll1"])
    again = _feed(case, "poll2.xml", "https://nm.example.com/news.xml", now=clock["poll2"])
    case.same("rows with news only", len(as_feed["entries"]), expected["page_fetches"]["poll1"])
    new = [e for e in again["entries"] if e not in as_feed["entries"]]
    case.same("second poll brings nothing", len(new), expected["page_fetches"]["poll2"])


CASES: dict[str, Callable[[Case], None]] = {
    "001": _case_001, "002": _case_002, "003": _case_003, "004": _case_004, "007": _case_007, "009": _case_009,
    "010": _case_010, "016": _case_urls, "018": _case_urls, "019": _case_019, "020": _case_020, "021": _case_021,
    "023": _case_023, "029": _case_029, "031": _case_031, "034": _case_034, "035": _case_035,
}  # fmt: skip


def run(cases_dir: str | Path) -> list[Row]:
    """(name, ok, detail) for every ingestion case found in `cases_dir`."""
    return list(_rows(Path(cases_dir)))


def _rows(root: Path) -> Iterator[Row]:
    for number, judge in CASES.items():
        for folder in sorted(root.glob(f"{number}-*")):
            case = Case(folder)
            try:
                judge(case)
            except Exception as error:  # noqa: BLE001 - a case that breaks the command is a failed case
                case.faults.append(f"{type(error).__name__}: {error}")
            yield folder.name, not case.faults, "; ".join(case.faults)


if __name__ == "__main__":
    directory = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("FRONTPAGE_CASES", "")
    results = run(directory)
    for name, ok, detail in results:
        print("ok  " if ok else "FAIL", name, detail)
    sys.exit(0 if results and all(ok for _, ok, _ in results) else 1)
