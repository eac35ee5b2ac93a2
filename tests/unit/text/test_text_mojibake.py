"""Titles that were read in the wrong character set: repaired when that is certain, and only then."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontpage.adapters.parse.feeds import read_feed
from frontpage.adapters.parse.pages import read_page
from frontpage.domain.mojibake import repaired

MEANT = [
    "Café d’Orsay", "L’été à Paris – l’Élysée", "São Paulo não pára", "Año nuevo en España", "Größe", "Привет, мир",
    "Ελλάδα σήμερα", "مرحبا بالعالم", "שלום עולם", "東京で地震", "中文新闻标题", "한국 뉴스", "हिन्दी समाचार",
    "Zażółć gęślą jaźń", "Příliš žluťoučký kůň", "İstanbul’da şok", "20 °C à Paris", "Price: £5 – or €6",
    "Don’t panic… “really”", "🙂 smile", "Việt Nam hôm nay", "Tromsø i mørket", "Émile", "Il va à Rome",
]  # fmt: skip


def misread(text: str, codec: str) -> str:
    """As browsers read bytes: what a set leaves undefined is the control character."""
    raw = text.encode()
    return "".join(bytes([byte]).decode(codec, "replace").replace("\ufffd", chr(byte)) for byte in raw)


@pytest.mark.parametrize("codec", ["cp1252", "latin-1"])
@pytest.mark.parametrize("meant", MEANT)
def test_certain_ones_come_back_also_when_broken_twice(meant, codec):
    once = misread(meant, codec)
    assert repaired(once) == meant
    assert repaired(misread(once, codec)) == meant


@pytest.mark.parametrize("meant", ["Привет, мир", "Київ сьогодні", "Новости дня"])
def test_cyrillic_read_as_its_old_set_comes_back(meant):
    assert repaired(misread(meant, "cp1251")) == meant


@pytest.mark.parametrize("text", MEANT)
def test_sound_texts_stay(text):
    assert repaired(text) == text


@pytest.mark.parametrize(
    "text",
    [
        # each is valid UTF-8 when written in windows-1252
        "CAFÉ”", "CAFÉ™ opens", "AMANHÃ…", "AMANHÃ’s", "Santé\u00a0– le ministre", "Il l’a annoncé…”", "the Å’s", "É™",
        "Ü–", "PERÚ®", "Å…", "Ñ…", "ESPAÑA…", "ä…”",
        # not valid, or half sound
        "Ã la carte", "SÃO PAULO", "NÃO", "AÇÃO", "Âge d’or", "Â", "Ã", "café, cafÃ©", "東京 cafÃ©", "“São” – Ã é…",
        "Росія і світ", "Рік Сі", "Đà Nẵng", "ÁÉÍÓÚ",
    ],
)  # fmt: skip
def test_doubtful_ones_stay_as_they_are(text):
    assert repaired(text) == text


@given(st.text(max_size=80))
def test_no_text_breaks_it_and_twice_is_once(text):
    once = repaired(text)
    assert repaired(once) == once


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=80))
def test_plain_letters_are_left_alone(text):
    assert repaired(text) == text


def test_headlines_of_pages_and_feeds_are_repaired():
    title = misread("L’été à Paris : 30 °C", "cp1252")
    text = "Il fait très chaud à Paris cette semaine, et la nuit ne rafraîchit personne. " * 8
    page = (
        f'<!doctype html><html lang="fr"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta property="og:title" content="{title}"></head><body><article><h1>{title}</h1><p>{text}</p></article></body>'
    )
    assert read_page(page.encode(), {}, "https://bay.test/ete", now=1.7e9).title == "L’été à Paris : 30 °C"
    feed = (
        '<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>x</title><item>'
        f"<title>{title}</title><link>https://bay.test/ete</link></item></channel></rss>"
    )
    reading = read_feed(feed.encode(), {}, "https://bay.test/feed", now=1.7e9)
    assert reading.entries[0].title == "L’été à Paris : 30 °C"
