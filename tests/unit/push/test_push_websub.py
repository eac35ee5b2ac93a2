"""The subscription as a state machine against a hub that does anything, and signatures over any bodies and chunks."""

from __future__ import annotations

import hashlib
import hmac
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from frontpage.domain import websub
from frontpage.domain.websub import DAY, LEASE, OPEN_FOR, REPEAT_FOR, BodyCheck, Subscription

NOW = 1_780_000_000.0
TOPIC = "https://paper.example/feed"
METHODS = ("sha1", "sha256", "sha384", "sha512")
SECRET = "s" * 43


def fresh(**changes) -> Subscription:
    made = websub.new("i" * 32, SECRET, "f0", hub="https://hub.example/", topic=TOPIC, now=NOW)
    return replace(made, **changes)


def active(lease: float = 9_000.0) -> Subscription:
    state = websub.verified(websub.ask(fresh(), NOW), "subscribe", TOPIC, lease, NOW + 1)
    assert state is not None
    return state


def test_request_has_what_the_recommendation_asks_for():
    form = websub.request(fresh(), "https://us.example/push/websub/i")
    assert form == {
        "hub.callback": "https://us.example/push/websub/i", "hub.mode": "subscribe", "hub.topic": TOPIC,
        "hub.lease_seconds": "864000", "hub.secret": SECRET,
    }  # fmt: skip
    assert "hub.secret" not in websub.request(fresh(mode="unsubscribe"), "x")


@pytest.mark.parametrize("weak", [("i" * 8, SECRET), ("i" * 32, "short"), ("i" * 32, "s" * 200)])
def test_guessable_ids_and_secrets_are_refused(weak):
    with pytest.raises(ValueError, match="unguessable"):
        websub.new(*weak, "f0", hub="https://hub.example/", topic=TOPIC, now=NOW)


class TestVerification:
    def test_nothing_is_confirmed_before_we_ask(self):
        assert websub.verified(fresh(), "subscribe", TOPIC, 900, NOW) is None

    @pytest.mark.parametrize(
        ("mode", "topic", "after"),
        [
            ("unsubscribe", TOPIC, 1),
            ("", TOPIC, 1),
            ("subscribe", TOPIC + "/", 1),
            ("subscribe", "", 1),
            ("subscribe", TOPIC, OPEN_FOR + 1),
        ],
    )
    def test_another_mode_topic_or_time_is_not_what_we_asked(self, mode, topic, after):
        assert websub.verified(websub.ask(fresh(), NOW), mode, topic, 900, NOW + after) is None

    def test_hub_whose_answer_got_lost_may_repeat_its_question_for_ten_minutes(self):
        state = active()
        again = websub.verified(state, "subscribe", TOPIC, 9_000, NOW + 300)
        assert again is not None
        assert again.verified_at == state.verified_at, "repeating does not keep the window open"
        assert websub.verified(again, "subscribe", TOPIC, 9_000, NOW + REPEAT_FOR + 2) is None

    def test_renewal_is_confirmed_like_the_first_time(self):
        state = active()
        assert state.next_at is not None
        assert state.next_at - NOW < 6_100 < 9_000, "a third of the lease is left"
        renewed = websub.verified(websub.ask(state, state.next_at), "subscribe", TOPIC, 9_000, state.next_at + 2)
        assert renewed is not None
        assert renewed.lease_until == state.next_at + 9_002

    @given(st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True), st.integers(-10, 10**12)))
    def test_leases_are_finite_whatever_the_hub_says(self, lease):
        state = websub.verified(websub.ask(fresh(), NOW), "subscribe", TOPIC, lease, NOW)
        if state is not None:
            assert NOW < state.lease_until <= NOW + LEASE
            assert NOW + 60 <= state.next_at <= max(state.lease_until, NOW + 60)


class TestEndings:
    def test_denial_ends_the_lease_and_is_asked_again_after_longer_and_longer(self):
        state, waits = active(), []
        for _ in range(8):
            state = websub.denied(websub.ask(state, NOW), TOPIC, "paused", NOW)
            assert state is not None
            assert not state.living(NOW)
            waits.append((state.next_at - NOW) / DAY)
        assert waits == [1, 2, 4, 8, 16, 16, 16, 16]
        assert state.cause == "denied: paused"
        assert websub.denied(active(), "https://other.example/feed", "", NOW) is None

    def test_leaving_says_so_to_the_hub_and_then_forgets(self):
        leaving = websub.leave(active(), NOW + 5)
        assert (leaving.mode, leaving.due(NOW + 5)) == ("unsubscribe", True)
        assert websub.verified(leaving, "unsubscribe", TOPIC, None, NOW + 6) is None, "not asked yet"
        asked = websub.ask(leaving, NOW + 5)
        assert websub.verified(asked, "subscribe", TOPIC, 900, NOW + 6) is None
        assert websub.verified(asked, "unsubscribe", TOPIC, None, NOW + 6).next_at is None

    def test_deaf_hub_is_told_a_few_times_and_one_that_knows_nothing_of_us_not_at_all(self):
        state, requests = websub.leave(active(), NOW), 0
        while state.next_at is not None:
            state = websub.ask(state, state.next_at)
            requests += 1
        assert requests <= 3
        assert websub.leave(fresh(), NOW).next_at is None

    def test_failed_renewals_are_repeated_well_before_the_end(self):
        state = active(DAY)
        end, requests = state.lease_until, 0
        while state.next_at < end:
            now = state.next_at
            state = websub.failed(websub.ask(state, now), "http-500", now, final=False)
            requests += 1
        assert 4 <= requests <= 100

    def test_hub_that_said_no_has_nothing_to_verify_and_its_retry_after_is_obeyed(self):
        asked = websub.ask(fresh(), NOW)
        state = websub.failed(asked, "http-429", NOW, final=True, retry_after=7_200)
        assert state.next_at == NOW + 7_200
        assert websub.verified(state, "subscribe", TOPIC, 900, NOW + 1) is None


class Life(RuleBasedStateMachine):
    """Any order of requests, answers, lies and waits keeps what the reader of this module relies on."""

    def __init__(self) -> None:
        super().__init__()
        self.now, self.state, self.asked_mode = NOW, fresh(), None

    @rule(seconds=st.floats(0, 20 * DAY))
    def wait(self, seconds):
        self.now += seconds

    @precondition(lambda self: self.state.due(self.now))
    @rule()
    def request(self):
        before = self.state.tries
        self.state = websub.ask(self.state, self.now)
        if self.state.next_at is not None:
            self.asked_mode = self.state.mode
            assert self.state.next_at >= self.now + 60
            assert self.state.tries == before + 1

    @rule(mode=st.sampled_from(["subscribe", "unsubscribe", "publish"]), topic=st.sampled_from([TOPIC, "x"]),
          lease=st.one_of(st.none(), st.floats(-1, 1e9)))  # fmt: skip
    def verify(self, mode, topic, lease):
        after = websub.verified(self.state, mode, topic, lease, self.now)
        if after is not None:
            assert topic == TOPIC
            assert mode == self.asked_mode == self.state.mode
            self.state = after

    @rule(topic=st.sampled_from([TOPIC, "x"]), reason=st.text(max_size=5))
    def deny(self, topic, reason):
        self.state = websub.denied(self.state, topic, reason, self.now) or self.state

    @rule(final=st.booleans(), wait=st.one_of(st.none(), st.floats(0, 1e9)))
    def fail(self, final, wait):
        self.state = websub.failed(self.state, "http-500", self.now, final=final, retry_after=wait)

    @rule()
    def leave(self):
        before = self.state
        self.state = websub.leave(before, self.now)
        self.asked_mode = None if before.mode == "subscribe" else self.asked_mode

    @invariant()
    def never_stuck_and_never_for_ever(self):
        state = self.state
        if state.mode == "subscribe":
            assert state.next_at is not None
            assert state.next_at - self.now <= 17 * DAY
        if state.lease_until is not None:
            assert state.lease_until - self.now <= LEASE
            assert math.isfinite(state.lease_until)

    @invariant()
    def identity_never_changes(self):
        assert (self.state.id, self.state.secret, self.state.topic) == ("i" * 32, SECRET, TOPIC)


TestLife = Life.TestCase


class TestSignatures:
    @given(
        body=st.binary(max_size=300),
        method=st.sampled_from(METHODS),
        cut=st.integers(0, 300),
        upper=st.booleans(),
    )
    def test_every_allowed_method_over_any_chunks(self, body, method, cut, upper):
        digest = hmac.new(SECRET.encode(), body, getattr(hashlib, method)).hexdigest()
        check = BodyCheck(SECRET, f"{method}={digest.upper() if upper else digest}")
        for chunk in (body[:cut], body[cut:]):
            check.update(chunk)
        assert check.matches()
        assert websub.sign(SECRET, body, method) == f"{method}={digest}"

    @given(body=st.binary(max_size=100), method=st.sampled_from(METHODS), flip=st.integers(0, 10**6))
    def test_one_flipped_bit_of_body_or_signature_does_not_match(self, body, method, flip):
        header = websub.sign(SECRET, body, method)
        name, _, digest = header.partition("=")
        at = flip % len(digest)
        forged = digest[:at] + format(int(digest[at], 16) ^ 1, "x") + digest[at + 1 :]
        assert not self.says(body, f"{name}={forged}")
        if body:
            index = flip % len(body)
            assert not self.says(body[:index] + bytes([body[index] ^ 1]) + body[index + 1 :], header)

    @pytest.mark.parametrize(
        "header",
        [None, "", "sha256", "sha256=", "sha256=zz", "sha256=" + "0" * 63, "=" + "0" * 40, "sha3_256=" + "0" * 64],
    )
    def test_headers_that_are_none_never_match(self, header):
        assert not self.says(b"body", header)

    def test_methods_that_the_recommendation_does_not_allow_never_match(self):
        for method in ("md5", "sha224"):
            digest = hmac.new(SECRET.encode(), b"x", method).hexdigest()
            assert not self.says(b"x", f"{method}={digest}")
        truncated = websub.sign(SECRET, b"x", "sha256")[: len("sha256=") + 40]
        assert not self.says(b"x", truncated)
        assert not self.says(b"x", websub.sign("another secret of a hub", b"x"))

    @given(st.text(max_size=80))
    def test_any_header_is_an_answer(self, header):
        assert not self.says(b"body", header)

    def says(self, body: bytes, header: str | None) -> bool:
        check = BodyCheck(SECRET, header)
        check.update(body)
        return check.matches()
