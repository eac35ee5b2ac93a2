"""Shared pages: the same cacheable bytes for everyone, from memory, whatever happens to Redis."""

import threading
import time

import feedparser
import pytest
from fakes.pages import PAPERS
from fakes.serving_app import NOW, bearer

from frontpage.contracts.views import PAGE, PAGE_LATEST, PUBLISHER, Publisher

SHARED = [
    "/v1/editions", "/v1/editions/en-US/top", "/v1/editions/en-US/science", "/v1/editions/en-US/version",
    "/v1/editions/en-US/top.rss", "/v1/editions/en-US/top.atom", "/v1/editions/en-US/top.json", "/v1/top?limit=5",
    "/v1/topics/space", "/v1/topics/space.rss", "/v1/editions/en-US/local/elm-valley", "/v1/stories/0story0000003",
    "/v1/publishers/harbour-post/dashboard", "/en-US/top", "/stories/0story0000003", "/en-US/topics/space",
    "/en-US/local/elm-valley", "/ar-EG/top",
]  # fmt: skip


def test_shared_answers_are_cacheable_and_the_same_bytes_for_every_reader(world):
    for path in SHARED:
        _same_for_everyone(world, path)


def _same_for_everyone(world, path):
    ann = world.client.get(path, headers={"User-Agent": "Ann", "Accept-Language": "de", "X-Forwarded-For": "10.0.0.1"})
    bob = world.client.get(path, headers={"User-Agent": "Bob", "Accept-Language": "fr"})
    assert ann.status_code == 200, ann.text
    assert ann.content == bob.content
    assert ann.headers["etag"] == bob.headers["etag"]
    seconds = 300 if "/local/" in path else 30 if "/stories/" in path else 60
    assert ann.headers["cache-control"] == f"public, s-maxage={seconds}, stale-while-revalidate=60, stale-if-error=3600"
    assert "set-cookie" not in ann.headers
    assert ann.headers.get("vary") == "Accept-Encoding"


def test_credentials_are_refused_on_shared_routes(world):
    for path in [*SHARED, "/thumb/t0", "/"]:
        for header in ({"Cookie": "a=b"}, {"Authorization": "Bearer x"}):
            _refused(world, path, header)


def _refused(world, path, header):
    answer = world.client.get(path, headers=header)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"].endswith("credentials-on-shared-route")
    assert answer.headers["cache-control"] == "no-store"


def test_a_matching_etag_gets_304_and_gzip_has_its_own(world):
    for path in SHARED:
        _revalidates(world, path)


def _revalidates(world, path):
    plain = world.client.get(path, headers={"Accept-Encoding": "identity"})
    packed = world.client.get(path, headers={"Accept-Encoding": "gzip"})
    assert packed.content == plain.content
    if packed.headers.get("content-encoding") == "gzip":
        assert packed.headers["etag"] != plain.headers["etag"]
    for tag in (plain.headers["etag"], "W/" + plain.headers["etag"], f'"x", {packed.headers["etag"]}', "*"):
        again = world.client.get(path, headers={"If-None-Match": tag})
        assert again.status_code == 304
        assert again.content == b""
        assert "cache-control" in again.headers
    assert world.client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200


@pytest.mark.parametrize("suffix", ["rss", "atom"])
def test_syndication_feeds_are_well_formed_and_link_through_us(world, suffix):
    parsed = feedparser.parse(world.client.get(f"/v1/editions/en-US/top.{suffix}").content)
    assert not parsed.bozo
    assert len(parsed.entries) == 30
    assert parsed.entries[0].title.startswith("Strong earthquake")
    assert parsed.entries[0].link.startswith("https://news.example/r/")


def test_json_feed_and_top_agree_with_the_page(world):
    page = world.client.get("/v1/editions/en-US/top").json()
    feed = world.client.get("/v1/editions/en-US/top.json").json()
    top = world.client.get("/v1/top?locale=en-US&limit=3").json()
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert [i["id"] for i in feed["items"]] == [c["cluster_id"] for c in page["items"]]
    assert top["items"] == page["items"][:3]
    assert top["as_of"] == "2026-03-02T12:00:00Z"
    first = page["items"][0]
    assert (first["label"], first["sources"], first["more_sources"]) == ("breaking", 12, 11)
    assert page["items"][1]["top_article"]["label"] == "paywall", "Market Lens is paywalled in the registry"


def test_a_moved_pointer_arrives_by_message_and_a_lost_message_by_comparison(world):
    stop = threading.Event()
    follower = threading.Thread(target=world.serving.memory.follow, args=(stop,))
    follower.start()
    try:
        _until(lambda: world.store.pubsub_numsub("pages")[0][1] == 1)
        version = world.day.publish(world.day.cards[1:])
        _until(lambda: world.client.get("/v1/editions/en-US/top").json()["version"] == version)
        world.store.set(PAGE_LATEST.key(edition="en-US", section="top"), 1)  # a rollback that tells nobody
        _until(lambda: world.client.get("/v1/editions/en-US/top").json()["version"] == 1, 10)
    finally:
        stop.set()
        follower.join()


def test_an_unreadable_page_keeps_the_previous_one_and_does_not_stop_the_others(world):
    version = world.day.publish(world.day.cards)
    world.store.set(PAGE.key(edition="en-US", section="top", n=version), b'{"edition": "en-US"')
    world.serving.memory.refresh()
    assert world.client.get("/v1/editions/en-US/top").json()["version"] == 1
    assert world.client.get("/v1/editions/en-US/science").json()["version"] == version
    assert "page_errors_total" in world.client.get("/metrics").text


def test_without_redis_pages_come_from_memory(world):
    before = world.client.get("/v1/editions/en-US/top").content
    story = world.client.get("/v1/stories/0story0000002").json()
    world.store.shutdown(nosave=True)
    assert world.client.get("/v1/editions/en-US/top").content == before
    assert world.client.get("/en-US/top").status_code == 200
    assert world.client.get("/v1/stories/0story0000002").json() == story
    unread = world.client.get("/v1/stories/0story0000004").json()
    assert unread["headline"].startswith("Volunteers rebuild"), "from the card in memory"
    unknown = world.client.get("/v1/stories/0nobodyknows1")
    assert (unknown.status_code, unknown.headers["retry-after"]) == (503, "5")
    assert world.client.get("/readyz").status_code == 200


def test_a_stalled_ranker_shows_the_age_and_after_an_hour_nothing(world):
    world.clock.at = NOW + 12 * 60
    world.serving.memory.refresh()
    page = world.client.get("/v1/editions/en-US/top")
    assert page.json()["stale"] is True
    assert page.json()["age_seconds"] == 720
    assert page.headers["frontpage-snapshot-age"] == "720"
    assert "12 minutes old" in world.client.get("/en-US/top").text
    world.clock.at = NOW + 3_601
    gone = world.client.get("/v1/editions/en-US/top")
    assert (gone.status_code, gone.headers["content-type"]) == (503, "application/problem+json")
    world.serving.memory.pools.clear()
    for_you = world.client.get("/v1/feed", headers=bearer("ann"))
    assert for_you.status_code == 503
    assert for_you.json()["type"].endswith("no-fresh-page"), "no store is away: nothing is ranked"
    world.day.publish(world.day.cards, generated_at=world.clock.at)
    world.serving.memory.refresh()
    assert world.client.get("/v1/editions/en-US/top").json()["stale"] is False


def test_in_an_accelerated_replay_the_hour_is_a_real_hour(world):
    world.clock.speed = 60.0
    world.clock.at = NOW + 2 * 3_600
    assert world.client.get("/v1/editions/en-US/top").status_code == 200


def test_display_obeys_the_publishers_table_as_it_is_now(world):
    for id, changes in (("harbour-post", {"opted_out": True}), ("northern-wire", {"snippet_allowed": False})):
        old = Publisher.model_validate_json(world.store.get(PUBLISHER.key(publisher=id)))
        world.store.set(PUBLISHER.key(publisher=id), old.model_copy(update=changes).model_dump_json())
    world.day.publish(world.day.cards)
    world.serving.memory.refresh()
    page = world.client.get("/v1/editions/en-US/top").json()
    articles = [a for c in page["items"] for a in (c["top_article"], *c["supporting"])]
    assert "harbour-post" not in {a["publisher_id"] for a in articles}
    wire = [a for a in articles if a["publisher_id"] == "northern-wire"]
    assert wire
    assert all(a["snippet"] == "" for a in wire)
    story = world.client.get("/v1/stories/0story0000000").json()
    assert "The Harbour Post" not in story["publishers"]


def test_local_pages_hold_stories_that_name_the_place_or_come_from_it(world):
    page = world.client.get("/v1/editions/en-US/local/elm-valley").json()
    assert page["items"]
    home = {p[0] for p in PAPERS if p[4] == "Elm Valley"}
    places = {card.story_id: card.places for card in world.day.cards}
    for card in page["items"]:
        assert "Elm Valley" in places[card["story_id"]] or card["top_article"]["publisher_id"] in home
    assert world.client.get("/v1/editions/en-US/local/atlantis").status_code == 404


ERRORS = [
    ("/v1/editions/xx-XX/top", 404), ("/v1/editions/en-US/gossip", 404), ("/v1/editions/de-DE/top", 503),
    ("/v1/top?limit=0", 422), ("/v1/topics/nothing-here", 404), ("/v1/nothing", 404), ("/v1/stories/%2e%2e", 404),
    ("/v1/editions/en-US/top.exe", 404), ("/thumb/none", 404),
]  # fmt: skip


def test_errors_are_problem_details(world):
    for path, status in ERRORS:
        answer = world.client.get(path)
        assert answer.status_code == status, path
        assert answer.headers["content-type"] == "application/problem+json"
        body = answer.json()
        assert (body["status"], body["instance"]) == (status, path.split("?")[0].replace("%2e%2e", ".."))


def test_browsers_get_errors_as_pages(world):
    answer = world.client.get("/en-US/gossip", headers={"Accept": "text/html"})
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    refused = world.client.get("/en-US/top", headers={"Accept": "text/html", "Cookie": "jupyter=1"})
    assert refused.status_code == 400
    assert "jupyter" in refused.text


def test_the_type_of_a_problem_leads_to_what_it_means(world):
    for path, kind in (("/nope", "not-found"), ("/v1/editions/de-DE/top", "no-fresh-page")):
        place, _, name = world.client.get(path).json()["type"].partition("#")
        assert name == kind
        described = world.client.get(place, follow_redirects=True)
        assert described.status_code == 200
        assert f'id="{kind}"' in described.text


def test_every_answer_carries_security_headers(world):
    for path in ("/en-US/top", "/v1/top", "/me", "/docs", "/nope"):
        headers = world.client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_pages_name_no_place_outside_and_titles_cannot_carry_markup(world):
    card = world.day.cards[0].model_copy(update={"headline": "<script>alert(1)</script> & more"})
    world.day.publish([card, *world.day.cards[1:]])
    world.serving.memory.refresh()
    html = world.client.get("/en-US/top").text
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in html
    assert "http://" not in html.replace("http://www.w3.org", "")
    assert not feedparser.parse(world.client.get("/v1/editions/en-US/top.rss").content).bozo


def test_thumbnails_come_from_our_own_address(world):
    picture = world.client.get("/thumb/t0")
    assert picture.headers["content-type"] == "image/jpeg"
    assert picture.content[:2] == b"\xff\xd8"
    assert "immutable" in picture.headers["cache-control"]


def _until(check, timeout=5.0):
    end = time.monotonic() + timeout
    while not check():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.05)
