"""One template filled in twice is two events, in any language; two reports of one event are not held apart by it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fakes.stories import article
from fakes.stories import policy as wordy

from frontpage.domain.batch_clustering import candidate_edges
from frontpage.domain.clustering import Clusterer
from frontpage.domain.recluster import cut
from frontpage.domain.similarity import PairScorer
from frontpage.domain.story import StoryBook
from frontpage.domain.subjects import contradiction, subjects
from frontpage.domain.templates import headline
from frontpage.domain.terms import TermWeights

NOW = 1_700_000_000.0


def policy(language="en"):
    """Log-odds of shipped models' size: equal words reach +5, and would join."""
    plain = wordy(language)
    model = replace(plain.scorer.model, weights=np.array([4.0, 4.0], dtype=np.float32), bias=-3.0)
    return replace(plain, scorer=PairScorer(model, TermWeights(), None))


#: (title, text) with the places for names and numbers, then two ways to fill them in: two events.
TEMPLATES = {
    "en result": (
        "Late goal settles it as {0} beat {1} {2}",
        "{0} beat {1} {2} at a sold-out ground on Saturday, with the only difference between the sides a late goal from "
        "a corner that {1} failed to clear. The coach praised a patient display, and {0} move up one place in the table.",
        ("Thornbury", "Maldon", "2-1"),
        ("Wexcombe", "Arlesey", "1-0"),
    ),
    "de weather": (
        "Der Tag beginnt grau in {0}, später wird es besser",
        "In {0} beginnt der Tag grau und mit leichtem Regen, am Nachmittag lockert es auf und die Werte erreichen {1} "
        "Grad. Auch in {2} bleibt es am Abend meist trocken, der Wind weht schwach aus West. Morgen wird es milder.",
        ("Wetzlar", "14", "Herborn"),
        ("Rostock", "11", "Warnemünde"),
    ),
    "es lottery": (
        "Resultados del sorteo de la lotería de {0}",
        "Estos son los números ganadores del sorteo de la lotería de {0}: {1}. El premio mayor quedó en manos de un "
        "boleto vendido en {2}, informó la empresa, que recuerda que los premios se pagan durante noventa días.",
        ("Antioquia", "4418, 2203 y 9071", "Envigado"),
        ("Cundinamarca", "6152, 8840 y 1327", "Soacha"),
    ),
    "fr market": (
        "À la clôture, l'indice de {0} cède du terrain",
        "L'indice de {0} a terminé la séance en baisse de {1} %, dans un marché calme où les valeurs bancaires ont pesé. "
        "Le titre {2} signe le plus fort recul. Les opérateurs attendent les chiffres de l'emploi prévus vendredi.",
        ("Zurich", "0,7", "Valmont"),
        ("Lisbonne", "1,2", "Azulejo"),
    ),
    "pt court": (
        "Tribunal adia julgamento de {0} para o próximo mês",
        "O tribunal adiou para o próximo mês o julgamento de {0}, no processo {1}, a pedido da defesa. O juiz {2} aceitou "
        "o argumento de que faltavam perícias e marcou nova data. O ministério público não se opôs ao adiamento.",
        ("Adalberto Quintela", "4471/19", "Moura Brandão"),
        ("Severino Falcato", "8820/21", "Teles Varejão"),
    ),
    "it obituary": (
        "È morto {0}, una vita per il teatro",
        "È morto nella sua casa di {1} all'età di {2} anni {0}, una vita spesa per il teatro. Lascia la moglie e due "
        "figli. I funerali si terranno nella chiesa del paese, e il comune ha proclamato una giornata di lutto cittadino.",
        ("Fosco Bernardelli", "Camogli", "88"),
        ("Ubaldo Rinaudo", "Ostuni", "91"),
    ),
    "ru earthquake": (
        "Ночью землетрясение ощутили жители города {0}",
        "Землетрясение магнитудой {1} произошло ночью, толчки ощутили жители города {0} и посёлка {2}. Пострадавших и "
        "разрушений нет, сообщили спасатели. Очаг находился на глубине десяти километров, службы работают в обычном режиме.",
        ("Шелехов", "4,8", "Култук"),
        ("Нальчик", "5,3", "Эльбрус"),
    ),
    "ar weather": (
        "طقس {0} اليوم صحو ورياح خفيفة",
        "يكون الطقس في {0} اليوم صحوا مع رياح خفيفة وتصل درجة الحرارة إلى {1} درجة وتنخفض ليلا، وقالت الأرصاد إن الأجواء "
        "في {0} تبقى مستقرة حتى نهاية الأسبوع ولا أمطار متوقعة على المناطق القريبة في الأيام المقبلة.",
        ("عمان", "24"),
        ("تونس", "19"),
    ),
    "ja weather": (
        "{0}の天気は晴れのち曇り、夜は冷え込む",
        "{0}の天気はきょう晴れのち曇りで、最高気温は{1}度の見込み。{0}では夜から朝にかけて冷え込み、気象台は農作物の管理に"
        "注意するよう呼びかけている。週末は高気圧に覆われて晴れる所が多くなりそうだ。",
        ("札幌", "12"),
        ("那覇", "23"),
    ),
}  # fmt: skip


def filled(template, values, article_id, at=NOW):
    title, text = template[0].format(*values), template[1].format(*values)
    return article(article_id, title, text, at=at)


def judged(*articles):
    """Log-odds of the first two, as the scorer's words have them and as judged."""
    scorer = policy().scorer
    one, other = (scorer.prepare(each) for each in articles)
    table = scorer.features(one, [other])
    words = scorer.model.logits(np.stack([table[:, 2], table[:, 3]], axis=1))
    return float(words[0]), float(scorer.judge(one, [other], table)[0])


@pytest.mark.parametrize("name", TEMPLATES)
def test_two_events_of_one_template_are_told_apart(name):
    template = TEMPLATES[name]
    words, found = judged(filled(template, template[2], "a"), filled(template, template[3], "b"))
    assert words > 0.0, "this template shares too few words to be a test"
    assert found < 0.0


@pytest.mark.parametrize("name", TEMPLATES)
def test_one_event_in_the_same_template_is_not(name):
    template = TEMPLATES[name]
    again = filled((template[0], template[1].replace(".", " -")), template[2], "b")
    words, found = judged(filled(template, template[2], "a"), again)
    assert found == words > 0.0


def test_titles_in_other_words_do_not_hide_that_texts_name_others():
    template = TEMPLATES["en result"]
    first = filled(template, template[2], "a")
    second = filled(("A corner decides it: {0} and {1} finish {2}", template[1]), template[3], "b")
    same = filled(("A corner decides it: {0} and {1} finish {2}", template[1]), template[2], "c")
    assert judged(first, second)[1] < judged(first, second)[0] - 3.0
    assert judged(first, same)[1] == judged(first, same)[0]


def test_online_repair_and_re_clustering_keep_a_series_apart():
    template = TEMPLATES["de weather"]
    towns = (
        ("Wetzlar", "14", "Herborn"),
        ("Rostock", "11", "Warnemünde"),
        ("Passau", "9", "Vilshofen"),
        ("Husum", "7", "Tönning"),
    )
    writer = Clusterer(policy, StoryBook(), partition=0)
    for number, town in enumerate(towns):
        for version in ("a", "b"):
            one = filled(template, town, f"{town[0]}-{version}", NOW + number)
            writer.decide(one, NOW + number, ("articles.normalised", 0, number * 2 + (version == "b")))
    writer.repair(NOW + 60, ("repair", 0, 1))
    stories = {writer.book.story_of[f"{town[0]}-{version}"] for town in towns for version in ("a", "b")}
    assert len(stories) == len(towns)
    assert all(writer.book.story_of[f"{town[0]}-a"] == writer.book.story_of[f"{town[0]}-b"] for town in towns)
    edges = candidate_edges(writer, "en")
    groups = cut(sorted(writer.book.story_of), edges, 0.0)
    assert sorted(sorted({name.split("-")[0] for name in group}) for group in groups) == sorted([t[0]] for t in towns)


def test_a_weekday_and_a_date_do_not_contradict():
    left = article("a", "Choir calls for a day of silence for peace on Friday", at=NOW)
    right = article("b", "Choir calls for a day of silence for peace on 22 August", at=NOW)
    words, found = judged(left, right)
    assert found == words


def test_a_name_and_its_initials_do_not_contradict():
    left = article("a", "Coalition captures a senior PUF member in Tor", at=NOW)
    right = article("b", "Coalition captures a senior People's Unity Front member in Tor", at=NOW)
    assert judged(left, right)[0] == judged(left, right)[1]


def test_contradiction_is_symmetric_and_asks_both_sides():
    def idf(ids):
        return np.ones(len(ids), dtype=np.float32)

    def ids(*numbers):
        return np.array(numbers, dtype=np.uint32)

    one = subjects(ids(1, 2), ids(), idf, known=ids(1, 2, 9), telling=True)
    other = subjects(ids(3), ids(), idf, known=ids(3, 9), telling=True)
    knows = subjects(ids(3), ids(), idf, known=ids(1, 2, 3), telling=True)
    nobody = subjects(ids(), ids(), idf, known=ids(9), telling=True)
    given = {"names": 0.0, "numbers_differ": True, "scores_differ": False, "versions": False}
    assert contradiction(one, other, **given) == contradiction(other, one, **given) > 0.0
    assert contradiction(one, knows, **given) == contradiction(one, nobody, **given) == 0.0
    assert contradiction(one, other, **{**given, "names": 0.9}) == 0.0


def test_words_that_a_text_says_again_are_names_where_a_script_has_no_capitals():
    taken = article("a", "札幌の天気は晴れ", "札幌では夜から冷え込む。")
    again = taken.terms[taken.counts > 1.0]
    assert headline(taken.core, [], again).names == {"札幌"}
    assert headline("Sapporo wakes up to snow", [], again).names == frozenset()
