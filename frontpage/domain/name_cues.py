"""How texts without capitals mark names: persons' titles and honorifics, quotes, katakana, the dot of foreign names.

`sure` marks are good enough to tag an article with; `possible` ones only to learn from. Arabic, Japanese, Chinese.
Not for scripts with capitals (`entities.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from frontpage.domain.names import CHARACTERS
from frontpage.domain.wordlists import words

#: Languages that are marked in such ways.
CUED: Final = frozenset({"ar", "ja", "zh"})
#: Arabic titles that stand before a person's name.
_ARABIC_TITLES: Final = words(
    """
    الرئيس رئيس الوزير وزير وزيرة الأمير الملك الملكة الشيخ الدكتور النائب السيناتور السفير الأمين القاضي
    المدرب اللاعب اللاعبة النجم الفنان الفنانة الكاتب الكاتبة العمدة الجنرال المتحدث المرشح المرشحة والرئيس والوزير
    الرئيسة الوزيرة الأميرة الدكتورة النائبة السفيرة القاضية المدربة النجمة الممثل الممثلة المخرج المخرجة المتحدثة
    """
)
_ARABIC_WORD: Final = re.compile(r"[\u0621-\u064a]+")
_ARABIC_QUOTE: Final = re.compile(r"[«\"“]([\u0621-\u064a][\u0621-\u064a ]{1,24})[»\"”]")

_HONORIFIC: Final = (
    r"(?:氏|さん|首相|大統領|選手|監督|容疑者|被告|社長|会長|知事|市長|議員|大臣|外相|財務相|総裁|教授|投手|騎手|容疑)"
)
_JAPANESE: Final = (
    re.compile(r"(?<![ァ-ヴー・])[ァ-ヴ][ァ-ヴー]{2,}(?:・[ァ-ヴー]{2,})*(?![ァ-ヴー])"),
    re.compile(rf"(?<![一-龯々])([一-龯々]{{2,5}}?)(?={_HONORIFIC})"),
    re.compile(r"[「『]([^「」『』、。]{2,12})[」』](?!と)"),
)
_KATAKANA: Final = re.compile(r"[ァ-ヴー]")
#: Katakana that is vocabulary rather than a name.
_LOANWORDS: Final = words(
    """
    ニュース サッカー テレビ インターネット メール スポーツ サービス システム ドル ユーロ チーム リーグ ゴール
    ビデオ コメント オンライン スマートフォン コロナ ワクチン ウイルス ミサイル イベント レストラン ホテル バス
    トラック タクシー エネルギー ガソリン データ センター グループ プロジェクト キャンペーン シーズン プロ
    """
)

_CHINESE_TITLE: Final = (
    r"(?:总统|總統|总理|總理|首相|主席|部长|部長|外长|外長|市长|市長|教练|教練|队长|隊長|发言人|發言人|书记|書記|导演|"
    r"導演|歌手|球员|球員|局长|局長|总裁|總裁|教授|候选人|候選人)"
)
_CHINESE_NEXT: Final = (
    r"(?=表示|宣布|称|稱|说|說|指出|强调|強調|访|訪|会见|會見|抵|将|將|在|与|與|和|对|對|的|当选|當選|辞|辭|向|呼|获|獲|"
    r"发|發|回应|回應|被|出席|签署|簽署|再|重|[，。、：；！？,:;!?\s》」]|$)"
)
_CHINESE: Final = (
    re.compile(rf"{_CHINESE_TITLE}([\u4e00-\u9fff]{{2,4}}?){_CHINESE_NEXT}"),
    re.compile(r"(?:^|[，。、：；！？,:;!?\s])([\u4e00-\u9fff]{2,4}?)(?=表示|宣布|指出|强调|強調)"),
    re.compile(
        rf"(?:{_CHINESE_TITLE}|(?<![\u4e00-\u9fff·]))"
        rf"([\u4e00-\u9fff]{{1,5}}(?:·[\u4e00-\u9fff]{{1,5}}?)+){_CHINESE_NEXT}"
    ),
    re.compile(r"[《“「]([\u4e00-\u9fffA-Za-z0-9]{2,12})[》”」]"),
)


def sure(text: str, language: str) -> list[str]:
    """Names that a person's title or honorific marks, and foreign names with their dot."""
    if language == "ar":
        return [name for name in _arabic(text) if name.count(" ") == 1]
    if language == "ja":
        found = [name for pattern in _JAPANESE[:2] for name in _matches(pattern, text)]
        return [name for name in found if "・" in name or not _KATAKANA.match(name)]
    return [name for pattern in (_CHINESE[0], _CHINESE[2]) for name in _matches(pattern, text)]


def possible(text: str, language: str) -> list[str]:
    """All that may be names."""
    if language == "ar":
        return [*_arabic(text), *_ARABIC_QUOTE.findall(text)]
    patterns = _JAPANESE if language == "ja" else _CHINESE
    return [name for pattern in patterns for name in _matches(pattern, text) if name not in _LOANWORDS]


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for match in pattern.finditer(text):
        name = match[match.lastindex or 0]
        if len(name) <= CHARACTERS:
            yield name


def _arabic(text: str) -> Iterator[str]:
    """The two words after a person's title, adjectives and offices with the article between them left out."""
    tokens = _ARABIC_WORD.findall(text)
    for at, token in enumerate(tokens):
        if token not in _ARABIC_TITLES:
            continue
        rest = tokens[at + 1 : at + 6]
        while rest and (rest[0].startswith("ال") or rest[0] in _ARABIC_TITLES):
            rest = rest[1:]
        if rest and len(rest[0]) > 2:
            if len(rest) > 1:
                yield " ".join(rest[:2])
            if len(rest) > 2:
                yield " ".join(rest[:3])
