"""Input made to cost time: open ends, endless nesting, mountains of one mark. Each is done with in seconds."""

import gzip
import random
import time

import pytest

from frontpage.adapters.parse.decode import unpack
from frontpage.adapters.parse.feeds import read_any
from frontpage.adapters.parse.pages import read_page
from frontpage.domain.text import from_markup
from frontpage.errors import UnreadableInput

SIZE = 120_000
#: Real seconds allowed on a busy machine; each of these took minutes, or grew with the square, without its guard.
BOUND = 20.0
HEAD = b"<rss version='2.0'><channel><title>t</title><link>https://bay.test/</link>"


@pytest.fixture(autouse=True)
def _in_time():
    started = time.monotonic()
    yield
    assert time.monotonic() - started < BOUND


def test_an_element_of_endless_attributes_is_refused():
    item = b"<item " + b" ".join(b'a%d="x"' % number for number in range(30_000)) + b"></item>"
    with pytest.raises(UnreadableInput) as refused:
        read_any(HEAD + item, {}, "https://bay.test/f", now=2e9)
    assert refused.value.cause == "too-deep"


@pytest.mark.parametrize("layers", [1, 2])
def test_a_mountain_of_empty_gzip_members_is_refused(layers):
    body = gzip.compress(b"") * SIZE
    with pytest.raises(UnreadableInput) as refused:
        read_any(gzip.compress(body) if layers == 2 else body, {}, "https://bay.test/f", now=2e9)
    assert refused.value.cause == "bad-gzip"


@pytest.mark.parametrize("size", [0, 1, 7, 1 << 14, 100_000])
def test_gzip_of_many_members_is_one_document(size):
    text = HEAD + bytes(random.Random(size).choices(b"abcdefgh \n", k=size)) + b"</channel></rss>"
    parts = [text[place : place + 1_000] for place in range(0, len(text), 1_000)]
    body = b"".join(map(gzip.compress, parts))
    assert unpack(body, 1 << 20) == text
    assert unpack(gzip.compress(text) + b"padding", 1 << 20) == text
    with pytest.raises(UnreadableInput):
        unpack(body[:-1], 1 << 20)


@pytest.mark.parametrize(
    "mark", [b"<![CDATA[", b"<!--", b"&", b"<", b"<?", b"<item a='", b"&lt;svg&gt;", b"&lt;!--", b"<link>" + b" " * 99]
)
def test_feeds_of_open_ends(mark):
    assert (
        read_any(HEAD + b"<item><title>" + mark * (SIZE // len(mark)), {}, "https://bay.test/f", now=2e9).feed.title
        == "t"
    )


@pytest.mark.parametrize("mark", [b"<a>", b"<item>", b"<b>x"])
def test_feeds_without_a_floor_are_refused(mark):
    with pytest.raises(UnreadableInput) as refused:
        read_any(HEAD + mark * (SIZE // len(mark)), {}, "https://bay.test/f", now=2e9)
    assert refused.value.cause == "too-deep"


@pytest.mark.parametrize(
    "mark",
    [
        "<div>",
        "<p>a",
        "<time datetime=x>",
        "<article><h1>x</h1><p>a</p></article>",
        "<a href=x>y</a> ",
        "<td>1/2/2026 ",
    ],
)
def test_pages_of_one_element(mark):
    body = ("<html><title>Pier</title><body>" + mark * (SIZE // len(mark))).encode()
    assert read_page(body, {}, "https://bay.test/a", now=2e9).title == "Pier"


def test_a_headline_of_separators():
    body = ("<html><title>" + "a - " * (SIZE // 4) + "</title><body><p>x</p>").encode()
    assert len(read_page(body, {}, "https://bay.test/a", now=2e9).title) <= 500


@pytest.mark.parametrize("mark", ["<svg>", "<!--", "<script>", "<", "<a ", "</p>", "<?"])
def test_markup_of_open_ends(mark):
    assert from_markup("start " + mark * (SIZE // len(mark))).startswith("start")
