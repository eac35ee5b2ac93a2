"""Pictures to thumbnails: decoded within limits, turned upright, cropped to a card's shape, written anew as JPEG.

Writing anew drops whatever else the file carried (metadata, a second payload). Pure: fetching is the fetch tier's,
storing the blob store's, and whether a picture may be used at all the licence's.
"""

from __future__ import annotations

import io
import warnings
from typing import Final

from PIL import Image, ImageFile, ImageOps

from frontpage.errors import UnreadableInput

#: A card's picture: 16:9, sharp on a phone at twice the density of a 220-pixel card.
SIZE: Final = (440, 248)
QUALITY: Final = 80
INPUT_LIMIT: Final = 12 << 20
#: Pixels after decoding; 40 megapixels are 120 MB in memory, more than any press photo needs.
PIXEL_LIMIT: Final = 40_000_000
_MIN_SIDE: Final = 32
_FORMATS: Final = ("JPEG", "PNG", "GIF", "WEBP", "AVIF", "BMP")


def thumbnail(data: bytes, *, size: tuple[int, int] = SIZE) -> bytes:
    """JPEG of at most `size` pixels (never enlarged) from the bytes of a picture.

    Raises UnreadableInput: `empty`, `too-large` (bytes or pixels), `too-small` (a counting pixel), `not-an-image`.
    """
    if not data:
        raise UnreadableInput("no picture", cause="empty")
    if len(data) > INPUT_LIMIT:
        raise UnreadableInput(f"picture larger than {INPUT_LIMIT} bytes", cause="too-large")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=_FORMATS) as picture:
                width, height = picture.size
                if width * height > PIXEL_LIMIT:
                    raise UnreadableInput(f"picture of {width} x {height} pixels", cause="too-large")
                if min(width, height) < _MIN_SIDE:
                    raise UnreadableInput(f"picture of {width} x {height} pixels", cause="too-small")
                # JPEGs decode at a fraction of their size when only that is needed.
                picture.draft("RGB", (size[0] * 2, size[1] * 2))
                return _encode(picture, size)
    except UnreadableInput:
        raise
    except Image.DecompressionBombError:
        raise UnreadableInput("picture of too many pixels", cause="too-large") from None
    except Exception as error:  # noqa: BLE001 - decoders fail in many ways on hostile files; to a caller it is one
        raise UnreadableInput(f"no picture: {type(error).__name__}", cause="not-an-image") from None


def _encode(picture: ImageFile.ImageFile, size: tuple[int, int]) -> bytes:
    upright = ImageOps.exif_transpose(picture)
    if upright.mode in ("RGBA", "LA", "PA", "P"):
        layered = upright.convert("RGBA")
        ground = Image.new("RGB", layered.size, "white")
        ground.paste(layered, mask=layered.getchannel("A"))
        plain = ground
    else:
        plain = upright.convert("RGB")
    # Cropped around a point above the middle, where press photos have their faces; never enlarged.
    scale = min(1.0, plain.width / size[0], plain.height / size[1])
    target = (max(1, round(size[0] * scale)), max(1, round(size[1] * scale)))
    card = ImageOps.fit(plain, target, Image.Resampling.LANCZOS, centering=(0.5, 0.4))
    out = io.BytesIO()
    card.save(out, "JPEG", quality=QUALITY, optimize=True, progressive=True)
    return out.getvalue()
