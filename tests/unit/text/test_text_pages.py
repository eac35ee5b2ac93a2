"""Article pages: identity, headline, dates, language, kind and flags, against templates that lie."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontpage.adapters.parse.pages import read_page
from frontpage.domain.dates import iso, parse_date
from frontpage.errors import UnreadableInput

NOW = parse_date("2026-03-06T12:00:00Z").instant
URL = "https://bay.test/2026/03/pier-opens-again"
TEXT = (
    "The harbour council of Oxmoor opened the pier on Thursday after six weeks of repairs. Boats leave every hour until late. "
    "Tickets cost two coins, as before. The mayor cut a ribbon and the band played until it rained on everybody."
)


def html(
    head: str = "", body: str = f"<article><h1>Pier opens again</h1><p>{TEXT}</p></article>", lang: str = "en"
) -> bytes:
    return f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8">{head}</head><body>{body}</body></html>'.encode()


def read(page: bytes, url: str = URL, **options):
    return read_page(page, {}, url, now=NOW, **options)


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        ('<link rel="canonical" href="https://bay.test/">', URL),
        ('<meta property="og:url" content="https://bay.test">', URL),
        ('<link rel="canonical" href="https://bay.test/en/">', URL),
        ('<link rel="canonical" href="https://bay.test/2026/">', URL),
        ('<link rel="canonical" href="/news/">', URL),
        ('<link rel="canonical" href="https://bay.test/2026/03/mayor-resigns-today">', URL),
        ('<link rel="canonical" href="not a url at all">', URL),
        ('<link rel="canonical" href="javascript:x">', URL),
        ('<link rel="canonical" href="http://localhost/2026/03/pier-opens-again">', URL),
        ('<link rel="canonical" href="http://10.1.2.3/2026/03/pier-opens-again">', URL),
        ('<link rel="canonical" href="https://bay.test:8443/2026/03/pier-opens-again">', URL),
        ('<link rel="canonical" href="/tag/pier-opens">', URL),
        ('<link rel="canonical" href="/author/pier-opens-again">', URL),
        ('<link rel="canonical" href="/{{ slug }}">', URL),
        ('<link rel="canonical" href="/a/x?page=1"><link rel="canonical" href="/b/">', URL),
        (
            '<meta property="og:url" content="/2026/pier-opens-again.html">',
            "https://bay.test/2026/pier-opens-again.html",
        ),
        (
            '<link rel="canonical" href="https://www.bay.test/pier-opens-again-4711">',
            "https://www.bay.test/pier-opens-again-4711",
        ),
        (
            '<meta property="og:url" content="https://bay.test/harbour/pier-opens-again,https://bay.test/video/1">',
            "https://bay.test/harbour/pier-opens-again",
        ),
    ],
)
def test_a_canonical_counts_when_it_can_name_this_article(head, canonical):
    reading = read(html(head))
    assert reading.canonical_url == canonical
    assert reading.syndicated_from is None
    assert (canonical == URL) == any(problem.startswith("canonical_") for problem in reading.problems)


@pytest.mark.parametrize(
    ("fetched", "stated"),
    [
        ("https://bay.test/?p=77", "https://bay.test/2026/03/pier-opens-again"),
        ("https://m.bay.test/2026/pier-opens", "https://bay.test/2026/pier-opens"),
        ("https://bay.test/2026/pier-opens?share=1", "https://bay.test/2026/pier-opens"),
        ("https://bay.test/article/883311", "https://bay.test/2026/pier-opens-again"),
        ("https://bay.test/old-headline-of-it-883311", "https://bay.test/new-words-883311"),
    ],
)
def test_other_addresses_of_one_article_find_to_its_canonical(fetched, stated):
    assert read(html(f'<link rel="canonical" href="{stated}">'), fetched).canonical_url == stated


def test_an_amp_page_names_its_article():
    page = html('<link rel="canonical" href="https://bay.test/a/pier">').replace(b"<html", b"<html amp")
    assert read(page, "https://bay.test/a/pier/amp").canonical_url == "https://bay.test/a/pier"


def test_a_query_that_chooses_the_article_is_not_dropped():
    page = html('<link rel="canonical" href="https://bay.test/show.php">')
    assert read(page, "https://bay.test/show.php?id=12").canonical_url == "https://bay.test/show.php?id=12"


def test_another_publisher_is_where_the_piece_comes_from():
    reading = read(html('<link rel="canonical" href="https://wire.test/2026/pier">'))
    assert (reading.canonical_url, reading.syndicated_from) == (URL, "https://wire.test/2026/pier")
    own = read(
        html('<link rel="canonical" href="https://bay-group.test/2026/03/pier-opens-again">'),
        publisher_domains=["bay-group.test"],
    )
    assert (own.canonical_url, own.syndicated_from) == ("https://bay-group.test/2026/03/pier-opens-again", None)
    front = read(html('<link rel="canonical" href="https://wire.test/">'))
    assert front.syndicated_from is None


@pytest.mark.parametrize(
    "stated",
    [
        "https://www.facebook.com/bay.desk",
        "https://x.com/bay/status/12345",
        "http://192.168.1.4/pier",
        "http://cms/pier",
    ],
)
def test_a_network_or_a_back_end_is_no_other_publisher(stated):
    assert read(html(f'<link rel="canonical" href="{stated}">')).syndicated_from is None


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title>Pier – and who pays for it | Bay Desk</title><meta property=og:site_name content='Bay Desk'>", "Pier – and who pays for it"),
        ("<title>Pier opens - Bay Desk</title>", "Pier opens - Bay Desk"),
        ("<title>x</title><meta property='og:title' content='Pier opens | Bay.test'>", "Pier opens"),
        ("<meta property=og:title content='Bay Desk'><title>Bay Desk | Pier opens again</title><meta property=og:site_name content='Bay Desk'>", "Pier opens again"),
        ('<script type="application/ld+json">{"@type":"NewsArticle","headline":"Q&amp;A: pier"}</script><title>Bay</title>', "Q&A: pier"),
    ],
)  # fmt: skip
def test_the_headline_without_the_site(head, title):
    assert read(html(head, body=f"<p>{TEXT}</p>")).title == title


def test_a_heading_that_agrees_ends_the_title():
    head = "<title>Pier opens again | Harbour | Bay Desk</title><meta property=og:site_name content='Bay Desk'>"
    assert read(html(head)).title == "Pier opens again"


def test_a_heading_of_the_template_is_no_headline():
    reading = read(html("<title>Mayor resigns over pier</title>", body=f"<h1>Harbour news</h1><p>{TEXT}</p>"))
    assert reading.title == "Mayor resigns over pier"


LD = '<script type="application/ld+json">{}</script>'


@pytest.mark.parametrize(
    ("head", "body", "published", "modified"),
    [
        (LD.format('{"@type":"NewsArticle","datePublished":"2026-03-05T08:00:00+01:00","dateModified":"2026-03-05T09:30:00Z"}'), "", "2026-03-05T07:00:00Z", "2026-03-05T09:30:00Z"),
        (LD.format('{"@graph":[{"@type":["WebPage"]},{"@type":"Article","datePublished":"2026-03-05T08:00:00Z",}]}'), "", "2026-03-05T08:00:00Z", None),
        ('<meta property="article:published_time" content="2026-03-05T08:00:00Z">', "", "2026-03-05T08:00:00Z", None),
        ("", '<p>Published <time datetime="2026-03-05T08:00:00+02:00">x</time> – Updated March 5, 2026 at 10:10</p>', "2026-03-05T06:00:00Z", "2026-03-05T08:10:00Z"),
        ("", "<p class=meta>Veröffentlicht am 5. März 2026, 08:15 Uhr</p>", "2026-03-05T08:15:00Z", None),
        ("", '<span itemprop="datePublished" content="2026-03-05">x</span>', "2026-03-05T00:00:00Z", None),
        ('<script>var offer={"expires":"2027-01-31"},build="2026-03-01"</script>', "<footer>© 2011-2026 Bay</footer>", None, None),
        ("", '<aside><ul><li class=date>01/12/2026</li><li><time datetime="2026-03-01T10:00Z">x</time></li></ul></aside>', None, None),
        (LD.format('{"@type":"NewsArticle","datePublished":"2026-09-01T08:00:00Z"}'), "", None, None),
    ],
)  # fmt: skip
def test_dates_come_from_the_article_and_nowhere_else(head, body, published, modified):
    page = html(
        head,
        body=f"<article><h1>Pier opens again</h1>{'' if 'aside' in body or 'footer' in body else body}<p>{TEXT}</p></article>{body if 'aside' in body or 'footer' in body else ''}",
    )
    reading = read(page, "https://bay.test/pier-opens-again")
    assert iso(reading.published_at) == published
    assert iso(reading.modified_at) == modified


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("2026/03/05/pier-opens-again", "2026-03-05"),
        ("2026/3/5/pier-opens-again", "2026-03-05"),
        ("news/2026-03-05-pier-opens-again", "2026-03-05"),
        ("20260305/pier-opens-again", "2026-03-05"),
        ("2026/0305/pier-opens-again.html", "2026-03-05"),
        ("2025/dec/05/pier-opens-again", "2025-12-05"),
        ("2025/11/pier-opens-again", None),
        ("2025/12/pier-opens-again", None),
        ("2025/11/12-reasons-for-the-pier", None),
        ("2025/11/12.html", None),
        ("2025/pier-opens-again", None),
        ("story/20251399/pier-opens-again", None),
        ("2025/02/30/pier-opens-again", None),
    ],
)
def test_the_address_gives_a_day_or_nothing(path, day):
    reading = read(html(), f"https://bay.test/{path}")
    assert iso(reading.published_at, day_only=reading.published_day_only) == day


TEXTS = {
    "pt": "A câmara anunciou na segunda-feira que a ponte velha reabre aos peões depois de seis semanas de obras na margem.",
    "ru": "Городской совет объявил в понедельник, что старый мост снова открыт для пешеходов после шести недель ремонта.",
    "uk": "Міська рада оголосила в понеділок, що старий міст знову відкрито для пішоходів після шести тижнів ремонту.",
    "fa": "شورای شهر روز دوشنبه اعلام کرد که پل قدیمی پس از شش هفته تعمیر دوباره به روی عابران پیاده باز می‌شود.",
    "ar": "أعلنت البلدية يوم الاثنين إعادة فتح الجسر القديم أمام المشاة بعد أعمال صيانة استمرت ستة أسابيع كاملة.",
    "ja": "市は月曜日、六週間の工事を終えて古い橋を再び歩行者に開放すると発表した。バスは通常の経路に戻る。",
    "zh": "市政府周一宣布，经过六周的施工，旧桥将重新向行人开放。公共汽车将从周二上午起恢复正常路线。",
    "ko": "시는 월요일 여섯 주간의 공사를 마치고 오래된 다리를 다시 보행자에게 개방한다고 발표했다.",
    "vi": "Hội đồng thành phố hôm thứ Hai thông báo cây cầu cũ sẽ mở lại cho người đi bộ sau sáu tuần sửa chữa.",
    "hi": "नगर परिषद ने सोमवार को घोषणा की कि छह सप्ताह की मरम्मत के बाद पुराना पुल पैदल यात्रियों के लिए फिर से खुल गया है।",
    "no": "Kommunen opplyste mandag at den gamle brua åpner igjen for fotgjengere etter seks uker med arbeid på stedet.",
}


@pytest.mark.parametrize("language", TEXTS)
def test_the_text_decides_the_language_over_a_lying_tag(language):
    reading = read(html(body=f"<article><h1>x</h1><p>{TEXTS[language]}</p></article>", lang="en-US"))
    assert reading.language == language
    assert reading.declared_language == "en-US"
    assert reading.dir == ("rtl" if language in ("ar", "fa") else "ltr")


def test_a_text_too_short_keeps_its_tag():
    short = read(html("<title>OK</title>", body="<h1>OK</h1><p>OK.</p>", lang="fi"))
    assert short.language == "fi"
    assert read(html("<title>OK</title>", body="<p>OK</p>", lang=""), declared="sv").language == "sv"
    assert read(html("<title>1</title>", body="<p>2</p>", lang="")).language == "und"


def test_a_language_that_the_detector_lacks_keeps_its_tag():
    text = "Baraza la jiji lilitangaza Jumatatu kwamba daraja la zamani litafunguliwa tena kwa watembea kwa miguu baada ya wiki sita."
    assert read(html(body=f"<article><p>{text}</p></article>", lang="sw")).language == "sw"


@pytest.mark.parametrize(
    ("head", "url", "kind"),
    [
        ("", URL, "news"),
        (LD.format('{"@type":"OpinionNewsArticle"}'), URL, "opinion"),
        (LD.format('{"@type":"LiveBlogPosting"}'), URL, "live"),
        (LD.format('[{"@type":"NewsArticle"},{"@type":"ClaimReview"}]'), URL, "fact_check"),
        ('<meta property="article:section" content="Opinion">', URL, "opinion"),
        ("", "https://bay.test/opinion/2026/pier", "opinion"),
        ("", "https://bay.test/meinung/pier", "opinion"),
        ("", "https://bay.test/faktencheck/pier", "fact_check"),
        ("", "https://bay.test/2026/opinion-polls-tighten", "news"),
        ("", "https://bay.test/music/live", "news"),
        ("<title>Opinion | Who pays for the pier</title>", URL, "opinion"),
        ("<title>Opinions differ over pier</title>", URL, "news"),
        (LD.format('{"@type":"Product"}'), URL, "other"),
        ("", "https://bay.test/", "other"),
    ],
)
def test_the_kind_is_what_the_publisher_states(head, url, kind):
    assert read(html(head, body=f"<article><p>{TEXT}</p></article>"), url).kind == kind


@pytest.mark.parametrize(
    ("head", "paywalled"),
    [
        (LD.format('{"@type":"NewsArticle","isAccessibleForFree":"False"}'), True),
        (LD.format('{"@type":"NewsArticle","isAccessibleForFree":false}'), True),
        (LD.format('{"@type":"NewsArticle","isAccessibleForFree":true}'), False),
        ('<meta property="article:content_tier" content="locked">', True),
        ("", False),
    ],
)
def test_paywalls_are_what_the_markup_says(head, paywalled):
    assert read(html(head)).paywalled is paywalled


def test_opt_outs_of_the_page_are_obeyed():
    page = html(
        '<meta name="robots" content="nosnippet, max-image-preview:none"><meta property="og:image" content="/i.jpg">'
    )
    reading = read(page)
    assert (reading.snippet, reading.image, reading.snippet_allowed) == ("", None, False)
    header = read_page(html(), {"X-Robots-Tag": "nosnippet"}, URL, now=NOW)
    assert header.snippet == ""


def test_the_rest_of_a_full_page():
    data = '{"@type":"NewsArticle","author":[{"name":"Ann Lee"},{"name":"https://x.test/bo"}],"publisher":{"name":"Bay Desk"},"articleSection":["Harbour"],"keywords":"pier, boats"}'
    reading = read(
        html(
            LD.format(data)
            + '<meta property="og:image" content="//cdn.test/p.jpg"><meta name=description content="'
            + "d" * 300
            + '">'
        )
    )
    assert reading.authors == ["Ann Lee"]
    assert (reading.publisher, reading.section, reading.keywords) == ("Bay Desk", "Harbour", ["pier", "boats"])
    assert reading.image == "https://cdn.test/p.jpg"
    assert len(reading.snippet) <= 200
    assert reading.lead == TEXT.partition(" The mayor")[0]
    assert reading.body_text.endswith("it rained on everybody.")


def test_menus_and_related_lists_are_no_text():
    junk = "<nav><p>Menu of the harbour site with many long words in it</p></nav>"
    related = (
        '<div class="related"><p>Another story about another town that opened another bridge on another day</p></div>'
    )
    body = read(
        html(
            body=f"{junk}<article><h1>Pier opens again</h1>"
            + f"<p>{TEXT}</p><p>{TEXT[::-1]}</p><p>{TEXT.upper()}</p>"
            + f"{related}</article>"
        )
    ).body_text
    assert TEXT in body
    assert "Menu" not in body
    assert "Another story" not in body


@pytest.mark.parametrize(
    ("page", "cause"),
    [
        (b"", "empty"),
        (b"%PDF-1.7 x", "not-html"),
        (b'{"a": 1}', "not-html"),
        (b"<?xml version='1.0'?><rss><channel/></rss>", "not-html"),
        (b"<html>" + b"x" * (11 << 20), "too-large"),
    ],
)
def test_what_is_no_page_says_why(page, cause):
    with pytest.raises(UnreadableInput) as refused:
        read(page)
    assert refused.value.cause == cause


def test_a_page_needs_a_web_address():
    with pytest.raises(UnreadableInput) as refused:
        read(html(), "file:///etc/hostname")
    assert refused.value.cause == "bad-url"


_SEED = html(
    LD.format(
        '{"@type":"NewsArticle","headline":"Pier","datePublished":"2026-03-05T08:00:00Z","author":{"name":"A B"}}'
    )
    + '<link rel="canonical" href="/2026/03/pier-opens-again"><meta property="og:title" content="Pier">',
    body=f"<article><h1>Pier</h1><p>{TEXT}</p><p><time datetime='2026-03-05'>x</time></p></article>",
)


@pytest.mark.parametrize("reference", ["&#11;", "&#x1;", "&#xFFFF;", "&#xD800;", "&#0;", "\x0b", "\x1f"])
def test_characters_that_xml_does_not_allow_break_no_page(reference):
    page = f"<article>{reference}<script>1</script>{reference}<h1>Pier</h1>{reference}<script>1</script>{reference}x<p>"
    reading = read(html(body=f"{page}{TEXT}</p></article>"))
    assert "Boats leave every hour" in reading.body_text
    assert reading.title == "Pier"


#: What broke readers before: open ends, odd references, addresses that no library reads.
_JUNK = [
    b"<", b">", b'"', b"<html>", b"\xff", b"</body>", b"{", b"null", b"&#11;", b"&#xFFFF;", b"<script>1</script>", b"<!--",
    b"<base href='http://['>", b"<link rel=canonical href='http://[::1'>", b"<html lang='\xf0\x9f'>",
]  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_mutated_pages_are_read_or_refused(data):
    body = bytearray(_SEED)
    for _ in range(data.draw(st.integers(1, 6))):
        start = data.draw(st.integers(0, len(body)))
        end = min(len(body), start + data.draw(st.integers(0, 60)))
        body[start:end] = data.draw(st.binary(max_size=10) | st.sampled_from(_JUNK))
    with suppress(UnreadableInput):
        assert read(bytes(body)).canonical_url.startswith("https://")
