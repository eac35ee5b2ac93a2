"""Click tokens: what we sign comes back whole, what anybody else made never does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontpage.domain.tokens import COUNTED_FOR, ClickToken, KeyRing, is_web_address, read_click, sign_click
from frontpage.errors import ConfigurationError, UnreadableInput

RING = KeyRing.parse("k2:the-newer-secret-of-the-two,k1:the-older-secret-of-the-two")
OLD = KeyRing.parse("k1:the-older-secret-of-the-two")
CLICK = ClickToken("https://paper.example/a?x=1", "a1", "s1", "p1", "top", "top", 3, "en-US", 1_700_000_000.0)
words = st.text(max_size=40)


@given(words, words, st.integers(0, 500), st.none() | st.text(min_size=1, max_size=24))
def test_a_signed_click_comes_back_whole(story, section, position, reader):
    click = ClickToken(
        "https://paper.example/ä", "a", story, "p", "feed", section, position, "de-DE", 5.0, reader, "i" if reader else None
    )  # fmt: skip
    assert read_click(RING, sign_click(RING, click)) == click


def test_every_single_changed_character_is_refused():
    token = sign_click(RING, CLICK)
    for at in range(len(token)):
        forged = token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :]
        with pytest.raises(UnreadableInput):
            read_click(RING, forged)


@given(st.text(max_size=200))
def test_arbitrary_text_is_refused_and_never_crashes(text):
    with pytest.raises(UnreadableInput):
        read_click(RING, text)


def test_a_rotated_key_still_verifies_and_a_dropped_one_does_not():
    token = sign_click(OLD, CLICK)
    assert read_click(RING, token) == CLICK
    with pytest.raises(UnreadableInput) as error:
        read_click(OLD, sign_click(RING, CLICK))
    assert error.value.cause == "unknown-key"


def test_a_cursor_cannot_pass_as_a_click():
    cursor = RING.sign("cursor", ["https://evil.example/", "a", "s", "p", "top", "top", 1, "en-US", 5])
    with pytest.raises(UnreadableInput):
        read_click(RING, cursor)


def test_anonymous_tokens_are_the_same_bytes_for_everyone_and_name_nobody():
    assert sign_click(RING, CLICK) == sign_click(RING, CLICK)
    assert read_click(RING, sign_click(RING, CLICK)).reader is None


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)", "//evil.example/", "/local", "ftp://a.example/", "https://", "http://u:p@a.example/",
        "https://a.example/\r\nSet-Cookie: a=b", "https:\\\\evil.example", "data:text/html,x", "https://[::1",
    ],
)  # fmt: skip
def test_only_plain_web_addresses_are_signed(url):
    assert not is_web_address(url)
    with pytest.raises(UnreadableInput):
        sign_click(RING, ClickToken(url, "a", "s", "p", "top", "top", 1, "en-US", 0.0))


def test_an_old_token_is_readable_and_does_not_count():
    assert CLICK.counts_at(CLICK.issued_at + COUNTED_FOR)
    assert not CLICK.counts_at(CLICK.issued_at + COUNTED_FOR + 1)


def test_reader_hashes_survive_a_rotation_and_differ_between_readers():
    assert RING.reader_hash("ann") == OLD.reader_hash("ann")
    assert RING.reader_hash("ann") != RING.reader_hash("bob")
    assert "ann" not in RING.reader_hash("ann")


@pytest.mark.parametrize(
    "text", ["", "nokid", "k1:short", "k 1:a-long-enough-secret", "a:" + "x" * 20 + ",a:" + "y" * 20]
)
def test_bad_key_settings_are_named_without_the_secret(text):
    with pytest.raises(ConfigurationError) as error:
        KeyRing.parse(text)
    assert "xxxx" not in str(error.value)
