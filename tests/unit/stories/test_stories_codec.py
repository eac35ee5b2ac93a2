"""Events carry everything a consumer needs to rebuild its state, and nothing of the body."""

from __future__ import annotations

import json

import numpy as np
import pytest
from fakes.stories import FERRY, article

from frontpage.adapters.encoder import MiniLmEncoder, UseEncoder
from frontpage.contracts.events import ArticleCard, ArticleEvent, Signals, StoryChange
from frontpage.contracts.story_codec import article_signals, from_event, from_signals, to_event, to_signals
from frontpage.contracts.vectors import DIMENSIONS, Vector
from frontpage.domain.story import Change
from frontpage.errors import UnreadableEvent

CARD = ArticleCard(
    article_id="f1",
    url="https://wire.example/ferry",
    title="Ferry sinks off Port Sela",
    publisher_id="wire",
    publisher="The Wire",
    domain="wire.example",
    language="en-GB",
    published_at=900.0,
    first_seen_at=1000.0,
)
ARTICLE = article("f1", "Ferry sinks off Port Sela", FERRY, publisher="wire")


def test_signals_survive_the_way_through_an_event():
    event = ArticleEvent(card=CARD, signals=to_signals(ARTICLE), content_hash="h", fetched_url=CARD.url)
    read = ArticleEvent.decode(event.encode())
    assert read is not None
    back = article_signals(read)
    for name in ("vector", "minhash", "head", "pairs", "lead", "names", "terms"):
        np.testing.assert_array_equal(getattr(back, name), getattr(ARTICLE, name))
    np.testing.assert_allclose(back.counts, ARTICLE.counts, atol=1e-3)
    assert (back.simhash, back.numbers, back.days, back.credits) == (
        ARTICLE.simhash, ARTICLE.numbers, ARTICLE.days, ARTICLE.credits,
    )  # fmt: skip
    assert (back.language, back.at, back.words) == ("en", 900.0, ARTICLE.words)


def test_a_publication_time_after_first_sight_is_not_believed():
    late = CARD.model_copy(update={"published_at": 2000.0})
    assert from_signals(late, to_signals(ARTICLE)).at == 1000.0


def test_no_run_of_words_of_the_body_is_in_the_event():
    text = to_signals(ARTICLE).model_dump_json()
    words = FERRY.split()
    assert not any(" ".join(words[at : at + 2]) in text for at in range(len(words) - 1))


def test_a_change_survives_the_way_through_its_event():
    change = Change("c1", 7, "en", "assign", "s1", 5.0, article=ARTICLE, card=CARD, copy_of="f0", score=1.5)
    read = StoryChange.decode(to_event(change).encode())
    assert read is not None
    back = from_event(read)
    assert (back.change_id, back.sequence, back.kind, back.story_id, back.copy_of, back.score, back.card) == (
        "c1", 7, "assign", "s1", "f0", 1.5, CARD,
    )  # fmt: skip
    assert back.article is not None


@pytest.mark.parametrize("broken", [{"simhash": "xyz"}, {"minhash": "AAAA"}, {"terms": {"no number": 1.0}}])
def test_signals_that_do_not_decode_are_unreadable(broken):
    signals = Signals.model_validate({**to_signals(ARTICLE).model_dump(), **broken})
    with pytest.raises(UnreadableEvent) as error:
        from_signals(CARD, signals)
    assert error.value.cause == "invalid-signals"


def test_a_vector_of_the_wrong_size_or_of_no_number_is_dead_lettered():
    """One such member would stop every process that takes the mean of its story."""
    signals = to_signals(ARTICLE)
    whole = np.ones(DIMENSIONS["minilm-l6-v2@1"], dtype=np.float32)
    from_signals(CARD, signals.model_copy(update={"vector": Vector.pack("minilm-l6-v2@1", whole)}))
    for values in (whole[:-1], whole * np.float32("nan"), whole * np.float32("inf"), whole[:0]):
        with pytest.raises(UnreadableEvent, match="a vector of"):
            from_signals(CARD, signals.model_copy(update={"vector": Vector.pack("minilm-l6-v2@1", values)}))


@pytest.mark.parametrize("weight", [-1.0, 1e30, 1e300])
def test_term_weights_that_cannot_be_squared_are_dead_lettered(weight):
    signals = to_signals(ARTICLE)
    heavy = {**signals.terms, next(iter(signals.terms)): weight}
    with pytest.raises(UnreadableEvent, match="term weights"):
        from_signals(CARD, signals.model_copy(update={"terms": heavy}))


def test_the_sizes_are_those_of_the_encoders():
    assert {kind.version: kind.dimension for kind in (MiniLmEncoder, UseEncoder)} == DIMENSIONS


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("first_seen_at", 1.77e12), ("published_at", 1e18), ("modified_at", -1e18), ("version", 0),
        ("article_id", "x" * 600), ("title", "x" * 3000), ("snippet", "x" * 2000),
    ],
)  # fmt: skip
def test_a_card_that_cannot_be_is_dead_lettered(name, value):
    event = ArticleEvent(card=CARD, signals=to_signals(ARTICLE), content_hash="h", fetched_url=CARD.url)
    fields = json.loads(event.encode())
    fields["card"][name] = value
    with pytest.raises(UnreadableEvent):
        ArticleEvent.decode(json.dumps(fields).encode())


@pytest.mark.parametrize("sequence", [0, -1, 10**18])
def test_a_sequence_that_cannot_be_is_dead_lettered(sequence):
    """Consumers pass over what is behind them: one absurd number would make them pass over everything."""
    event = to_event(Change("c1", 7, "en", "assign", "s1", 5.0, article=ARTICLE, card=CARD))
    fields = json.loads(event.encode()) | {"sequence": sequence}
    with pytest.raises(UnreadableEvent):
        StoryChange.decode(json.dumps(fields).encode())
