"""Headlines lose the site's name and nothing else; texts lose markup and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontpage.domain.licence import clip as clip_to_licence
from frontpage.domain.text import clip, direction_of, from_markup, plain, sentences
from frontpage.domain.titles import alike, strip_site_name


@pytest.mark.parametrize(
    ("title", "site", "expected"),
    [
        ("Rail rule: refunds at last – The Meridian", "The Meridian", "Rail rule: refunds at last"),
        ("The Meridian | Coin found in pond", "The Meridian", "Coin found in pond"),
        ("Must-have gloves sold out", "Gloves", "Must-have gloves sold out"),
        ("United 3 - 2 City", "Meridian", "United 3 - 2 City"),
        ('"We need a well" - Mayor', "Meridian", '"We need a well" - Mayor'),
        ("Rain | Meridian", "The Very Long Meridian Evening Newspaper", "Rain | Meridian"),
        ("Ledger - Ledger", "Ledger", "Ledger"),
        ("Ledger - Ledger - Ledger", "Ledger", "Ledger"),
        ("Ok - Meridian News", "Meridian News", "Ok - Meridian News"),
        ("橋が再開 - 港ニュース", "港ニュース", "橋が再開 - 港ニュース"),
        ("古い橋が六週間ぶりに再開 | 港ニュース", "港ニュース", "古い橋が六週間ぶりに再開"),
        ("Upper court sits again today | Meridian Politics", "Meridian", "Upper court sits again today"),
        ("Upper court sits today | Politics | The Meridian", "The Meridian", "Upper court sits today"),
        ("Upper court sits today - Politics - Meridian", "The Meridian", "Upper court sits today"),
        ("Upper court sits | Meridian | Politics", "Meridian", "Upper court sits"),
        ("Upper court sits - Meridian Politics", "Meridian", "Upper court sits"),
        ("Court and politics | Meridian", "Meridian", "Court and politics"),
        ("Of courts | and politics | Meridian", "Meridian", "Of courts | and politics"),
        ("Upper court sits | Politics", "Meridian", "Upper court sits | Politics"),
        ("Upper court sits - The Meridian", "Meridian", "Upper court sits"),
        ("Upper court sits (Meridian)", "Meridian", "Upper court sits"),
        ("Upper court sits (again)", "Meridian", "Upper court sits (again)"),
        ("Upper court sits [Meridian]", "Meridian", "Upper court sits"),
        ("La corte se reúne | EL MERIDIÁN", "El Meridian", "La corte se reúne"),
        ("Суд собрался - Меридиан, 05.03.2026", "Меридиан", "Суд собрался"),
        ("Upper court sits : Meridian", "Meridian", "Upper court sits"),
        ("Meridian: upper court sits", "Meridian", "Meridian: upper court sits"),
        ("古い橋が六週間ぶりに再開：港ニュース", "港ニュース", "古い橋が六週間ぶりに再開"),
        ("大桥六周后重新开放_港口网", "港口网", "大桥六周后重新开放"),
        ("大桥六周后重新开放--港口网", "港口网", "大桥六周后重新开放"),
        ("北京-上海列车恢复", "港口网", "北京-上海列车恢复"),
        ("الجسر يفتح من جديد | الميناء", "الميناء", "الجسر يفتح من جديد"),
        ("הגשר נפתח שוב - הנמל", "הנמל", "הגשר נפתח שוב"),
    ],
)
def test_only_the_sites_name_is_cut(title, site, expected):
    assert strip_site_name(title, [site]) == expected


@given(st.text(max_size=80), st.text(max_size=20))
def test_a_cut_only_cuts_and_leaves_something(title, site):
    once = strip_site_name(title, [site])
    assert once in plain(title)
    assert len(plain(title)) == 0 or once


def test_the_domain_is_a_name_too():
    assert strip_site_name("Bridge reopens today - meridian.test", [], "www.meridian.test") == "Bridge reopens today"
    assert strip_site_name("Who said it | it", [], "it.test") == "Who said it | it"


def test_likeness_needs_no_spaces():
    assert alike("古い橋が再開", "古い橋が再開へ") > 0.7
    assert alike("Bridge reopens", "Mayor resigns") < 0.3


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("re<!-- part -->opens", "reopens"),
        ("re<!-- never closed >opens", "reopens"),
        ("<!<!-- x -->-- y", "y"),
        ("<?php echo 1 ?>Bridge", "Bridge"),
        ("eight <img src=x onerror=alert(8)>", "eight"),
        ("a<br>b<p>c", "a b c"),
        ("5 &lt; 6 and x &gt; 3", "5 < 6 and x > 3"),
        ("D&amp;D &mdash; caf&eacute;", "D&D — café"),
        ("&lt;script&gt;alert(1)&lt;/script&gt;safe", "safe"),
        ("x <script>alert('</p>')", "x"),
        ("I <3 b2b <b2b> talk", "I <3 b2b <b2b> talk"),
        ("first\x0bsecond \x1ethird\u202e", "first second third"),
        ("cut <a href='http", "cut"),
    ],
)
def test_markup_becomes_plain_text(markup, expected):
    assert from_markup(markup) == expected


@given(st.text(max_size=120))
def test_plain_text_holds_no_controls_and_is_stable(text):
    once = plain(text)
    assert plain(once) == once
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in once)


@given(st.text(max_size=500), st.integers(1, 300))
def test_clipping_keeps_its_length(text, length):
    assert len(clip(text, length)) <= length


def test_the_licence_allows_two_hundred_characters_or_none():
    text = "word " * 100
    assert clip_to_licence(text, allowed=False) == ""
    clipped = clip_to_licence(text, allowed=True)
    assert len(clipped) <= 200
    assert clipped.endswith("word…")
    assert clip_to_licence("short", allowed=True) == "short"


def test_sentences_do_not_end_at_abbreviations():
    text = "Mr. Ode met Dr. Lee on 3. März in the U.S. capital. They spoke. Nobody knew why! Then rain."
    assert sentences(text, 3) == [
        "Mr. Ode met Dr. Lee on 3. März in the U.S. capital.", "They spoke.", "Nobody knew why!",
    ]  # fmt: skip
    assert sentences("市は発表した。橋は開く。人は歩く。", 2) == ["市は発表した。", "橋は開く。"]


def test_direction_is_the_majoritys():
    assert direction_of("ruby: الجسر القديم يفتح من جديد") == "rtl"
    assert direction_of("The word الجسر means bridge") == "ltr"
    assert direction_of("12:30") is None
