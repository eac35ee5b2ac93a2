"""The sample world holds what the demo, the parity tests and the benchmarks rely on, and says the truth about it."""

from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict

import pytest

from data_samples.model import Article
from data_samples.readers import clicks_on, taste
from data_samples.world import SPAN, START, World, build
from frontpage.domain.ids import article_id

#: Digest of build(seed=1). When it changes on purpose, change it here and say why in the commit.
GOLDEN = "07468922ebe7a6593b3d0eabb63418054304a4f23b7ccd33d8f95909634112ab"


@pytest.fixture(scope="module")
def world() -> World:
    return build()


def by_event(world: World) -> dict[str, list[Article]]:
    found = defaultdict(list)
    for article in world.articles:
        if article.event_id:
            found[article.event_id].append(article)
    return found


def shingles(text: str) -> set[tuple[str, ...]]:
    words = text.lower().split()
    return {tuple(words[i : i + 5]) for i in range(len(words) - 4)}


def test_the_same_seed_gives_the_same_world_to_the_byte(world: World) -> None:
    assert world.digest() == GOLDEN


def test_another_seed_gives_another_world_of_the_same_shape() -> None:
    other = build(seed=2)
    assert other.digest() != GOLDEN
    assert len(other.articles) >= 2000


def test_sizes(world: World) -> None:
    assert len(world.publishers) >= 150
    assert len(world.articles) >= 2000
    assert len({a.event_id for a in world.articles} - {None}) >= 200
    languages = Counter(a.language for a in world.articles)
    assert sum(count >= 150 for count in languages.values()) >= 5
    assert 0.4 <= languages["en"] / len(world.articles) <= 0.6
    assert sum(p.tier == "rewriter" and p.authority < 0.2 for p in world.publishers) == 50
    assert len({e.kind for e in world.events if e.language == "en"}) >= 25


def test_ids_are_frontpages_own_and_addresses_cannot_exist(world: World) -> None:
    assert len({a.id for a in world.articles}) == len({a.url for a in world.articles}) == len(world.articles)
    for article in world.articles:
        assert article.id == article_id(article.url)
        assert article.url.startswith(f"http://{world.publisher(article.publisher_id).host}/")
    assert all(p.host.endswith(".example") for p in world.publishers)


def test_every_article_lies_in_the_window_and_has_text_without_leftovers_of_the_grammar(world: World) -> None:
    for article in world.articles:
        assert START <= article.published_at < START + SPAN
        for version in article.versions:
            whole = "\n".join((version.title, version.summary, *version.paragraphs))
            assert version.title
            assert version.paragraphs
            assert not set("{}[]|") & set(whole), whole
            assert "  " not in whole


def test_bodies_are_of_the_length_of_short_news(world: World) -> None:
    lengths = sorted(len(a.text.split()) for a in world.articles if a.language == "en" and a.form == "report")
    assert lengths[len(lengths) // 2] >= 150
    assert lengths[-1] <= 500


def test_the_burst_meets_the_breaking_rule(world: World) -> None:
    first = [
        a
        for a in world.articles
        if a.event_id == world.burst_event and not a.copy_of and 0 <= a.published_at - world.burst_at < 300
    ]
    strong = {a.publisher_id for a in first if world.publisher(a.publisher_id).authority > 0.5}
    assert len(first) >= 15
    assert len(strong) >= 6
    assert world.burst_at == START + 46.5 * 3600


def test_the_time_of_the_burst_is_a_parameter() -> None:
    early = build(burst_hour=12.0)
    times = [a.published_at for a in early.articles if a.event_id == early.burst_event]
    assert min(times) >= START + 12 * 3600


def test_only_the_burst_meets_the_breaking_rule(world: World) -> None:
    for id, articles in by_event(world).items():
        if id == world.burst_event:
            continue
        times = sorted(
            a.published_at
            for a in articles
            if not a.copy_of and world.publisher(a.publisher_id).authority > 0.5 and a.language == "en"
        )
        assert not any(last - first < 300 for first, last in zip(times, times[14:], strict=False)), id


def test_one_post_is_rewritten_by_the_fifty(world: World) -> None:
    articles = by_event(world)["en-viral-parrot"]
    original = next(a for a in articles if a.form == "viral")
    rewrites = [a for a in articles if a.form == "rewrite"]
    assert len({a.publisher_id for a in rewrites}) == 50
    assert {a.copy_of for a in rewrites} == {original.id}


def test_wire_copies_share_the_text_and_independent_reports_do_not(world: World) -> None:
    """Containment of 5-word shingles, the measure that the copy decision starts from."""
    parts = {a.id: shingles(a.text) for a in world.articles}
    copies, independent = [], []
    for articles in by_event(world).values():
        news = [a for a in articles if a.kind == "news" and a.form in ("report", "followup", "wire")]
        for one, other in itertools.combinations(news, 2):
            smaller = min(len(parts[one.id]), len(parts[other.id]))
            if smaller and one.language == "en":
                independent.append(len(parts[one.id] & parts[other.id]) / smaller)
        for copy in articles:
            if copy.form.startswith("copy_") and copy.copy_of:
                share = len(parts[copy.id] & parts[copy.copy_of]) / len(parts[copy.id])
                copies.append(share if copy.form != "copy_extended" else 1.0)
    assert min(copies) > 0.75
    assert max(independent) < 0.5
    forms = Counter(a.form for a in world.articles)
    assert min(forms["copy_full"], forms["copy_cut"], forms["copy_extended"]) >= 50


def test_most_copies_stand_under_another_headline(world: World) -> None:
    titles = {a.id: a.title for a in world.articles}
    copies = [a for a in world.articles if a.form.startswith("copy_")]
    assert sum(a.title != titles[a.copy_of or ""] for a in copies) > len(copies) / 2


def test_copies_come_after_what_they_copy(world: World) -> None:
    times = {a.id: a.published_at for a in world.articles}
    assert all(times[a.copy_of] < a.published_at for a in world.articles if a.copy_of)


def test_hard_cases_are_there(world: World) -> None:
    forms = Counter(a.form for a in world.articles)
    assert forms["followup"] >= 50
    assert forms["weather"] >= 40
    assert forms["result"] >= 20
    assert forms["market"] >= 20
    assert forms["roundup"] >= 10
    assert forms["live"] == 1
    assert sum(a.redated for a in world.articles) >= 8
    assert sum(a.corrected for a in world.articles) >= 30
    assert sum(a.paywalled for a in world.articles) >= 100
    places = {a.place for a in world.articles if a.section == "local" and a.form == "report"}
    assert len(places) >= 20


def test_round_ups_and_the_live_blog_touch_two_events_and_belong_to_none(world: World) -> None:
    ids = {e.id for e in world.events}
    for article in world.articles:
        if article.form in ("roundup", "live"):
            assert article.event_id is None
            assert len(set(article.touches)) == 2
            assert set(article.touches) <= ids


def test_a_redated_piece_keeps_address_and_text_and_claims_a_new_date(world: World) -> None:
    for article in (a for a in world.articles if a.redated):
        first, last = article.versions[0], article.versions[-1]
        assert last.claimed_at - first.claimed_at > 20 * 3600
        assert last.paragraphs == first.paragraphs
        assert article.version_at(last.at - 1) == first
        assert article.version_at(last.at) == last


def test_comment_is_marked_for_some_and_left_to_the_reader_for_others(world: World) -> None:
    for kind, type, folder in (
        ("opinion", "OpinionNewsArticle", "/opinion/"),
        ("fact_check", "ClaimReview", "/fact-check/"),
    ):
        articles = [a for a in world.articles if a.kind == kind]
        marked = [a for a in articles if a.schema_type == type]
        assert len(articles) >= 10
        assert 0 < len(marked) < len(articles)
        assert all(folder in a.url for a in marked)
        assert not any(folder in a.url for a in articles if a not in marked)


def test_one_event_in_three_languages_has_one_group(world: World) -> None:
    groups = defaultdict(set)
    for event in world.events:
        groups[event.group].add(event.language)
    assert groups["three-languages"] == {"en", "de", "fr"}
    assert {"en", "es", "fr"} <= groups["burst"]
    sheets = [e.sheet for e in world.events if e.group == "three-languages"]
    assert len({(s["o1"], s["o2"], s["p1"], s["jobs"], s["founded"]) for s in sheets}) == 1


def test_developing_numbers_never_fall(world: World) -> None:
    """The toll of the burst as each report in order of time states it, read back from the leads and headlines."""
    event = next(e for e in world.events if e.id == world.burst_event)
    reports = [a for a in world.articles if a.event_id == event.id and a.form == "followup"]
    assert reports
    tolls = [int(word) for a in reports for word in a.title.replace(",", " ").split() if word.isdigit()]
    assert tolls == sorted(tolls)
    assert tolls[-1] <= int(event.sheet["dead"])


def test_readers_click_what_they_like(world: World) -> None:
    readers = {r.id: r for r in world.readers}
    assert len(readers) >= 300
    assert len(world.clicks) >= 1000
    places = {a.id: a.place for a in world.articles}
    clicked = [taste(readers[c.reader_id], c.section, c.publisher_id, places[c.article_id]) for c in world.clicks]
    assert sum(value > 0.5 for value in clicked) / len(clicked) > 0.6
    times = [c.at for c in world.clicks]
    assert times == sorted(times)
    published = {a.id: a.published_at for a in world.articles}
    assert all(published[c.article_id] < c.at for c in world.clicks)


def test_clicks_on_given_impressions_fall_with_the_position(world: World) -> None:
    from random import Random

    from data_samples.model import Impression

    reader = max(world.readers, key=lambda r: r.activity)
    section = max(reader.sections, key=lambda s: reader.sections[s])
    shown = [Impression(START, reader.id, "a", "nobody", section, position % 20) for position in range(8000)]
    positions = Counter(c.position for c in clicks_on(reader, shown, Random(5)))
    assert sum(positions[p] for p in range(5)) > 2 * sum(positions[p] for p in range(15, 20))
    assert clicks_on(reader, shown, Random(5)) == clicks_on(reader, shown, Random(5))


def test_registry_and_feeds_agree(world: World) -> None:
    rows = {row.publisher_id: row for row in world.publishers_as_registry()}
    feeds = world.feeds()
    assert {feed["publisher_id"] for feed in feeds} == set(rows)
    assert Counter(feed["kind"] for feed in feeds).keys() == {"rss", "atom", "json", "sitemap"}
    per_site = Counter(feed["publisher_id"] for feed in feeds)
    assert set(per_site.values()) <= {1, 2, 3}
    assert len({feed["url"] for feed in feeds}) == len(feeds)
    assert any(row.opted_out for row in rows.values())
    assert any(row.wire for row in rows.values())
    assert any(not row.snippet_allowed for row in rows.values())
    assert any(not row.thumb_allowed for row in rows.values())


def test_truth_is_json_and_covers_every_article(world: World) -> None:
    truth = json.loads(json.dumps(world.truth()))
    assert truth["articles"].keys() == {a.id for a in world.articles}
    assert truth["readers"].keys() == {r.id for r in world.readers}
    assert {row["event"] for row in truth["articles"].values()} - {None} <= truth["events"].keys()


def test_rows_for_the_clusterer_are_in_order_of_publication(world: World) -> None:
    rows = world.articles_for_cluster("en")
    assert {row["lang"] for row in rows} == {"en"}
    assert [row["published_at"] for row in rows] == sorted(row["published_at"] for row in rows)
    assert all(row["story"] or row["form"] in ("roundup", "live") for row in rows)
