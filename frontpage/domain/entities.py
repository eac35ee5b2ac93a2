"""Linked entities of an article: places of a gazetteer, and names by their capitals, as canonical strings.

The simplest form that is real: a place is linked when its name stands in the text as a name, and carries its country
("Lisbon, PT"); other names are runs of capitalised words that do not only begin a sentence. Languages that capitalise
nothing, or every noun, get places and multi-word runs only, and the names that the batch layer has learnt (names.py).
Entities are evidence for stories, never a gate. Not for: learning names (name_candidates.py).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from frontpage.domain.languages import primary_subtag
from frontpage.domain.name_cues import CUED, sure
from frontpage.domain.names import CHARACTERS, INFLECTED, WORDS, Names, nominatives
from frontpage.domain.wordlists import words


@dataclass(frozen=True, slots=True)
class Place:
    """`name` in English, `country` ISO 3166-1 alpha-2; `population` settles equal names."""

    name: str
    country: str
    population: int
    is_country: bool = False

    @property
    def label(self) -> str:
        """`Lisbon, PT`, and `Portugal` for a country."""
        return self.name if self.is_country else f"{self.name}, {self.country}"


@dataclass(frozen=True, slots=True)
class Gazetteer:
    """Names as they stand in texts (any language) to places. `longest` counts words of the longest name."""

    places: Mapping[str, Place] = field(default_factory=dict)
    longest: int = 4


@dataclass(frozen=True, slots=True)
class Tagged:
    """`entities`: canonical strings, most mentioned first; `places`: their part that are places."""

    entities: list[str]
    places: list[str]


#: Languages in which a capital does not mark a name: every noun has one, or there are none.
_NOUNS_CAPITAL: Final = frozenset({"de"})
_NO_CAPITALS: Final = frozenset("ar fa he ur hi bn ta te mr ja zh ko th my ka am".split())  # noqa: SIM905
_NO_SPACES: Final = frozenset({"ja", "zh", "th", "my"})
_NO_PLACES: Final = Gazetteer()
_NO_NAMES: Final = Names()
LIMIT: Final = 25
#: Characters of the longest place name that is looked up in scripts without spaces.
_LONGEST_PLACE: Final = 8

_WORD: Final = re.compile(r"[^\W\d_](?:[\w'’.-]*\w)?|\d+", re.UNICODE)
#: Articles and prepositions that lose their vowel before a name: `l'Inde`, `dell'Aquila`.
_ELIDED: Final = re.compile(r"\b(?:[cdjlmnst]|qu|jusqu|lorsqu|dell|all|nell|dall|sull|un)['’](?=\w)", re.IGNORECASE)
_ELIDING: Final = frozenset({"fr", "it", "ca"})
_SENTENCE_END: Final = re.compile(r"[.!?:;\n•|–—\"“”„«»(]\s*$")
_JOINERS: Final = words("of de del de la la el van von der den da do dos das di du le of the & bin al ibn")
#: Capitalised words that name nothing by themselves: weekdays, months, titles, sentence openers.
_COMMON: Final = words(
    """
    the a an this that these those he she it they we you i his her its their our my in on at by for from with after
    before during since until while when where what who why how if but and or so as to of not no yes all some many
    most more new old first last monday tuesday wednesday thursday friday saturday sunday january february march
    april may june july august september october november december mr mrs ms dr sir president prime minister mayor
    governor senator judge king queen prince princess pope general captain coach ceo alcalde alcaldesa presidente
    presidenta ministro ministra rey reina maire président premier roi bürgermeister bundeskanzler kanzler
    präsident sindaco prefeito мэр президент министр премьер-министр live update breaking news exclusive video
    photos analysis opinion editorial review watch read here there now today tomorrow yesterday el la los las un
    una unos unas en de del por para con sin sobre según tras desde hasta cuando como pero más lunes martes
    miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto septiembre octubre
    noviembre diciembre le les des du au aux une dans sur pour avec sans après avant depuis selon mais lundi mardi
    mercredi jeudi vendredi samedi dimanche janvier février mars avril mai juin juillet août septembre octobre
    novembre décembre il lo gli uno nel nella dal dalla per tra fra dopo prima ma lunedì martedì mercoledì giovedì
    venerdì sabato domenica o os um uma na nos nas em ao com sem após antes segundo mas segunda terça quarta quinta
    sexta der die das ein eine einen einem und oder aber im am mit nach von vor seit bis bei für gegen über unter
    montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz juni juli oktober dezember het
    een van voor met door в на по из за от до о об при для и а но что как это он она они мы вы я если после перед
    trainer trainerin ministerin kanzlerin präsidentin sprecher sprecherin chef chefin autor autorin sänger sängerin
    schauspieler schauspielerin richter richterin à ministre ministra juge juez juiz giudice écrivain
    писатель писательница тренер режиссёр певец певица актёр актриса глава губернатор депутат журналист
    понедельник вторник среда четверг пятница суббота воскресенье январь февраль март апрель май июнь июль август
    сентябрь октябрь ноябрь декабрь
    """
)


def tag(
    title: str, lead: str, body: str, language: str, gazetteer: Gazetteer, *, learnt: Names = _NO_NAMES
) -> Tagged:  # fmt: skip
    """Entities of one article. `body` is read in memory up to 5,000 characters; names in the title count threefold.

    `learnt` are the names of the article's language that the batch layer has published.
    """
    subtag = primary_subtag(language)
    counts: Counter[str] = Counter()
    places: set[str] = set()
    for text, weight in ((title, 3), (lead, 2), (body[:5000], 1)):
        if not text:
            continue
        for name, is_place in _names(text, subtag, gazetteer, learnt):
            counts[name] += weight
            if is_place:
                places.add(name)
    _fold_parts(counts, places)
    # Once in a body is a mention, not a subject; once in title or lead is.
    ranked = [name for name, count in counts.most_common() if count >= 2][:LIMIT]
    return Tagged(ranked, [name for name in ranked if name in places])


def capitalised(text: str, language: str) -> list[str]:
    """The capitalised runs of a text that may name something: what names are learnt from.

    Of a run at the head of a sentence, or with a joiner in it, the end too: `Critics of Ana Reis`, `Workers of Acme`.
    """
    found = []
    for name, _ in _names(text, language, _NO_PLACES, _NO_NAMES):
        found.append(name)
        before, _, end = name.partition(" ")
        while end and (text.startswith(before) or end.partition(" ")[0] in _JOINERS):
            before, _, end = end.partition(" ")
            if before in _JOINERS:
                found.append(end)
                before, _, end = end.partition(" ")
            else:
                found.append(f"{before} {end}".strip())
    return found


def _fold_parts(counts: Counter[str], places: set[str]) -> None:
    """A last name alone belongs to the one full name that ends in it."""
    full = [name for name in counts if " " in name and name not in places]
    for single in [name for name in counts if " " not in name and name not in places]:
        owners = [name for name in full if name.rpartition(" ")[2] == single]
        if len(owners) == 1:
            counts[owners[0]] += counts.pop(single)


def _names(text: str, language: str, gazetteer: Gazetteer, learnt: Names) -> list[tuple[str, bool]]:
    if language in _ELIDING:
        text = _ELIDED.sub("", text)
    marked = [(name, False) for name in sure(text, language)] if language in CUED else []
    if language in _NO_SPACES:
        inside = _inside(text, gazetteer, learnt)
        return inside + [one for one in marked if one not in inside]
    tokens = [(match[0], match.start(), match.end()) for match in _WORD.finditer(text)]
    capitals = language not in _NO_CAPITALS
    found: list[tuple[str, bool]] = []
    place = 0
    while place < len(tokens):
        if capitals and not tokens[place][0][:1].isupper():
            place += 1  # four words in five begin nothing
            continue
        linked = _place_at(tokens, place, gazetteer, language)
        run = _run_at(text, tokens, place) if capitals else 0
        if run > 1 and not linked and tokens[place][0].casefold() in _COMMON:
            place += 1  # "In Lisbon": the place is the rest
            continue
        known = _known_at(text, tokens, place, learnt, language) if learnt else None
        if linked and run <= linked[0] and (not known or known[0] <= linked[0]):
            found.append((linked[1].label, True))
            place += linked[0]
            continue
        if known and known[0] >= run:
            found.append((known[1], False))
            place += known[0]
            continue
        if run:
            end = _known_end(text, tokens[place : place + run], learnt, language) if learnt else None
            name = end or _run_name(text, tokens, place, run, language)
            if name:
                found.append((name, False))
            place += run
            continue
        place += 1
    return found + [one for one in marked if one not in found]


def _known_end(text: str, run: list[tuple[str, int, int]], learnt: Names, language: str) -> str | None:
    """The learnt name that a capitalised run ends in: `Workers of Acme`, `Chancellor Maier`."""
    for at in range(1, len(run)):
        known = _known_at(text, run, at, learnt, language)
        if known and at + known[0] == len(run):
            return known[1]
    return None


def _known_at(
    text: str, tokens: list[tuple[str, int, int]], start: int, learnt: Names, language: str
) -> tuple[int, str] | None:
    """The longest learnt name that begins at a token: how many tokens, and what it is called."""
    for length in range(min(WORDS, len(tokens) - start), 0, -1):
        first, last = tokens[start], tokens[start + length - 1]
        if last[2] - first[1] > 60 or (length == 1 and first[0].casefold() in _COMMON):
            continue
        name = learnt.find(text[first[1] : last[2]], language)
        if name:
            return length, name
    return None


def _place_at(
    tokens: list[tuple[str, int, int]], start: int, gazetteer: Gazetteer, language: str
) -> tuple[int, Place] | None:
    for length in range(min(gazetteer.longest, len(tokens) - start), 0, -1):
        name = " ".join(token for token, _, _ in tokens[start : start + length])
        entry = gazetteer.places.get(name.removesuffix("'s").removesuffix("’s").casefold())
        if entry is None and language in INFLECTED:
            entry = next(
                (gazetteer.places[one] for one in nominatives(name, language) if one in gazetteer.places), None
            )
        if entry and not (length == 1 and name.casefold() in _COMMON):
            return length, entry
    return None


def _run_at(text: str, tokens: list[tuple[str, int, int]], start: int) -> int:
    """How many tokens from `start` form one capitalised run; 0 when the token is no capitalised word."""
    word, _, end = tokens[start]
    if not word[:1].isupper():
        return 0
    length = 1
    while start + length < len(tokens):
        token, begin, stop = tokens[start + length]
        gap = text[end:begin]
        if gap.strip(" '’&-") or len(gap) > 2:
            break
        if token[:1].isupper():
            length += 1
        elif (
            token.casefold() in _JOINERS
            and start + length + 1 < len(tokens)
            and tokens[start + length + 1][0][:1].isupper()
            and text[stop : tokens[start + length + 1][1]] == " "
        ):
            length += 2
            stop = tokens[start + length - 1][2]
        else:
            break
        end = stop
    return length


def _run_name(text: str, tokens: list[tuple[str, int, int]], start: int, length: int, language: str) -> str | None:
    run = [token.removesuffix("'s").removesuffix("’s") for token, _, _ in tokens[start : start + length]]
    begin = tokens[start][1]
    before = text[max(0, begin - 4) : begin]
    opens = (not start and not text[:begin].strip()) or bool(_SENTENCE_END.search(before))
    while run and run[0].casefold() in _COMMON:
        run = run[1:]
        opens = False
    while run and run[-1].casefold() in _JOINERS:
        run = run[:-1]
    if not run:
        return None
    if len(run) == 1:
        word = run[0]
        # One capitalised word at the head of a sentence is a word; an acronym is a name anywhere.
        acronym = len(word) >= 2 and word.isupper()
        if (opens or language in _NOUNS_CAPITAL) and not acronym:
            return None
        if len(word) < 2 or (len(word) == 2 and not acronym):
            return None
    elif opens and all(token.isupper() for token in run) and len(run) > 4:
        return None  # a shouted headline
    return " ".join(run)


def _inside(text: str, gazetteer: Gazetteer, learnt: Names) -> list[tuple[str, bool]]:
    """Scripts without spaces: learnt names and gazetteer names as they occur, the longest first at each position."""
    found: list[tuple[str, bool]] = []
    place = 0
    longest = CHARACTERS if learnt else _LONGEST_PLACE
    while place < len(text):
        for length in range(min(longest, len(text) - place), 1, -1):
            part = text[place : place + length].casefold()
            name, entry = learnt.by_form.get(part), gazetteer.places.get(part) if length <= _LONGEST_PLACE else None
            if name or entry:
                found.append((name, False) if name else (entry.label if entry else "", True))
                place += length - 1
                break
        place += 1
    return found
