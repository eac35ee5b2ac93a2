"""Dates: the unambiguous become an instant, the rest None, and never another instant."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontpage.domain.dates import (
    FUTURE_TOLERANCE,
    DateReading,
    effective_time,
    iso,
    not_in_future,
    parse_date,
    settle,
)

NOW = parse_date("2026-06-01T12:00:00Z").instant


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Thu, 05 Mar 26 21:40:09 +0300", "2026-03-05T18:40:09Z"),
        ("Thu, 05 Mar 2026 10:00:00 GMT", "2026-03-05T10:00:00Z"),
        ("Thu, 5 Mar 2026 10:00 EST", "2026-03-05T15:00:00Z"),
        ("Sunday, 08-Mar-26 16:29:06 GMT", "2026-03-08T16:29:06Z"),
        ("Sun Mar  8 16:29:06 2026", "2026-03-08T16:29:06Z"),
        ("14 Sept 2026 11:12:13 +0300", "2026-09-14T08:12:13Z"),
        ("2026-03-05T10:00:00.123456+01:00", "2026-03-05T09:00:00Z"),
        ("2026-03-05 10:00:00 -0330", "2026-03-05T13:30:00Z"),
        ("20260305T100000Z", "2026-03-05T10:00:00Z"),
        ("2026/3/5 10:00:00", "2026-03-05T10:00:00Z"),
        ("2026-03-05T24:00:00Z", "2026-03-06T00:00:00Z"),
        ("1772704800", "2026-03-05T10:00:00Z"),
        ("1772704800000", "2026-03-05T10:00:00Z"),
        ("2026年3月5日 18:30", "2026-03-05T18:30:00Z"),
        ("2026년 3월 5일 오후 6:30", "2026-03-05T18:30:00Z"),
        ("Do, 05 Mrz 2026 12:30:00 +0200", "2026-03-05T10:30:00Z"),
        ("jeudi 5 mars 2026 à 07h45", "2026-03-05T07:45:00Z"),
        ("5 de marzo de 2026, 14:05", "2026-03-05T14:05:00Z"),
        ("Чт, 5 мар 2026 03:00:00 +0700", "2026-03-04T20:00:00Z"),
        ("5 مارس 2026", "2026-03-05T00:00:00Z"),
        ("৫ মার্চ ২০২৬", "2026-03-05T00:00:00Z"),
        ("5 มีนาคม 2569", "2026-03-05T00:00:00Z"),
        ("March 5, 2026 at 3:04 pm", "2026-03-05T15:04:00Z"),
        ("05.03.2026 14:05", "2026-03-05T14:05:00Z"),
        ("31/03/2026", "2026-03-31T00:00:00Z"),
        ("05/05/2026", "2026-05-05T00:00:00Z"),
    ],
)
def test_unambiguous_dates_are_read(raw, expected):
    assert iso(parse_date(raw).instant) == expected


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ("03/05/2026 18:30", "ambiguous"),
        ("05 06 07", "unreadable"),
        ("2026", "ambiguous"),
        ("2026-03", "ambiguous"),
        ("0000-00-00 00:00:00", "out_of_range"),
        ("Fri, 29 Feb 2025 10:00:00 GMT", "out_of_range"),
        ("2026-13-01", "out_of_range"),
        ("2026-03-05T25:00:00Z", "out_of_range"),
        ("Thu, 01 Jan 1970 00:00:00 GMT", "out_of_range"),
        ("Invalid Date", "unreadable"),
        ("{{ page.date }}", "unreadable"),
        ("12345", "unreadable"),
        ("", "empty"),
        ("x" * 500, "unreadable"),
    ],
)
def test_the_rest_is_none_with_a_reason(raw, problem):
    reading = parse_date(raw)
    assert reading.instant is None
    assert problem in reading.problems


def test_a_language_settles_the_order_of_numbers_and_month_names():
    assert iso(parse_date("03/05/2026", language="fr").instant) == "2026-05-03T00:00:00Z"
    assert iso(parse_date("5 listopada 2026", language="pl").instant) == "2026-11-05T00:00:00Z"
    assert iso(parse_date("5. listopada 2026", language="hr").instant) == "2026-10-05T00:00:00Z"
    assert parse_date("5 listopada 2026").instant is None


def test_an_unknown_zone_is_said():
    assert parse_date("Thu, 5 Mar 2026 10:00:00 IST").problems == ("unknown_zone",)
    assert parse_date("2026-03-05 10:00").problems == ("no_zone",)
    assert parse_date("2026-03-05").day_only


def test_far_future_readings_are_dropped_and_near_ones_flagged():
    assert parse_date("2031-01-01", now=NOW).problems == ("far_future",)
    assert parse_date("2026-06-01T13:00:00Z", now=NOW).problems == ("future_date",)


def test_a_publication_later_than_the_tolerance_is_no_publication():
    near = DateReading("", NOW + 1200)
    far = DateReading("", NOW + FUTURE_TOLERANCE + 1)
    assert not_in_future(near, NOW) == (NOW + 1200, ("future_date",))
    assert not_in_future(far, NOW) == (None, ("future_date",))


def test_items_are_ranked_by_first_sight_when_the_date_is_later_or_insane():
    assert effective_time(NOW + 9, NOW) == NOW
    assert effective_time(NOW - 9, NOW) == NOW - 9
    assert effective_time(0.0, NOW) == NOW
    assert effective_time(None, NOW) == NOW


def test_a_constant_whole_offset_between_two_sources_marks_the_doubtful_one():
    assert settle(NOW - 7200, NOW) == (NOW, "offset +02:00 doubtful")
    assert settle(NOW + 19800, NOW) == (NOW, "offset -05:30 doubtful")
    assert settle(NOW - 500, NOW) == (NOW, None)
    assert settle(NOW, None) == (NOW, None)
    assert settle(None, NOW) == (NOW, None)


@given(
    st.datetimes(datetime(1990, 1, 2), datetime(2100, 1, 1)).map(lambda d: d.replace(microsecond=0)),
    st.integers(-56, 56).map(lambda quarters: quarters * 15),
)
def test_every_written_form_of_an_instant_reads_back(moment, minutes):
    zone = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}{abs(minutes) % 60:02d}"
    local = moment + timedelta(minutes=minutes)
    expected = moment.replace(tzinfo=UTC).timestamp()
    for form in ("%Y-%m-%dT%H:%M:%S", "%d %b %Y %H:%M:%S ", "%a, %d %b %Y %H:%M:%S ", "%Y/%m/%d %H:%M:%S "):
        assert parse_date(local.strftime(form) + zone).instant == expected


@given(st.text(max_size=60), st.sampled_from([None, "de", "th", "ar", "zz"]))
def test_no_text_breaks_the_reader(text, language):
    reading = parse_date(text, language=language)
    assert reading.instant is None or reading.instant >= 631_152_000
