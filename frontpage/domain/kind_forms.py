"""Fact-check, live blog and paywall by the form of the text, for pages whose markup says nothing.

Rules, not a fitted model: labelled examples are a dozen, far too few to learn from. Each rule asks for two independent
marks (a headline that checks and a verdict; dated entries in number; a shortened text and a sentence that says so).
Opinion has no form of its own: `kind_cues` judges its style.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from frontpage.domain.wordlists import alternatives, names

#: Characters in which a text is looked at; verdicts stand early or at the end.
_LIMIT: Final = 20_000
#: A text longer than this was not held back: the sentence belongs to an advertisement beside it.
GATED_MOST: Final = 1_500

_CHECKING: Final = re.compile(
    r"^no,\s|^false\b|^fake\b|^falsch\b|^irreführend\b|^faux\b|^falso\b|^нет,\s|^фейк\b|\bfact[\s-]?check|\bfaktencheck"
    r"|\bverificaci[oó]n\b|\bvrai ou faux\b|\bes (?:falso|verdad) que\b|\bé (?:falso|verdade|fake) que\b|\bis it true\b"
    r"|^did\s.*\?$|^does\s.*\?$|^is\s.*\?$|^are\s.*\?$|^was\s.*\?$|^has\s.*\?$|^stimmt es\b|^¿.*\?$|\bbulos?\b|\bhoax\b"
    r"|\bdesmentid[oa]\b|\bviral\b|\bfausse?\b|\bkein beleg\b|\bfack?taczek\b|\bправда ли\b|^(?:false|true) claim",
    re.IGNORECASE,
)
_VERDICT: Final = re.compile(
    r"\b(?:our\s+(?:verdict|rating|ruling|conclusion)|verdict|we\s+rate\s+(?:this|it|the\s+claim|that))\b\W{0,3}(?:is\W)?"
    r"|\brat(?:ed|ing)\s*[:\s]\s*(?:false|misleading|mostly|half|true|pants)"
    r"|\b(?:the|this|that)\s+(?:claim|post|video|image)\s+is\s+(?:false|misleading|fabricated|fake|altered|satire)\b"
    r"|\b(?:fact-checkers?|fact[\s-]check|we checked)\b.{0,80}\b(?:false|misleading|no evidence)\b"
    r"|\b(?:fazit|urteil|bewertung)\s*:\s*(?:falsch|irreführend|unbelegt|frei erfunden|größtenteils)"
    r"|\b(?:veredicto|conclusi[oó]n|conclus[aã]o)\s*:\s*(?:falso|engañoso|enganoso|sin pruebas|sem provas|bulo)"
    r"|\b(?:verdict|conclusion)\s*:\s*(?:faux|trompeur|sans preuve)|\bвердикт\s*:|\bэто\s+(?:фейк|неправда)\b"
    r"|\bdas ist falsch\b.{0,60}\b(?:prüfung|faktencheck)\b|\bes falso\b.{0,60}\b(?:comprobado|verificado)\b"
    r"|\bc'est faux\b.{0,60}\b(?:vérification|enquête)\b",
    re.IGNORECASE | re.DOTALL,
)
#: A paragraph that begins with a time of day and goes on in whole sentences: an entry. Fixtures and lists of clips with
#: their lengths have no such paragraphs.
_ENTRY: Final = re.compile(
    r"^\W{0,3}(?:[01]?\d|2[0-3])(?:[:.h]|\s?uhr\s?)[0-5]\d\s?(?:am|pm|uhr|gmt|bst|est|edt|et|cet|cest|utc|ist|mez|hrs?)?\b"
    r"\W{0,4}\S.{60,}[.!?…”\"»)]$",
    re.IGNORECASE | re.MULTILINE,
)
_FOLLOWED: Final = re.compile(
    alternatives(
        r"""
        \blive\b \bupdates?\b as_it_happened liveticker liveblog newsblog minuto_a_minuto en_direct en_vivo ao_vivo
        diretta онлайн прямой_эфир canlı na_żywo
        """
    ),
    re.IGNORECASE,
)
#: Entries that make a live blog: with a headline that says so, and without.
ENTRIES_SAID: Final = 3
ENTRIES: Final = 6

_GATE: Final = re.compile(
    alternatives(
        r"""
        subscribe_(?:now_)?to_(?:continue|keep)_reading subscribe_to_read_the_(?:full|rest)
        to_(?:continue|keep)_reading(?:_this_(?:article|story))?,?_(?:please_)?(?:subscribe|sign_up|log_in|become)
        (?:sign_in|log_in|register|sign_up)_to_(?:continue|keep)_reading
        this_(?:article|story|content)_is_(?:reserved_|only_|available_|exclusively_)*(?:for|to)_(?:our_)?(?:\w+_)?(?:subscribers|members)
        (?:subscriber|subscribers|member|members)[\s-]only_(?:article|story|content)
        you_have_reached_your_(?:article_)?limit the_rest_of_this_(?:article|story)_is
        (?:dieser|der_ganze|der_vollständige)_(?:artikel|text|beitrag)_ist_(?:nur_)?(?:exklusiv_)?für_(?:\w+_)?abonnent
        nur_für_abonnent(?:en|innen) jetzt_weiterlesen_mit weiterlesen_mit_\S+\s?(?:plus|\+) lesen_sie_weiter_mit
        (?:cet_)?article_(?:est_)?réservé_(?:à_nos|aux)_abonnés la_suite_est_réservée il_vous_reste_\d+\W{0,3}%
        (?:contenido|artículo|noticia)_(?:exclusivo|exclusiva|solo)_para_(?:nuestros_)?suscriptores
        suscríbete_para_(?:seguir|continuar)_leyendo para_(?:seguir|continuar)_leyendo,?_suscríb
        (?:conteúdo|matéria|artigo)_(?:exclusivo|exclusiva)_para_(?:nossos_)?assinantes assine_para_continuar
        (?:contenuto|articolo)_riservato_agli_abbonati abbonati_per_continuare_a_leggere
        (?:alleen|exclusief)_voor_abonnees lees_verder_met dalsza_część_artykułu_dostępna tylko_dla_prenumeratorów
        доступн(?:о|а|ы)_только_(?:для_)?подписчик för_att_läsa_vidare abone_olarak_okumaya
        この記事は(?:有料)?会員限定 残り\s?[\d,]+\s?文字 本文[\s:：]*残り 訂閱後繼續閱讀 订阅后继续阅读 구독자_전용
        """
    ),
    re.IGNORECASE,
)  # fmt: skip


#: Each sentence of _GATE has one of these; looking for them first is many times cheaper than the sentences.
_STEMS: Final = names(
    """
    subscri reading members limit rest_of_this abonn weiterlesen réservé reste suscri assin abbon vidare verder abone
    dalsza prenumerator подписчик 会員 残り 訂閱 订阅 구독
    """
)


def checks_a_claim(title: str, text: str) -> bool:
    """Whether a text is a fact-check: its headline checks something and the text gives a verdict."""
    return _CHECKING.search(title) is not None and _VERDICT.search(text[:_LIMIT]) is not None


def is_live_blog(title: str, text: str) -> bool:
    """Whether a text (one paragraph a line) consists of entries with their times."""
    entries = len(_ENTRY.findall(text[:_LIMIT]))
    return entries >= ENTRIES or (entries >= ENTRIES_SAID and _FOLLOWED.search(title) is not None)


def is_gated(text: str, shown: str) -> bool:
    """Whether `text`, the article as far as it was given to us, is held back: short, and `shown` (all the page's
    words) says that the rest is for subscribers.
    """
    if len(text) >= GATED_MOST:
        return False
    lowered = " ".join(shown.lower().split())
    return any(_GATE.search(lowered, max(0, at - 80), at + 120) for stem in _STEMS for at in _places(lowered, stem))


def _places(text: str, stem: str) -> Iterator[int]:
    word = stem.replace("_", " ")
    place = text.find(word)
    for _ in range(20):
        if place < 0:
            return
        yield place
        place = text.find(word, place + len(word))
