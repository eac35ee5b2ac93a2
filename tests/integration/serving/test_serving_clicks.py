"""The redirect: fast, honest about what counts, never an open door, and alive without Kafka."""

import json
import time

import pytest
from fakes.serving_app import NOW, bearer, make
from fastapi.testclient import TestClient

from frontpage.domain.tokens import COUNTED_FOR, KeyRing, read_click
from serving.app import create_app
from serving.sending import EventSender


def first(world):
    return world.client.get("/v1/editions/en-US/top").json()["items"][0]["top_article"]["click_url"]


def test_a_click_leads_to_the_publisher_and_is_recorded(world):
    answer = world.client.get(first(world), headers={"User-Agent": "Mozilla/5.0"})
    assert answer.status_code == 302
    assert answer.headers["location"] == world.day.cards[0].top.url
    assert answer.headers["cache-control"] == "private, no-store"
    record = world.sent.of("reader.clicks")[0]
    click = json.loads(record.value)
    assert record.key == click["article_id"]
    assert (click["surface"], click["position"], click["edition"], click["reader"]) == ("top", 1, "en-US", None)
    assert (click["counted"], click["why_not"]) == (True, None)


@pytest.mark.parametrize(
    "token",
    ["x", "1.k1.aGk.aGk", "https:%2F%2Fevil.example", "1.k2.W10.AAAA", "a" * 5_000, "..%2F..%2Fetc"],
)
def test_what_we_did_not_sign_leads_nowhere(world, token):
    answer = world.client.get(f"/r/{token}")
    assert answer.status_code in (400, 404)
    assert "location" not in answer.headers
    assert world.sent.of("reader.clicks", timeout=0.2) == []


def test_a_token_of_another_key_leads_nowhere(world):
    stranger = KeyRing.parse("k1:someone-elses-secret-key")
    forged = stranger.sign("click", ["https://evil.example/", "a", "s", "p", "top", "top", 1, "en-US", int(NOW)])
    assert world.client.get(f"/r/{forged}").status_code == 404


def test_an_old_link_still_works_and_does_not_count(world):
    link = first(world)
    world.clock.at = NOW + COUNTED_FOR + 60
    assert world.client.get(link).status_code == 302
    click = json.loads(world.sent.of("reader.clicks")[0].value)
    assert (click["counted"], click["why_not"]) == (False, "old-token")


@pytest.mark.parametrize(
    ("headers", "why"),
    [({"User-Agent": "NewsBot/2.0"}, "bot"), ({"Sec-Purpose": "prefetch;prerender"}, "prefetch")],
)
def test_bots_and_prefetches_are_led_on_and_not_counted(world, headers, why):
    assert world.client.get(first(world), headers=headers).status_code == 302
    assert json.loads(world.sent.of("reader.clicks")[0].value)["why_not"] == why


def test_head_is_answered_and_recorded_nowhere(world):
    assert world.client.head(first(world)).status_code == 302
    assert world.sent.of("reader.clicks", timeout=0.3) == []


def test_opening_a_personal_link_twice_is_one_click(world):
    link = world.client.get("/v1/feed", headers=bearer("ann")).json()["items"][0]["top_article"]["click_url"]
    world.client.get(link)
    world.client.get(link)
    one, two = (json.loads(r.value)["click_id"] for r in world.sent.of("reader.clicks", 2))
    assert one == two


def test_without_kafka_redirects_are_quick_and_clicks_wait_for_it(world):
    world.sent.down = True
    link = first(world)
    started = time.perf_counter()
    for _ in range(20):
        assert world.client.get(link).status_code == 302
    assert time.perf_counter() - started < 2.0
    world.sent.down = False
    assert len(world.sent.of("reader.clicks", 20, timeout=8)) == 20


def test_a_full_queue_drops_and_counts_rather_than_blocks(world):
    serving = world.serving
    sender = EventSender(lambda: world.sent, serving.metrics, capacity=2)  # never started: nothing drains it
    serving.readers._sender = sender
    for _ in range(3):
        serving.readers.pause("r", True)
    assert 'events_dropped_total{topic="reader.events"} 1.0' in world.client.get("/metrics").text


def test_too_many_requests_get_429_with_retry_after(valkey):
    serving, _, _ = make(valkey, rate=0.01, burst=3)
    with TestClient(create_app(serving)) as client:
        codes = [client.get("/v1/nothing").status_code for _ in range(5)]
        assert codes == [404, 404, 404, 429, 429]
        refused = client.get("/v1/nothing")
        assert refused.headers["content-type"] == "application/problem+json"
        assert int(refused.headers["retry-after"]) >= 1
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 503, "nothing was loaded yet"


def test_anonymous_tokens_name_nobody(world):
    for card in world.client.get("/v1/editions/en-US/top").json()["items"]:
        for ref in (card["top_article"], *card["supporting"]):
            click = read_click(world.serving.ring, ref["click_url"].removeprefix("/r/"))
            assert (click.reader, click.impression_id) == (None, None)
