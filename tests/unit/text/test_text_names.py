"""Learning names: what is a candidate in each script, what support makes a name, where the dictionary finds it."""

from __future__ import annotations

import pytest

from benchmarks import entities as measured
from frontpage.domain.entities import Gazetteer, Place, tag
from frontpage.domain.name_candidates import candidates
from frontpage.domain.names import Entry, Names, dictionary, supported

NOWHERE = Gazetteer()


@pytest.mark.parametrize(
    ("language", "title", "names"),
    [
        ("en", "Critics of Ana Reisner say the plan is late", {"Ana Reisner"}),
        ("en", "Why Everybody Thinks That The Senator Is Right", set()),
        ("de", "Mehr Geld, sagt Falkner", {"Falkner"}),
        ("ru", "Рабочие Нордстроя вышли на площадь", {"Нордстроя"}),
        ("ar", "وزير الخارجية كريم الحداد يصل إلى مصر", {"كريم الحداد"}),
        ("ja", "岸森首相と田之上選手、「みらい電工」を訪問", {"岸森", "田之上", "みらい電工"}),
        ("zh", "外长马里奥·费兰特会见总理陈国栋。", {"马里奥·费兰特", "陈国栋"}),
        ("vi", "Thủ tướng Lê Quang Vịnh thăm nhà máy", {"Lê Quang Vịnh"}),
    ],
)
def test_each_script_has_marks_of_names(language, title, names):
    found = candidates(title, "", language)
    assert names <= found.keys()
    assert bool(found) == bool(names)


def test_german_nouns_without_an_article_count_only_as_last_words():
    found = candidates("Der Haushalt: Regierung hört auf Hans Falkner", "", "de")
    assert found["Hans Falkner"] is False
    assert found["Falkner"] is True
    assert "Haushalt" not in found
    learnt = dictionary([Entry("Regierung", 9, 9, alone=True), Entry("Falkner", 9, 9, alone=True)], "de")
    assert not learnt
    learnt = dictionary([Entry("Hans Falkner", 3, 2), Entry("Falkner", 9, 9, alone=True)], "de")
    assert learnt.find("Falkner", "de") == "Hans Falkner"


def test_one_publisher_or_one_story_makes_no_name():
    assert [supported(2, 9), supported(9, 1), supported(3, 2)] == [False, False, True]


def test_a_last_word_of_two_names_stands_for_neither():
    shared = [Entry("Ana Reis", 3, 2), Entry("Rui Reis", 3, 2), Entry("Reis", 5, 5)]
    assert dictionary(shared, "pt").find("Reis", "pt") == "Reis"
    assert dictionary(shared[1:], "pt").find("Reis", "pt") == "Rui Reis"
    assert dictionary(shared[1:2], "pt").find("Reis", "pt") is None, "nobody writes it alone"


@pytest.mark.parametrize("spelling", ["Олег Старцев", "Олега Старцева", "Олегу Старцеву", "Олегом Старцевым"])
def test_russian_cases_are_one_name(spelling):
    assert dictionary([Entry("Олег Старцев", 3, 2)], "ru").find(spelling, "ru") == "Олег Старцев"


def test_a_stem_that_ends_like_a_case_is_one_name():
    learnt = dictionary([Entry("Газпром", 3, 9), Entry("Газпрома", 3, 2)], "ru")
    assert {learnt.find(word, "ru") for word in ("Газпром", "Газпрома", "Газпрому")} == {"Газпром"}


def test_learnt_names_are_found_where_form_does_not_show_them():
    learnt = dictionary([Entry("Veltrona", 3, 2), Entry("Ana Reisner", 3, 2), Entry("Reisner", 3, 2)], "en")
    found = tag("Veltrona falls as Reisner waits", "", "", "en", NOWHERE, learnt=learnt)
    assert set(found.entities) == {"Veltrona", "Ana Reisner"}
    assert found.places == []
    assert tag("Veltrona falls", "", "", "en", NOWHERE).entities == []
    lower = tag("a veltrona of our own", "", "", "en", NOWHERE, learnt=learnt)
    assert lower.entities == [], "a name has its capital"


def test_a_longer_place_wins_over_a_learnt_part_of_it():
    gazetteer = Gazetteer({"port sela": Place("Port Sela", "PT", 20_000)})
    learnt = dictionary([Entry("Port", 3, 2)], "en")
    assert tag("Ferry sinks off Port Sela", "", "", "en", gazetteer, learnt=learnt).entities == ["Port Sela, PT"]


def test_places_are_found_with_what_is_written_onto_them():
    gazetteer = Gazetteer({"москва": Place("Moscow", "RU", 10**7), "بغداد": Place("Baghdad", "IQ", 10**7),
                           "inde": Place("India", "IN", 10**9, True)})  # fmt: skip
    assert tag("Суд заседал в Москве", "", "", "ru", gazetteer).places == ["Moscow, RU"]
    assert tag("مباحثات ببغداد اليوم", "", "", "ar", gazetteer).places == ["Baghdad, IQ"]
    assert tag("Un accord avec l'Inde", "", "", "fr", gazetteer).places == ["India"]


@pytest.mark.parametrize("text", ["", " ", "\u0000", "·" * 500, "「" * 500, "总统" * 400, "الرئيس " * 300, "A " * 2000])
@pytest.mark.parametrize("language", ["en", "de", "ru", "ar", "ja", "zh", "vi", "und", ""])
def test_odd_text_raises_nothing(text, language):
    candidates(text, text, language)
    tag(text, text, text, language, NOWHERE, learnt=Names("v", {"a": "A"}))


def test_the_measured_table_shows_what_learning_adds_in_every_language():
    rows = measured.recalls()
    assert set(rows) == {"en", "de", "es", "fr", "pt", "it", "ru", "ar", "ja", "zh", "vi"}
    for language, row in rows.items():
        assert row["known"] >= row["before"], language
    assert sum(row["known"] - row["before"] for row in rows.values()) / len(rows) > 0.4
