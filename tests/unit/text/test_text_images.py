"""Thumbnails: small, upright, without anything else of the file, and never a way to fill the memory."""

import io
import struct
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from frontpage.adapters.parse.images import SIZE, thumbnail
from frontpage.errors import UnreadableInput


def picture(size=(1200, 900), mode="RGB", form="JPEG", **options) -> bytes:
    out = io.BytesIO()
    Image.new(mode, size, 128).save(out, form, **options)
    return out.getvalue()


@pytest.mark.parametrize(
    ("mode", "form"),
    [("RGB", "JPEG"), ("RGBA", "PNG"), ("P", "GIF"), ("RGB", "WEBP"), ("L", "PNG"), ("LA", "PNG"), ("CMYK", "JPEG")],
)
def test_every_kind_becomes_a_jpeg_of_the_cards_size(mode, form):
    result = thumbnail(picture(mode=mode, form=form))
    with Image.open(io.BytesIO(result)) as card:
        assert (card.format, card.size, card.mode) == ("JPEG", SIZE, "RGB")
    assert len(result) < 30_000


def test_a_small_picture_is_not_enlarged():
    with Image.open(io.BytesIO(thumbnail(picture((200, 100))))) as card:
        assert card.width <= 200
        assert card.height <= 100


def test_turned_pictures_stand_upright_and_lose_their_metadata():
    exif = Image.Exif()
    exif[0x0112] = 6  # rotate by 90 degrees
    exif[0x010E] = "secret place"
    source = picture((400, 1200), exif=exif)
    result = thumbnail(source)
    assert b"secret" not in result
    with Image.open(io.BytesIO(result)) as card:
        assert card.size == SIZE


def bomb(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 1000))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"", "empty"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not-an-image"),
        (b"not a picture", "not-an-image"),
        (picture()[:300], "not-an-image"),
        (picture((1, 1)), "too-small"),
        (bomb(30_000, 30_000), "too-large"),
        (bomb(8_000, 6_000), "too-large"),
        (b"\xff\xd8\xff" + b"x" * (13 << 20), "too-large"),
    ],
)
def test_what_is_no_picture_says_why(data, cause):
    with pytest.raises(UnreadableInput) as refused:
        thumbnail(data)
    assert refused.value.cause == cause


_SEED = picture((64, 64), form="PNG")


@settings(max_examples=60, deadline=None)
@given(st.integers(8, len(_SEED)), st.binary(min_size=1, max_size=20))
def test_broken_pictures_are_made_or_refused(place, junk):
    try:
        result = thumbnail(_SEED[:place] + junk + _SEED[place + len(junk) :])
    except UnreadableInput:
        return
    assert result.startswith(b"\xff\xd8")
