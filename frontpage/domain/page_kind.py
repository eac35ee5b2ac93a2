"""News, opinion, fact-check, live blog or something else, from what publishers state: markup, sections, paths, labels.

Tuned for precision: labelling news as opinion is the worse error, so only stated types and whole path segments count.
Texts whose publisher states nothing are judged by form (`kind_forms`) and style (`kind_cues`).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

from frontpage.domain.hosts import registrable_domain
from frontpage.domain.wordlists import alternatives, words

Kind = Literal["news", "opinion", "fact_check", "live", "other"]

_OPINION: Final = words(
    """
    opinion opinions opinion-analysis op-ed oped editorial editorials columnist columnists column columns commentary
    comment commentisfree perspective perspectives viewpoint viewpoints letters blog-opinion opiniones opinión
    tribuna columnas columna editoriales opinião opiniao colunas coluna colunistas meinung kommentar kommentare
    kolumne kolumnen gastbeitrag leitartikel gastkommentar debatte tribune tribunes idees idées chronique chroniques
    éditorial editoriaux éditoriaux edito édito opinioni commenti editoriale editoriali opinie columna-de-opinion
    kolumny opinia publicystyka мнение мнения колонки колонка думка думки блоги آراء رأي مقالات نظر opini kolom
    görüş yazarlar köşe-yazıları yorum debatt ledare kronikk leder 社説 社论 社論 评论 評論 观点 觀點 オピニオン
    论坛 사설 칼럼 오피니언 quan-điểm góc-nhìn goc-nhin quan-diem γνώμες απόψεις דעות názory komentáře vélemény
    mielipide pääkirjoitus
    """
)
_FACT_CHECK: Final = words(
    """
    fact-check factcheck fact-checks factchecks fact-checking factchecking fact_check faktencheck verificacion
    verificación verificado verifica maldita-hemeroteca bulos verdadeiro-ou-falso fato-ou-fake fact-check-politics
    checamos desintox les-decodeurs decodeurs décodeurs reality-check realitycheck politifact checkyourfact prüfung
    factuel vrai-ou-fake vrai-ou-faux faktisk faktenfuchs teyit doğruluk-kontrolü cek-fakta cekfakta фактчек
    проверка-фактов ファクトチェック 팩트체크 فحص-الحقائق
    """
)
_LIVE: Final = words(
    """
    live live-updates liveblog live-blog liveticker live-ticker newsblog ticker en-direct direct-live en-vivo envivo
    ao-vivo minuto-a-minuto minuto-por-minuto canli canlı na-żywo на-живо онлайн прямой-эфир diretta in-diretta
    """
)


def _announced(labels: str, otherwise: str = "") -> re.Pattern[str]:
    return re.compile(rf"^{alternatives(labels)}\s*[|:–—]\s*\S{otherwise}", re.IGNORECASE)


#: How headlines announce their kind ("Opinion | ...").
_LABELS: Final[dict[Kind, re.Pattern[str]]] = {
    "opinion": _announced(
        """
        opinion op-ed editorial comment commentary column guest_column letters? opinión opinião meinung kommentar
        kolumne leitartikel gastbeitrag tribune édito éditorial chronique editoriale opinione мнение колонка رأي 社説
        社论
        """
    ),
    "fact_check": _announced(
        r"fact[\s-]?check faktencheck verificación verificado fato_ou_fake vrai_ou_fake fact-checking"
    ),
    "live": _announced(
        r"""
        live live[\s-]updates? live[\s-]?blog live[\s-]?ticker newsblog en_direct en_vivo ao_vivo diretta
        в_прямом_эфире
        """,
        otherwise=r"|\s[|–—-]\s+live updates$",
    ),
}
#: Sites (the label of their domain) that publish nothing but checks.
_CHECKERS: Final = words(
    """
    politifact factcheck factchecker fullfact snopes faktisk teyit aosfatos demagog stopfake checkyourfact leadstories
    factcrescendo
    """
)
#: Sections are joined by these: "Opinion > Editorials", "News/Opinion".
_JOINED: Final = re.compile(r"\s*[/>|›»]\s*")
_OPINION_TYPES: Final = frozenset({"opinionnewsarticle"})
_OG_OTHER: Final = ("video", "music", "profile", "product", "book")


def kind_of(
    url: str,
    *,
    types: Collection[str] = (),
    section: str = "",
    labels: Collection[str] = (),
    title: str = "",
    og_type: str = "",
    is_other: bool = False,
) -> Kind:
    """The kind of a page. `types`: lower-case schema.org types of its article object; `section` the publisher's label,
    `labels` its further ones (second sections, crumbs), which name opinions and checks only; `is_other` says that its
    structured data describes something that is no article.
    """
    if "claimreview" in types:
        return "fact_check"
    if "liveblogposting" in types:
        return "live"
    if _OPINION_TYPES & set(types):
        return "opinion"
    parts = urlsplit(url)
    segments = [unquote(part).casefold() for part in parts.path.split("/") if part]
    # The last segment is the article's own slug: "/sport/live" is a section, "/2026/live-music-returns" is a headline.
    sections = segments[:-1] if len(segments) > 1 else []
    stated = {_key(section)}
    further = {_key(part) for label in (section, *labels) for part in _JOINED.split(label)}
    host = parts.hostname or ""
    domain = registrable_domain(host)
    # "opinion.paper.test" is a section, "tribune.test" the name of a paper.
    within = host.removesuffix(domain).rstrip(".").split(".")[0]
    tables: tuple[tuple[Kind, frozenset[str]], ...] = (
        ("fact_check", _FACT_CHECK),
        ("live", _LIVE),
        ("opinion", _OPINION),
    )
    for kind, table in tables:
        if not table.isdisjoint(stated) or any(segment in table for segment in sections[:4]):
            return kind
        if kind != "live" and (within in table or not table.isdisjoint(further)):
            return kind
    if segments and domain.partition(".")[0] in _CHECKERS:
        return "fact_check"
    for kind, pattern in _LABELS.items():
        if pattern.search(title):
            return kind
    if is_other or (not segments and not parts.query) or og_type.startswith(_OG_OTHER):
        return "other"
    return "news"


def _key(label: str) -> str:
    return "-".join(label.casefold().split())
