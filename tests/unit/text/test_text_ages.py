""" "3 hours ago" in the languages that we read, and on pages that state no date."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontpage.adapters.parse.pages import read_page
from frontpage.domain.date_relative import age_of
from frontpage.domain.dates import iso, parse_date

NOW = parse_date("2026-03-06T12:00:00Z").instant
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
TEXT = (
    "The harbour council of Oxmoor opened the pier on Thursday after six weeks of repairs. Boats leave every hour. " * 6
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("3 hours ago", 3 * HOUR), ("About an hour ago", HOUR), ("5m ago", 5 * MINUTE), ("just now", 0.0),
        ("1 hour 20 minutes ago", 80 * MINUTE), ("half an hour ago", 30 * MINUTE), ("45 secs. ago", 45.0),
        ("vor 2 Stunden", 2 * HOUR), ("Vor etwa einer Stunde", HOUR), ("vor 5 Min.", 5 * MINUTE),
        ("hace 5 minutos", 5 * MINUTE), ("Hace una hora", HOUR), ("il y a 2 heures", 2 * HOUR),
        ("il y a 1 h 20 min", 80 * MINUTE), ("há 2 horas", 2 * HOUR), ("2 horas atrás", 2 * HOUR),
        ("2 ore fa", 2 * HOUR), ("un’ora fa", HOUR), ("fa 2 hores", 2 * HOUR), ("3 uur geleden", 3 * HOUR),
        ("för 2 timmar sedan", 2 * HOUR), ("for 4 timer siden", 4 * HOUR), ("2 tuntia sitten", 2 * HOUR),
        ("2 tundi tagasi", 2 * HOUR), ("pirms 2 stundām", 2 * HOUR), ("prieš 2 val.", 2 * HOUR),
        ("2 godziny temu", 2 * HOUR), ("godzinę temu", HOUR), ("před 3 hodinami", 3 * HOUR), ("pred 2 urama", 2 * HOUR),
        ("prije 2 sata", 2 * HOUR), ("пре 2 сата", 2 * HOUR), ("2 órája", 2 * HOUR), ("20 perccel ezelőtt", 20 * MINUTE),
        ("acum 20 de minute", 20 * MINUTE), ("2 saat önce", 2 * HOUR), ("5 мин. назад", 5 * MINUTE), ("час назад", HOUR),
        ("2 години тому", 2 * HOUR), ("преди 2 часа", 2 * HOUR), ("πριν από 2 ώρες", 2 * HOUR), ("5 λεπτά πριν", 5 * MINUTE),
        ("לפני שעתיים", 2 * HOUR), ("לפני 3 דקות", 3 * MINUTE), ("منذ ٣ ساعات", 3 * HOUR), ("منذ ساعتين", 2 * HOUR),
        ("قبل ساعة", HOUR), ("۲ ساعت پیش", 2 * HOUR), ("3 گھنٹے قبل", 3 * HOUR), ("3 घंटे पहले", 3 * HOUR),
        ("৩ ঘণ্টা আগে", 3 * HOUR), ("5 நிமிடங்களுக்கு முன்பு", 5 * MINUTE), ("2 ชั่วโมงที่แล้ว", 2 * HOUR),
        ("3 giờ trước", 3 * HOUR), ("3 jam yang lalu", 3 * HOUR), ("3時間前", 3 * HOUR), ("５分前", 5 * MINUTE),
        ("3小时前", 3 * HOUR), ("30 分鐘前", 30 * MINUTE), ("2시간 전", 2 * HOUR),
    ],
)  # fmt: skip
def test_hours_and_minutes_are_read(text, seconds):
    found = age_of(text)
    assert (found.seconds, found.day_only) == (seconds, False)


@pytest.mark.parametrize(
    ("text", "days"), [("3 days ago", 3), ("vor einem Tag", 1), ("yesterday", 1), ("昨天", 1), ("3 ngày trước", 3),
                       ("вчера", 1), ("منذ يومين", 2), ("hace 2 días", 2), ("2日前", 2)]
)  # fmt: skip
def test_days_name_a_day_and_no_time(text, days):
    found = age_of(text)
    assert (found.seconds, found.day_only) == (days * DAY, True)


@pytest.mark.parametrize(
    "text",
    [
        "", "ago", "3 hours", "2 weeks ago", "5 months ago", "400 days ago", "vor Jahren", "long ago", "前", "3前",
        "5 minutes 2 hours ago", "3 hours ago by Jane", "Top 10 hours ago", "in 3 hours", "20 minutes before", "vor",
        "seit 3 Stunden", "hier", "3 March 2026",
    ],
)  # fmt: skip
def test_what_says_something_else_or_no_day_is_none(text):
    assert age_of(text) is None


def test_a_word_of_two_languages_counts_in_its_own():
    assert age_of("Hier", "fr-FR").seconds == DAY
    assert age_of("Hier", "de") is None


@given(st.text(max_size=150))
def test_no_text_breaks_it_and_none_lies_ahead(text):
    found = age_of(text)
    assert found is None or 0 <= found.seconds <= 31 * DAY


def read(body: str, head: str = "", headers: dict[str, str] | None = None):
    page = f'<!doctype html><html lang="en"><head><meta charset="utf-8">{head}</head><body>{body}</body></html>'
    return read_page(page.encode(), headers or {}, "https://bay.test/news/pier-opens-again", now=NOW)


ARTICLE = f"<h1>Pier opens again</h1>{{}}<p>{TEXT}</p>"


@pytest.mark.parametrize(
    ("line", "published", "day_only"),
    [
        ("<time>3 hours ago</time>", "2026-03-06T09:00:00Z", False),
        ('<div class="byline">By Jane Doe · 20 minutes ago</div>', "2026-03-06T11:40:00Z", False),
        ("<p>Published: an hour ago</p>", "2026-03-06T11:00:00Z", False),
        ('<span class="date">yesterday</span>', "2026-03-05T00:00:00Z", True),
        ("<p>Veröffentlicht vor 2 Stunden</p>", "2026-03-06T10:00:00Z", False),
    ],
)
def test_a_page_without_a_date_is_as_old_as_it_says(line, published, day_only):
    reading = read(f"<article>{ARTICLE.format(line)}</article>")
    assert (iso(reading.published_at), reading.published_day_only) == (published, day_only)
    assert "date: relative" in reading.problems


def test_what_is_stated_beats_it_and_a_change_is_a_change():
    line = '<p class="date">3 hours ago</p><p>Updated 5 minutes ago</p>'
    stated = '<meta property="article:published_time" content="2026-03-01T08:00:00Z">'
    assert iso(read(f"<article>{ARTICLE.format(line)}</article>", stated).published_at) == "2026-03-01T08:00:00Z"
    reading = read(f"<article>{ARTICLE.format(line)}</article>")
    assert (iso(reading.published_at), iso(reading.modified_at)) == ("2026-03-06T09:00:00Z", "2026-03-06T11:55:00Z")


def test_ages_of_other_articles_are_not_taken():
    cards = '<div class="card"><time>{} hours ago</time><h3>Other news</h3></div>'
    assert read(ARTICLE.format("") + cards.format(2) + cards.format(5)).published_at is None
    related = f'<aside class="related">{cards.format(2)}</aside>'
    assert read(f"<article>{ARTICLE.format('')}{related}</article>").published_at is None
    assert (
        read(f"<article>{ARTICLE.format('')}<p>It rained 3 hours ago</p><p>3 hours ago</p></article>").published_at
        is None
    )


def test_it_counts_from_when_the_page_left_its_server():
    """A cache hands out the page of half an hour ago, with its words."""
    body = f"<article>{ARTICLE.format('<time>5 minutes ago</time>')}</article>"
    assert iso(read(body, headers={"age": "1800"}).published_at) == "2026-03-06T11:25:00Z"
    for nonsense in ("-5", "soon", "9" * 12):
        assert iso(read(body, headers={"age": nonsense}).published_at) == "2026-03-06T11:55:00Z"
