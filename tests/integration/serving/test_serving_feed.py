"""For you: what a reader does moves the next list, paging never reshuffles, every degraded step still answers."""

import itertools
import json

import lightgbm
import numpy as np
import pytest
from fakes.pages import PROJECTION, unit
from fakes.serving_app import NOW, bearer

from frontpage.contracts.batch_views import RANKER_POINTER, ModelDocument
from frontpage.contracts.profiles import event_to_json, slow_to_json
from frontpage.contracts.views import MODEL, PROFILE_FAST, PROFILE_SLOW, RANKED_LATEST, VERSIONS
from frontpage.domain.features import FEATURES_VERSION, NAMES
from frontpage.domain.profile import ProfileEvent, SlowProfile, fold

ANN = bearer("ann")


def feed(world, headers=ANN, **query):
    answer = world.client.get("/v1/feed", params=query, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def ids(body):
    return [card["story_id"] for card in body["items"]]


def whole(world, headers=ANN, limit=20):
    cards, cursor = [], None
    while True:
        body = feed(world, headers, limit=limit, **({"cursor": cursor} if cursor else {}))
        cards += body["items"]
        cursor = body["next_cursor"]
        if cursor is None:
            return cards


def reader(world, user="ann"):
    return world.serving.ring.reader_hash(user)


def test_it_needs_a_token_that_verifies_and_is_never_cached(world):
    for header in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Basic x"}):
        answer = world.client.get("/v1/feed", headers=header)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
    answer = world.client.get("/v1/feed", headers=ANN)
    assert answer.headers["cache-control"] == "private, no-store"
    assert "etag" not in answer.headers


def test_the_limits_of_the_documents_hold_over_the_whole_list(world):
    cards = whole(world)
    assert len(cards) > 10
    sources = [card["top_article"]["publisher_id"] for card in cards]
    assert all(a != b for a, b in itertools.pairwise(sources))
    assert all(sources[:20].count(s) <= 2 for s in sources)
    topics = [t for card in cards[:10] for t in card["topics"]]
    assert all(topics.count(t) <= 2 for t in topics)
    top = {c["story_id"] for c in world.client.get("/v1/top?limit=10").json()["items"]}
    assert top & {card["story_id"] for card in cards[:5]}
    assert cards[0]["label"] == "breaking"
    assert all(card["reason"] for card in cards)


def test_paging_cuts_one_list_whatever_happens_meanwhile(world):
    expected = [card["story_id"] for card in whole(world, limit=4)]
    first = feed(world, limit=4)
    world.day.publish(list(reversed(world.day.cards)))  # a new ranking, and the pool with it
    world.serving.memory.refresh()
    world.client.put("/v1/me/follows/topic/film", headers=ANN)  # a new taste
    got, cursor = ids(first), first["next_cursor"]
    while cursor:
        body = feed(world, cursor=cursor, limit=3)
        got += ids(body)
        cursor = body["next_cursor"]
    assert got == expected
    assert ids(feed(world)) != expected[:20], "the next list is a new one"


def test_a_story_hidden_while_paging_disappears_and_nothing_else_moves(world):
    expected = [card["story_id"] for card in whole(world, limit=4)]
    first = feed(world, limit=4)
    gone = expected[6]
    assert world.client.post("/v1/me/hide", json={"story_id": gone}, headers=ANN).status_code == 204
    got, cursor = ids(first), first["next_cursor"]
    while cursor:
        body = feed(world, cursor=cursor, limit=4)
        got += ids(body)
        cursor = body["next_cursor"]
    assert got == [story for story in expected if story != gone]


def test_bad_cursors_are_refused_and_expired_ones_say_so(world):
    cursor = feed(world, limit=3)["next_cursor"]
    assert world.client.get("/v1/feed", params={"cursor": cursor}, headers=bearer("bob")).status_code == 400
    assert world.client.get("/v1/feed", params={"cursor": cursor[:-2] + "xx"}, headers=ANN).status_code == 400
    for key in world.store.scan_iter("ranked:*"):
        world.store.delete(key)
    gone = world.client.get("/v1/feed", params={"cursor": cursor}, headers=ANN)
    assert (gone.status_code, gone.json()["type"].rpartition("#")[2]) == (410, "cursor-expired")


def test_the_list_is_kept_for_five_minutes(world):
    first = feed(world)
    latest = RANKED_LATEST.key(reader=reader(world), edition="en-US")
    assert 290 <= world.store.ttl(latest) <= 300
    kept = world.store.get(latest)
    assert ids(feed(world)) == ids(first)
    assert world.store.get(latest) == kept


def test_following_and_hiding_show_in_the_very_next_list(world):
    before = feed(world)
    assert world.client.put("/v1/me/follows/topic/film", headers=ANN).status_code == 204
    after = feed(world)
    place = next(at for at, card in enumerate(after["items"]) if "film" in card["topics"])
    assert place <= 2
    assert after["items"][place]["reason"] == "You follow Film"
    source = after["items"][1]["top_article"]["publisher_id"]
    world.client.post("/v1/me/hide", json={"source_id": source}, headers=ANN)
    assert source not in {card["top_article"]["publisher_id"] for card in whole(world)}
    world.client.delete("/v1/me/hide", params={"source_id": source}, headers=ANN)
    world.client.delete("/v1/me/follows/topic/film", headers=ANN)
    assert ids(feed(world)) == ids(before)
    assert world.serving.sender.close(), "all that was emitted is sent"
    kinds = [json.loads(r.value)["kind"] for r in world.sent.of("reader.events")]
    assert [k for k in kinds if k != "impression"] == ["follow", "hide", "unhide", "unfollow"]


def click_in_fast_profile(world, card, story):
    """What the trends process writes when it has consumed a click."""
    event = ProfileEvent(
        "reader.clicks", 0, 1, "click", NOW, "click-1", card["top_article"]["article_id"], story.story_id,
        story.top.publisher_id, tuple(story.topics), tuple(story.entities), tuple(story.sections),
        {PROJECTION: unit(int(story.story_id[6:]) % 10)},
    )  # fmt: skip
    world.store.zadd(PROFILE_FAST.key(reader=reader(world)), {event_to_json(event): NOW})


def test_a_click_changes_the_next_list_although_one_is_cached(world):
    before = feed(world)
    card = before["items"][3]
    story = next(c for c in world.day.cards if c.story_id == card["story_id"])
    click_in_fast_profile(world, card, story)
    after = feed(world)
    assert ids(after) != ids(before)
    assert card["story_id"] not in ids(after)[:3], "what was read steps back"
    kin = next(c for c in after["items"] if story.topics[0] in c["topics"] and c["story_id"] != card["story_id"])
    assert kin["reason"].startswith("Because you read about")
    assert ids(feed(world, bearer("bob"))) == ids(before), "and nobody else's"


def test_batch_and_fast_halves_are_merged_by_watermark(world):
    event = ProfileEvent("reader.clicks", 0, 5, "click", NOW, "e5", "a", "0story0000008", "p", ("film",))
    slow = SlowProfile(reader(world), fold([event], NOW), {"reader.clicks/0": 6}, NOW)
    world.store.set(PROFILE_SLOW.key(reader=reader(world)), slow_to_json(slow))
    world.store.zadd(PROFILE_FAST.key(reader=reader(world)), {event_to_json(event): NOW})
    assert world.client.get("/v1/me", headers=ANN).json()["reads_remembered"] == 1


def test_impressions_log_rank_features_and_model_and_the_click_finds_them(world):
    body = feed(world, limit=5)
    events = [json.loads(r.value) for r in world.sent.of("reader.events", 5)]
    assert [e["rank"] for e in events] == [1, 2, 3, 4, 5]
    assert [e["story_id"] for e in events] == ids(body)
    assert all(len(e["features"]) == len(NAMES) and e["features_version"] == FEATURES_VERSION for e in events)
    assert all(e["reader"] == reader(world) for e in events)
    assert "ann" not in json.dumps(events)
    authority = events[0]["features"][NAMES.index("authority")]
    assert authority == pytest.approx(0.8)
    world.client.get(body["items"][2]["top_article"]["click_url"])
    click = json.loads(world.sent.of("reader.clicks")[0].value)
    assert click["impression_id"] == events[2]["impression_id"]
    assert (click["reader"], click["surface"], click["position"]) == (reader(world), "feed", 3)


def publish_model(world, version, *, names=NAMES, features_version=FEATURES_VERSION, text=None):
    generator = np.random.default_rng(1)
    rows = generator.random((400, len(names)))
    data = lightgbm.Dataset(rows, rows[:, -1] * 0 + rows[:, names.index("sources")])
    booster = lightgbm.train({"verbosity": -1, "num_leaves": 4, "num_threads": 1}, data, 5)
    document = ModelDocument(
        version=version, features_version=features_version, names=list(names),
        model_text=text if text is not None else booster.model_to_string(), at=NOW,
    )  # fmt: skip
    world.store.set(MODEL.key(version=version), document.model_dump_json())
    world.store.hset(VERSIONS.pattern, RANKER_POINTER, version)


def test_a_published_model_ranks_and_is_named_in_answer_and_impressions(world):
    assert feed(world)["model_version"] is None
    publish_model(world, "ranker@7")
    world.serving.model.refresh()
    body = feed(world, bearer("bob"), limit=3)
    assert body["model_version"] == "ranker@7"
    named = {json.loads(r.value)["model_version"] for r in world.sent.of("reader.events", 23)}
    assert "ranker@7" in named


@pytest.mark.parametrize("wrong", [{"features_version": "personal@0"}, {"text": "not a model"}])
def test_a_model_that_does_not_fit_is_refused_and_the_previous_one_goes_on(world, wrong):
    publish_model(world, "good")
    world.serving.model.refresh()
    publish_model(world, "bad", **wrong)
    world.serving.model.refresh()
    assert feed(world)["model_version"] == "good"
    assert 'degraded_total{why="model-refused"} 1.0' in world.client.get("/metrics").text


def test_a_new_breaking_story_does_not_wait_for_the_kept_list(world):
    assert feed(world)["items"][0]["story_id"] == "0story0000000"
    fresh = world.day.cards[9].model_copy(update={"label": "breaking"})
    world.day.publish([fresh, *world.day.cards[1:9], *world.day.cards[10:]])
    world.serving.memory.refresh()
    assert feed(world)["items"][0]["story_id"] == fresh.story_id


def test_without_the_profile_store_the_top_stories_come_labelled_so(world):
    world.store.shutdown(nosave=True)
    body = feed(world)
    assert (body["label"], body["degraded"], body["next_cursor"]) == ("Top stories", "profile-store", None)
    assert ids(body) == [c["story_id"] for c in world.client.get("/v1/top?limit=20").json()["items"]]
    assert 'degraded_total{why="profile-store"}' in world.client.get("/metrics").text


def test_over_capacity_the_feed_is_shed_first(world, monkeypatch):
    monkeypatch.setattr(type(world.serving.for_you.room), "locked", lambda self: True)
    body = feed(world)
    assert (body["label"], body["degraded"]) == ("Top stories", "overload")
    assert world.client.get("/v1/editions/en-US/top").status_code == 200


def test_a_late_ranking_goes_without_the_model_and_says_so(world, monkeypatch):
    expected = ids(feed(world))
    publish_model(world, "slow")
    world.serving.model.refresh()
    monkeypatch.setattr("serving.for_you.BUDGET", -1.0)
    body = feed(world, bearer("bob"))
    assert (body["label"], body["degraded"], body["model_version"]) == ("For you", "ranker-late", None)
    assert ids(body) == expected


def test_an_unknown_edition_is_refused_and_one_without_candidates_degrades(world):
    assert world.client.get("/v1/feed?edition=xx-XX", headers=ANN).status_code == 404
    body = feed(world, edition="ar-EG")
    assert (body["label"], body["degraded"]) == ("Top stories", "no-candidates")


def test_settings_are_kept_and_checked(world):
    changed = world.client.patch(
        "/v1/me", json={"edition": "en-GB", "place": "Elm Valley", "alpha": 0.9, "subscriptions": ["market-lens"]}, headers=ANN
    ).json()  # fmt: skip
    assert (changed["edition"], changed["place"], changed["alpha"]) == ("en-GB", "Elm Valley", 0.9)
    assert world.client.get("/v1/me", headers=ANN).json() == changed
    for wrong in ({"alpha": 2}, {"edition": "xx"}, {"nonsense": 1}, {"place": "x" * 200}):
        answer = world.client.patch("/v1/me", json=wrong, headers=ANN)
        assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert world.client.put("/v1/me/follows/planet/mars", headers=ANN).status_code == 422
    assert world.client.post("/v1/me/hide", json={}, headers=ANN).status_code == 422
    assert world.client.request("DELETE", "/v1/me/hide", headers=ANN).status_code == 422


def test_while_history_is_paused_nothing_names_the_reader(world):
    assert world.client.post("/v1/me/history/pause", headers=ANN).status_code == 204
    body = feed(world, limit=3)
    world.client.get(body["items"][0]["top_article"]["click_url"])
    assert json.loads(world.sent.of("reader.clicks")[0].value)["reader"] is None
    event = {"kind": "read", "story_id": "0story0000001"}
    taken = world.client.post("/v1/events", json={"edition": "en-US", "events": [event]}, headers=ANN).json()
    assert taken == {"accepted": 0, "paused": True}
    world.client.post("/v1/me/history/resume", headers=ANN)
    taken = world.client.post("/v1/events", json={"edition": "en-US", "events": [event]}, headers=ANN).json()
    assert taken == {"accepted": 1, "paused": False}
    kinds = [json.loads(r.value)["kind"] for r in world.sent.of("reader.events", 3)]
    assert kinds == ["pause", "resume", "read"]


def test_events_are_checked(world):
    for wrong in (
        {"edition": "en-US", "events": []},
        {"edition": "en-US", "events": [{"kind": "follow", "story_id": "s"}]},
        {"edition": "en-US", "events": [{"kind": "dwell", "story_id": "s", "dwell_seconds": -1}]},
        {"edition": "en-US", "events": [{"kind": "read", "story_id": "s"}] * 101},
    ):
        assert world.client.post("/v1/events", json=wrong, headers=ANN).status_code == 422


def test_deletion_leaves_nothing_of_the_reader_and_tells_the_others(world):
    world.client.put("/v1/me/follows/topic/film", headers=ANN)
    feed(world)
    assert world.client.delete("/v1/me", headers=ANN).status_code == 204
    assert list(world.store.scan_iter(f"*{reader(world)}*")) == []
    assert world.client.get("/v1/me", headers=ANN).json()["follows"] == []
    assert world.serving.sender.close(), "all that was emitted is sent"
    assert json.loads(world.sent.of("reader.events")[-1].value)["kind"] == "delete"
