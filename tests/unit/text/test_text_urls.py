"""The identity of addresses: what is one article, what stays apart, what is no link."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from frontpage.domain.ids import article_id
from frontpage.domain.urls import canonical_key, canonicalise, clean_link, fetch_refusal, inspect_address, strip_amp


@pytest.mark.parametrize(
    "spellings",
    [
        ("https://d.test/caf%c3%a9", "https://d.test/caf%C3%A9", "https://d.test/café"),
        ("https://d.test/%7Ereed/x", "https://d.test/~reed/x"),
        ("HTTPS://D.Test:443/a/../b/./c", "https://d.test/b/c"),
        ("https://d.test/s?b=2&a=1", "https://d.test/s?a=1&b=2"),
        ("https://d.test/x#photos", "https://d.test/x", "https://d.test/x#:~:text=ferry"),
        ("http://d.test/?p=9", "https://d.test/?p=9", "http://d.test:80/?p=9"),
        ("https://bücher.test/a", "https://xn--bcher-kva.test/a", "https://BÜCHER.TEST./a"),
        ("https://d.test/a?utm_source=n&fbclid=1&id=4", "https://d.test/a?id=4"),
        ("https://d.test/a?ref=rss", "https://d.test/a"),
        ("https://d.test/a?b=1&amp;c=2", "https://d.test/a?b=1&c=2"),
        ("https://d.test/a;jsessionid=0A1.n2;jsessionid=3", "https://d.test/a"),
        ("https://d.test/a?PHPSESSID=9&__cf_chl_tk=8&from=groupmessage&isappinstalled=0", "https://d.test/a"),
        ("https://d.test/a?partner=rss&emc=rss&mbid=social_twitter", "https://d.test/a"),
        ("https://d.test/news/77123.amp", "https://d.test/news/77123"),
        ("https://d-test.cdn.ampproject.org/c/s/d.test/a/ferry.amp", "https://d.test/a/ferry"),
        ("https://www.google.com/amp/s/d.test/a/ferry?amp=1", "https://d.test/a/ferry"),
        ("https://l.facebook.com/l.php?u=https%3A%2F%2Fd.test%2Fa&h=x", "https://d.test/a"),
    ],
)
def test_spellings_of_one_article_have_one_key(spellings):
    assert len({canonical_key(url) for url in spellings}) == 1


@pytest.mark.parametrize(
    "addresses",
    [
        ("https://d.test/t/%23row", "https://d.test/t/"),
        ("https://d.test/a%2Fb", "https://d.test/a/b"),
        ("https://d.test/q%3Fid=1", "https://d.test/q?id=1"),
        ("https://d.test/50%25", "https://d.test/50%2525"),
        ("https://d.test/f?t[]=a", "https://d.test/f?t[]=a&t[]=b"),
        ("https://d.test/f?d=1&d=2", "https://d.test/f?d=2&d=1"),
        ("https://d.test/#/story/1", "https://d.test/#/story/2"),
        ("https://d.test/#!/story/1", "https://d.test/#!/story/2"),
        ("https://d.test/go?u=https%3A%2F%2Fe.test%2F%3Fx%3D1%26y%3D2", "https://d.test/go?u=https://e.test/?x=1&y=2"),
        ("https://m.d.test/a", "https://d.test/a"),
        ("https://d.test/best-guitar-amp", "https://d.test/best-guitar"),
        ("https://d.test/amp/", "https://d.test/"),
        ("https://d.test/files/marshall.amp", "https://d.test/files/marshall"),
        ("https://d.test/a?amp=1", "https://d.test/a"),
        ("https://d.test/a?ref=4711", "https://d.test/a"),
        ("https://d.test/a;v=2", "https://d.test/a"),
        ("https://d.test/a?from=2026", "https://d.test/a?from=2025"),
        ("https://d.test/a?sid=1", "https://d.test/a?sid=2"),
        ("https://d.test:8443/a", "https://d.test/a"),
    ],
)
def test_different_addresses_stay_apart(addresses):
    assert len({canonical_key(url) for url in addresses}) == len(addresses)


@pytest.mark.parametrize(
    "url", ["https://d.test/a?sig=ab%2Fcd%3D%3D&exp=9", "https://d.test/s?b=2&a=1", "http://d.test/go?u=http://e.test/"]
)
def test_the_request_keeps_the_publishers_spelling(url):
    assert canonicalise(url).fetch == url


def test_what_was_left_out_is_named():
    removed = canonicalise("https://d.test/a?utm_medium=x&id=1#top").removed
    assert [piece.what for piece in removed] == ["utm_medium=x", "#top"]
    assert all(piece.why for piece in removed)


@pytest.mark.parametrize(
    ("raw", "cause"),
    [
        ("javascript:alert(1)", "scheme"),
        ("\tJaVaScRiPt:alert(1)", "scheme"),
        ("java\nscript:alert(1)", "scheme"),
        ("data:text/html,x", "scheme"),
        ("mailto:a@d.test", "scheme"),
        ("https://d.test\\@evil.test/", "backslash"),
        ("https://user:pw@d.test/", "userinfo"),
        ("https://d.test:443@evil.test/1", "userinfo"),
        ('https://d.test/"><img src=x>', "markup"),
        ("https://d.test/\x00a", "control-character"),
        ("https:///a", "bad-host"),
        ("https://d..test/", "bad-host"),
        ("https://d.test:99999/", "bad-port"),
        ("/only/a/path", "relative"),
        ("", "empty"),
        ("https://d.test/" + "a" * 5000, "too-long"),
    ],
)
def test_what_is_no_link_says_why(raw, cause):
    assert clean_link(raw) == (None, cause)


def test_relative_links_need_a_web_base():
    assert clean_link("/7", "https://d.test/feed.xml")[0] == "https://d.test/7"
    assert clean_link("//cdn.test/6", "https://d.test/")[0] == "https://cdn.test/6"
    assert clean_link("/7", "file:///etc/")[0] is None


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/", "http://127.1/",
        "http://[::1]/", "http://[::ffff:10.0.0.1]/", "http://[64:ff9b::a00:1]/", "http://[fd12::1]/", "http://[2002:7f00:1::]/",
        "http://169.254.169.254/x", "http://100.64.3.2/", "http://198.19.0.1/", "http://239.1.1.1/", "http://0.0.0.0/",
        "http://localhost/", "http://a.localhost./", "http://vault.internal/", "http://printer.local/", "http://d.test:22/",
        "http://d.test:6379/", "ftp://d.test/x", "http://①②⑦.⓪.⓪.①/", "http://255.255.255.255/", "http://[ff02::1]/",
    ],
)  # fmt: skip
def test_internal_targets_are_refused(url):
    assert fetch_refusal(url) is not None
    assert inspect_address(url).canonical is None


@pytest.mark.parametrize(
    "url", ["https://d.test/rss", "http://d.test:8080/rss", "https://bücher.test/", "http://93.184.215.14/"]
)
def test_public_targets_are_not(url):
    assert fetch_refusal(url) is None


def test_an_amp_mark_falls_only_when_asked():
    assert strip_amp("https://d.test/a/amp/?amp=1&id=2") == "https://d.test/a?id=2"
    assert strip_amp("https://d.test/a.amp.html") == "https://d.test/a.html"
    assert strip_amp("https://d.test/a?camp=1") == "https://d.test/a?camp=1"


#: Letters, and what the rules look for, so that their leftovers meet.
_PARTS = [
    *"abz019%/?#&=+.~!@:;é中 -_[]",
    "amp",
    "amp;",
    ";jsessionid=",
    "utm_x=",
    "%2F",
    "%26",
    "%3B",
    "..",
    ".amp",
    "1234",
]
_PIECES = st.lists(st.sampled_from(_PARTS), max_size=30).map("".join)


@example(path="..;jsessionid=", query="", fragment="")
@given(path=_PIECES, query=_PIECES, fragment=_PIECES)
def test_canonicalising_twice_changes_nothing(path, query, fragment):
    once = canonical_key(f"http://Host.test/{path}?{query}#{fragment}")
    assert once is None or canonical_key(once) == once


@given(st.text(max_size=200))
def test_any_text_is_judged_and_never_raises(text):
    result = canonicalise(text)
    assert (result.canonical is None) == (result.refused is not None)


SHAPES = (
    "https://p{m}.test/{y}/{k:02d}/story-{n}",
    "https://p{m}.test/{y}/story-{k}?id={n}&lang=en",
    "http://p{m}.test/index.php?option=news&cat={k}&nid={n}",
    "https://p{m}.test/#/story/{n}",
    "https://p{m}.test/#!/{y}/{n}",
    "https://p{m}.test/a/{n}%2F{k}",
    "https://p{m}.test/a/{n}/{k}/x%23y",
    "https://p{m}.test/新闻/{n}.html",
    "https://p{m}.test/article{n}.ece?ref={n}",
    "https://m.p{m}.test/{y}-{n}.html?page={k}",
)


def test_ten_thousand_articles_do_not_collide():
    """Every shape in which sites number their articles, a thousand of each; the numbers alone tell them apart."""
    urls = [shape.format(n=n, m=n % 50, k=n % 12 + 1, y=2020 + n % 7) for shape in SHAPES for n in range(1_000)]
    assert len(set(urls)) == 10_000
    assert len({article_id(canonical_key(url)) for url in urls}) == 10_000


@pytest.mark.parametrize(
    ("address", "cause"),
    [
        ("https://paper.example/2026/a_b-c?id=7&x=%41#top", None),
        ("http://xn--bcher-kva.example", None),
        ("https://" + "a" * 63 + ".example/x", None),
        ("https://" + "a" * 64 + ".example/x", "bad-host"),
        ("https://" + "a." * 127 + "example/x", "bad-host"),
        ("https://paper-.example/x", "bad-host"),
        ("https://paper.example-/x", "bad-host"),
        ("https://paper.300/x", "bad-host"),
        ("https://paper.example/" + "x" * 5_000, "too-long"),
        ("https://me@paper.example/x", "userinfo"),
    ],
)
def test_plain_addresses_come_out_as_they_are_and_bad_hosts_do_not(address, cause):
    assert clean_link(address) == (None if cause else address, cause)
