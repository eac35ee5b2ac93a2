"""Entities and sections: linked places, names by their capitals, publishers' own labels."""

import pytest

from frontpage.adapters.parse.gazetteer import gazetteer
from frontpage.domain.editions import SECTIONS
from frontpage.domain.entities import Gazetteer, Place, tag
from frontpage.domain.sections import sections_of


@pytest.mark.parametrize(
    ("language", "title", "lead", "entities"),
    [
        (
            "en",
            "Lisbon mayor resigns",
            "Ana Reis stepped down in Lisbon. NATO met. Reis said so.",
            {"Lisbon, PT", "Ana Reis", "NATO"},
        ),
        (
            "es",
            "Dimite el alcalde de Madrid",
            "José Luis Rey dimitió el lunes en España.",
            {"Madrid, ES", "José Luis Rey", "Spain"},
        ),
        (
            "de",
            "Hans Maier tritt in München zurück",
            "Der Bürgermeister Hans Maier ging.",
            {"Munich, DE", "Hans Maier"},
        ),
        (
            "ru",
            "Сергей Белов подал в отставку",
            "Россия и Китай подписали договор.",
            {"Сергей Белов", "Russia", "China"},
        ),
        ("ja", "東京都知事が辞任", "知事は大阪で発表した。", {"Tokyo, JP", "Osaka, JP"}),
        ("ar", "رئيس بلدية القاهرة", "قال الرئيس في مصر", {"Cairo, EG", "Egypt"}),
    ],
)
def test_names_are_found_in_each_language(language, title, lead, entities):
    found = tag(title, lead, "", language, gazetteer())
    assert entities <= set(found.entities)
    assert set(found.places) <= set(found.entities)


def test_words_that_only_begin_a_sentence_name_nothing():
    found = tag(
        "Bridge reopens today", "Nobody knew. Everybody came on Monday. However it rained.", "", "en", gazetteer()
    )
    assert found.entities == []


def test_words_that_are_also_places_are_no_places():
    found = tag("A nice reading of the bath", "They said Nice things. May came. Reading helps.", "", "en", gazetteer())
    assert found.places == []


def test_the_larger_place_has_the_name_and_a_country_beats_a_city():
    known = gazetteer().places
    assert known["london"].country == "GB"
    assert known["georgia"].is_country
    assert known["lisboa"].label == "Lisbon, PT"


def test_a_last_name_belongs_to_its_one_full_name():
    small = Gazetteer({"oxmoor": Place("Oxmoor", "GB", 1)}, 1)
    found = tag(
        "", "The baker Ann Lee met Bo Lee. In Oxmoor the baker Cy Ode spoke; then Ode left for Oxmoor.", "", "en", small
    )
    assert "Cy Ode" in found.entities
    assert "Ode" not in found.entities
    assert found.places == ["Oxmoor, GB"]


@pytest.mark.parametrize(
    ("label", "url", "keywords", "sections"),
    [
        ("Business", "", (), ["business"]),
        ("Wirtschaft", "", (), ["business"]),
        ("Спорт", "", (), ["sports"]),
        ("国際", "", (), ["world"]),
        ("Arts & Culture", "", (), ["entertainment"]),
        ("News", "https://bay.test/news/politics/2026/a", (), ["politics"]),
        (None, "https://sport.bay.test/2026/a", (), ["sports"]),
        (None, "https://bay.test/2026/sport", (), []),
        ("News", "https://bay.test/a/b", ("Climate", "pier"), ["climate"]),
        ("Harbour", "https://bay.test/harbour/a", (), []),
        (None, "", (), []),
    ],
)
def test_labels_paths_and_tags_map_to_sections(label, url, keywords, sections):
    found = sections_of(label, url, keywords)
    assert found == sections
    assert set(found) <= set(SECTIONS)
