"""Small pictures for the articles: coloured shapes drawn from the article's id, the same bytes every time."""

from __future__ import annotations

import io
from random import Random
from typing import Final

SIZE: Final = (640, 360)


def picture(seed: str, form: str) -> bytes:
    """A JPEG (`form` "jpg") or PNG ("png") of 640 x 360 pixels, 4 to 15 kB."""
    from PIL import Image, ImageDraw

    rng = Random(seed)
    sky = tuple(rng.randint(120, 230) for _ in range(3))
    image = Image.new("RGB", SIZE, sky)
    draw = ImageDraw.Draw(image)
    for _ in range(9):
        x, y = rng.randint(-60, SIZE[0]), rng.randint(80, SIZE[1])
        width, height = rng.randint(60, 260), rng.randint(60, 280)
        colour = tuple(rng.randint(20, 200) for _ in range(3))
        if rng.random() < 0.6:
            draw.rectangle((x, y, x + width, SIZE[1]), fill=colour)
        else:
            draw.ellipse((x, y - height, x + width, y), fill=colour)
    out = io.BytesIO()
    if form == "png":
        image.quantize(32).save(out, "PNG")
    else:
        image.save(out, "JPEG", quality=70)
    return out.getvalue()
