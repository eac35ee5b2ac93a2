"""The page's words are complete in every language; ages, rate limits and bodies behave."""

import re

from hypothesis import given
from hypothesis import strategies as st

from serving.limits import RateLimiter
from serving.pool import place_key, place_keys
from serving.render import Body
from serving.words import WORDS, age, count_sources, pretty, words


def test_every_language_has_every_word_with_the_same_places():
    for language, table in WORDS.items():
        assert set(table) == set(WORDS["en"]), language
        for key, text in table.items():
            assert text, (language, key)
            assert re.findall(r"{\w+}", text) == re.findall(r"{\w+}", WORDS["en"][key]), (language, key)


def test_a_language_without_words_of_its_own_speaks_english():
    assert words("th-TH") is WORDS["en"]
    assert words("pt-BR") is WORDS["pt"]


def test_ages_in_words():
    text = words("en")
    cases = {0: "just now", -50: "just now", 59: "just now", 60: "1 min ago", 3599: "59 min ago", 3600: "1 h ago"}
    cases |= {86_400 * 3: "3 d ago"}
    for seconds, expected in cases.items():
        assert age(1e6 - seconds, 1e6, text) == expected
    assert age(None, 1e6, text) == ""
    assert count_sources(1, text) == "1 source"
    assert pretty("climate-change") == "Climate change"


@given(st.lists(st.floats(0, 3), max_size=200), st.floats(0.5, 20), st.integers(1, 20))
def test_no_client_ever_gets_more_than_burst_plus_rate(gaps, rate, burst):
    limiter = RateLimiter(rate, burst)
    now, allowed = 0.0, 0
    for gap in gaps:
        now += gap
        wait = limiter.take("c", now)
        allowed += wait == 0
        assert wait >= 0
        assert allowed <= burst + rate * now + 1e-6


def test_clients_have_buckets_of_their_own_and_waiting_helps():
    limiter = RateLimiter(1.0, 1, clients=2)
    assert limiter.take("a", 0.0) == 0
    wait = limiter.take("a", 0.0)
    assert wait > 0
    assert limiter.take("b", 0.0) == 0
    assert limiter.take("a", wait) == 0
    assert RateLimiter(0, 1).take("a", 0.0) == 0


def test_equal_content_is_equal_bytes_in_both_encodings():
    one, two = (Body.of(b"x" * 2_000, "text/plain") for _ in range(2))
    assert one == two
    assert one.etag != one.packed_etag
    assert Body.of(b"tiny", "text/plain").packed is None


def test_places_are_found_with_and_without_their_country():
    assert place_keys("Halifax, GB") == {"halifax-gb", "halifax"}
    assert place_keys("Port Alder") == {place_key("port-alder")} == {"port-alder"}
    assert place_key("São Tomé") == "são-tomé"
