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


@pytest.mark.parametrize(
    ("raw", "language", "expected"),
    [
        ("1er mars 2026", "fr", "2026-03-01T00:00:00Z"),
        ("1º de marzo de 2026", "es", "2026-03-01T00:00:00Z"),
        ("2026. 3. 5. 14:05", "ko", "2026-03-05T14:05:00Z"),
        ("2026-03-05 오후 9:05", "ko", "2026-03-05T21:05:00Z"),
        ("2026-03-05 09:05 PM", "en", "2026-03-05T21:05:00Z"),
        ("5 March 2026 12:05 a.m.", "en", "2026-03-05T00:05:00Z"),
        ("令和8年3月5日", "ja", "2026-03-05T00:00:00Z"),
        ("民國115年3月5日", "zh", "2026-03-05T00:00:00Z"),
        ("۱۴ اسفند ۱۴۰۴", "fa", "2026-03-05T00:00:00Z"),
        ("1404/12/14 14:05", "fa", "2026-03-05T14:05:00Z"),
        ("1403/12/30", "fa", "2025-03-20T00:00:00Z"),
        ("5 جويلية 2026", "ar", "2026-07-05T00:00:00Z"),
        ("๕ มี.ค. ๒๕๖๙", "th", "2026-03-05T00:00:00Z"),
        ("5 tháng 3, 2026", "vi", "2026-03-05T00:00:00Z"),
        ("Thứ năm, 5/3/2026, 14:05 (GMT+7)", "vi", "2026-03-05T07:05:00Z"),
        ("2026. gada 5. marts", "lv", "2026-03-05T00:00:00Z"),
        ("5 במרץ 2026", "he", "2026-03-05T00:00:00Z"),
        ("5 مارچ 2026", "ur", "2026-03-05T00:00:00Z"),
        ("5 Maret 2026 pukul 14.05 WIB", "id", "2026-03-05T07:05:00Z"),
        ("5. mars 2026 kl. 14.05", "nb", "2026-03-05T14:05:00Z"),
        ("March 5, 2026, 2:05 p.m. ET", "en", "2026-03-05T19:05:00Z"),
        ("July 5, 2026, 2:05 p.m. ET", "en", "2026-07-05T18:05:00Z"),
        ("March 8, 2026 2:05 PM PT", "en", "2026-03-08T21:05:00Z"),
        ("November 1, 2026 2:05 PM CT", "en", "2026-11-01T20:05:00Z"),
        ("Thu Mar 05 2026 14:05:00 GMT+0100 (Central European Standard Time)", "en", "2026-03-05T13:05:00Z"),
        ("2026-03-05T14:05:00 Europe/Berlin", "de", "2026-03-05T14:05:00Z"),
        ("2026-W10-4", "en", "2026-03-05T00:00:00Z"),
        ("Cts, 07 Mar 2026 14:05:00 +0300", "tr", "2026-03-07T11:05:00Z"),
        ("Published: 5 March 2026 | Updated: 6 March 2026", "en", "2026-03-05T00:00:00Z"),
        ("5 xuño 2026", "gl", "2026-06-05T00:00:00Z"),
        ("5 სექტემბერი 2026", "ka", "2026-09-05T00:00:00Z"),
    ],
)
def test_spellings_of_other_countries_and_templates(raw, language, expected):
    assert iso(parse_date(raw, language=language).instant) == expected


@pytest.mark.parametrize("raw", ["31 مهر 1404", "1404/13/01", "2026-W54-1", "令和0年3月5日", "3 mars 2026 et 14"])
def test_days_that_no_calendar_has_stay_unread(raw):
    assert parse_date(raw, language="fr").instant is None


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


@pytest.mark.parametrize("language", [None, "de", "pt", "tr", "hu", "ja"])
def test_the_usual_forms_of_feeds_mean_the_same_in_every_language(language):
    for raw, expected in (
        ("Mon, 21 Sep 2026 13:58:20 GMT", "2026-09-21T13:58:20Z"),
        ("3 Mar 2026 07:08:09 +0530", "2026-03-03T01:38:09Z"),
        ("2026-03-04T05:06:07.5-03:30", "2026-03-04T08:36:07Z"),
    ):
        reading = parse_date(raw, language=language)
        assert (iso(reading.instant), reading.zone_known, reading.problems) == (expected, True, ())
    assert parse_date("31 Apr 2026 07:08:09 GMT", language=language).problems == ("out_of_range",)
