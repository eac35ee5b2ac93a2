"""Full Coverage, topic streams and their cursors, reports, the dashboard."""

import json

import pytest
from fakes.serving_app import NOW

from frontpage.contracts.views import STORY, StoryRow


def test_full_coverage_tells_kinds_apart_and_puts_copies_under_their_original(world):
    story = world.client.get("/v1/stories/0story0000000").json()
    assert story["headline"].startswith("Strong earthquake")
    assert {ref["label"] for ref in story["opinion"]} == {"opinion"}
    assert [ref["label"] for ref in story["fact_checks"]] == ["fact-check"]
    assert all(ref["local"] and ref["publisher"] == "Valley Herald" for ref in story["local"])
    assert story["local"]
    original = next(ref for ref in story["articles"] if ref["also_published_by"])
    copy = original["also_published_by"][0]
    assert copy in story["publishers"]
    assert copy not in {ref["publisher"] for ref in story["articles"]}
    assert story["sources"] == len({r["publisher_id"] for k in ("articles", "local", "opinion", "fact_checks") for r in story[k]})  # fmt: skip
    assert story["timeline"][0]["what"] == "first_report"
    assert [e["at"] for e in story["timeline"]] == sorted(e["at"] for e in story["timeline"])
    assert "merged" in {e["what"] for e in story["timeline"]}
    assert [(o["language"], o["dir"]) for o in story["other_languages"]] == [("ar", "rtl")]


def test_a_merged_story_answers_301_to_its_survivor(world):
    api = world.client.get("/v1/stories/0absorbed0001")
    assert (api.status_code, api.headers["location"]) == (301, "/v1/stories/0story0000000")
    page = world.client.get("/stories/0absorbed0001")
    assert (page.status_code, page.headers["location"]) == (301, "/stories/0story0000000")


def test_a_link_to_a_merged_story_leads_to_its_survivor_once(world):
    key = STORY.key(story="0story0000001")
    row = StoryRow.model_validate_json(world.store.get(key))
    links = ["0arabic000001", "0arabicmerged", "0neverwritten"]
    world.store.set(key, row.model_copy(update={"links": links}).model_dump_json())
    merged = StoryRow(story_id="0arabicmerged", language="ar", alias_of="0arabic000001")
    world.store.set(STORY.key(story=merged.story_id), merged.model_dump_json())
    shown = world.client.get("/v1/stories/0story0000001").json()["other_languages"]
    assert [(link["story_id"], link["story_url"]) for link in shown] == [("0arabic000001", "/stories/0arabic000001")]
    assert shown[0]["headline"]


def test_a_report_is_kept_as_evidence_and_names_no_reader(world):
    story = world.client.get("/v1/stories/0story0000000").json()
    wrong = story["articles"][0]["article_id"]
    body = {"article_id": wrong, "reason": "not-about-this-story"}
    assert world.client.post("/v1/stories/0story0000000/reports", json=body).status_code == 202
    event = json.loads(world.sent.of("reader.events")[0].value)
    assert (event["kind"], event["article_id"], event["reader"]) == ("report", wrong, None)
    assert world.client.post("/v1/stories/0story0000000/reports", json={"article_id": "nope"}).status_code == 404
    assert world.client.post("/v1/stories/0story0000000/reports", json={"article": "x"}).status_code == 422


def test_the_dashboard_counts_headlines_of_now(world):
    page = world.client.get("/v1/editions/en-US/top").json()
    mine = [c for c in page["items"] if c["top_article"]["publisher_id"] == "green-atlas"]
    board = world.client.get("/v1/publishers/green-atlas/dashboard").json()
    on_top = [h for h in board["headlines"] if h["section"] == "top"]
    assert len(on_top) == len(mine) > 0
    assert world.client.get("/v1/publishers/nobody/dashboard").status_code == 404


def rows(world, times):
    """A topic whose stories carry exactly these times: {position: updated_at}."""
    cards = []
    for at, updated in times.items():
        changes = {"topics": ["tides"], "sections": [], "entities": [], "updated_at": updated}
        cards.append(world.day.cards[at].model_copy(update=changes))
    return cards


def read(world, cursor=None, **query):
    query |= {"edition": "en-US", "limit": 3} | ({"cursor": cursor} if cursor else {})
    answer = world.client.get("/v1/topics/tides", params=query)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    return [int(card["story_id"][6:]) for card in body["items"]], body["next_cursor"]


def test_topic_pages_lose_nothing_among_equal_times(world):
    times = dict.fromkeys(range(1, 9), NOW - 60) | {9: NOW - 61, 10: NOW - 3600}
    world.day.publish(rows(world, times))
    world.serving.memory.refresh()
    pages, cursor = [], None
    while True:
        page, cursor = read(world, cursor)
        pages.append(page)
        if cursor is None:
            break
    assert pages == [[8, 7, 6], [5, 4, 3], [2, 1, 9], [10]]


def test_topic_pages_neither_repeat_nor_lose_while_the_list_moves(world):
    times = dict.fromkeys(range(1, 8), NOW - 60) | {8: NOW - 61, 9: NOW - 3600}
    world.day.publish(rows(world, times))
    world.serving.memory.refresh()
    first, cursor = read(world)
    assert first == [7, 6, 5]
    del times[6]
    times |= {20: NOW + 300, 3: NOW + 360}  # one new on top, one moved to the top
    world.day.publish(rows(world, times))
    world.serving.memory.refresh()
    second, cursor = read(world, cursor)
    third, end = read(world, cursor)
    assert (second, third, end) == ([4, 2, 1], [8, 9], None)
    assert read(world)[0] == [3, 20, 7], "what moved up shows on the next refresh"


@pytest.mark.parametrize("cursor", ["x", "0", "1.k1.W10.AAAA", "%00"])
def test_a_cursor_that_does_not_verify_is_400_and_not_page_one(world, cursor):
    answer = world.client.get("/v1/topics/space", params={"cursor": cursor})
    assert answer.status_code == 400
    assert answer.json()["type"].endswith("bad-cursor")


def test_a_cursor_of_another_list_is_400(world):
    cursor = world.client.get("/v1/topics/space", params={"limit": 1}).json()["next_cursor"]
    assert cursor
    assert world.client.get("/v1/topics/film", params={"cursor": cursor}).status_code == 400
