"""The typed client against the real app: the contract read from the other side."""

import importlib.util
from pathlib import Path

import pytest
from fakes.serving_app import bearer

from frontpage.contracts.api import ClientEvent, MePatch

SOURCE = Path(__file__).resolve().parents[3] / "client" / "frontpage_client" / "__init__.py"


@pytest.fixture(scope="module")
def package():
    spec = importlib.util.spec_from_file_location("frontpage_client", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_client_walks_the_whole_api(world, package):
    world.client.follow_redirects = True
    token = bearer("ann")["Authorization"].removeprefix("Bearer ")
    news = package.Frontpage("http://testserver", token, http=world.client)
    assert {e.edition for e in news.editions().editions} == {"en-US", "ar-EG"}
    page = news.page("en-US")
    assert news.page("en-US") == page, "from its own copy, after a 304"
    assert news.top("en-US", 3).items == page.items[:3]
    assert news.versions("en-US").sections["top"] == page.version
    assert news.story("0absorbed0001").story_id == "0story0000000"
    assert len(list(news.topic("space", "en-US"))) == 6
    assert news.local("en-US", "elm-valley").items
    news.follow("topic", "film")
    assert news.me().follows[0].id == "film"
    listed = list(news.for_you())
    assert len(listed) == len({card.story_id for card in listed}) > 10
    assert news.change(MePatch(alpha=0.5)).alpha == 0.5
    read = ClientEvent(kind="read", story_id=listed[0].story_id, impression_id=listed[0].impression_id)
    assert news.send("en-US", [read]).accepted == 1
    news.hide_source("green-atlas")
    assert "green-atlas" not in {card.top_article.publisher_id for card in news.for_you()}
    news.hide_source("green-atlas", on=False)
    news.pause_history()
    assert news.me().history_paused
    news.delete_me()
    assert news.me().follows == []


def test_problems_become_errors_with_their_type(world, package):
    news = package.Frontpage("http://testserver", http=world.client)
    with pytest.raises(package.ApiError) as error:
        news.page("en-US", "gossip")
    assert error.value.problem.status == 404
    with pytest.raises(package.ApiError) as error:
        news.me()
    assert error.value.problem.type.endswith("sign-in-required")
