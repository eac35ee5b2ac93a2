"""How long ago a text says something was published: "3 hours ago", "vor 2 Stunden", "3小时前". Pure: text to seconds.

Only a text that is nothing else counts, and only seconds to days: "2 weeks ago" and longer name no day. A text says
"3 hours" for anything from three to four; the least is taken. Not here: what it is relative to (`page_dates`).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from frontpage.domain.languages import primary_subtag
from frontpage.domain.wordlists import names

MINUTE: Final = 60.0
HOUR: Final = 3_600.0
DAY: Final = 86_400.0
#: Longer texts say more than how long ago.
LONGEST: Final = 60
#: Counted in days, templates go up to a month before they write the date itself.
MOST: Final = 31 * DAY


@dataclass(frozen=True, slots=True)
class Age:
    """`seconds` before the moment of writing; `day_only` when the text counts days."""

    seconds: float
    day_only: bool


#: A line for each language: what stands before the number, what behind it all ("-": nothing), words for second, minute,
#: hour and day, and for one ("." means that the unit alone is one). Blanks inside a word are underscores.
_ROWS: Final = """
en | - | ago | second seconds sec secs s | minute minutes min mins m | hour hours hr hrs h | day days d | a an one
de | vor | - | sekunde sekunden sek | minute minuten min | stunde stunden std h | tag tagen tage | einer einem eine
fr | il_y_a | - | seconde secondes sec s | minute minutes min mn | heure heures h | jour jours j | une un
es | hace | - | segundo segundos seg s | minuto minutos min | hora horas hr hrs h | día días dia dias d | una un
pt | há faz | - | segundo segundos seg | minuto minutos min | hora horas h | dia dias d | uma um
pt | - | atrás | segundo segundos seg | minuto minutos min | hora horas h | dia dias d | uma um
it | - | fa | secondo secondi sec | minuto minuti min | ora ore h | giorno giorni gg g | un' un una
ca | fa | - | segon segons | minut minuts min | hora hores h | dia dies | una un
gl | hai | - | segundo segundos | minuto minutos min | hora horas h | día días | unha un
nl | - | geleden | seconde seconden sec | minuut minuten min | uur uren u | dag dagen | een één
sv | för | sedan | sekund sekunder sek | minut minuter min | timme timmar tim h | dag dagar dygn | en ett
sv | - | sedan | sekund sekunder sek | minut minuter min | timme timmar tim h | dag dagar dygn | en ett
no | for - | siden | sekund sekunder sek | minutt minutter min | time timer t | dag dager døgn | en ett
da | for - | siden | sekund sekunder sek | minut minutter min | time timer t | dag dage døgn | en et
fi | - | sitten | sekunti sekuntia s | minuutti minuuttia min | tunti tuntia t h | päivä päivää pv | yksi .
et | - | tagasi | sekund sekundit | minut minutit min | tund tundi t | päev päeva | üks .
lv | pirms | - | sekundes sekundēm | minūtes minūtēm min | stundas stundām st | dienas dienām | vienas .
lt | prieš | - | sekundę sekundes sek \
    | minutę minutes minučių min | valandą valandas valandų val | dieną dienas dienų d | vieną .
pl | - | temu | sekundę sekundy sekund sek \
    | minutę minuty minut min | godzinę godziny godzin godz | dzień dni | jedną jeden .
cs | před | - | sekundou sekundami | minutou minutami min | hodinou hodinami hod | dnem dny | jednou jedním .
sk | pred | - | sekundou sekundami | minútou minútami min | hodinou hodinami hod | dňom dňami | jednou jedným .
sl | pred | - | sekundo sekundama sekundami \
    | minuto minutama minutami min | uro urama urami | dnevom dnevoma dnevi | eno enim .
hr | prije | - | sekundu sekunde sekundi | minutu minute minuta min | sat sata sati h | dan dana | jednu jedan .
sr | pre | - | sekundu sekunde sekundi | minut minuta min | sat sata sati h | dan dana | jedan .
sr | пре | - | секунду секунде секунди | минут минута мин | сат сата сати ч | дан дана | један .
hu | - | ezelőtt | másodperccel | perccel | órával | nappal | egy
hu | - | - | másodperce | perce | órája | napja | egy
ro | acum | - | secundă secunde sec | minut minute min | oră ore h | zi zile | o un
tr | - | önce | saniye sn | dakika dk | saat sa | gün | bir
az | - | əvvəl | saniyə | dəqiqə | saat | gün | bir
ru | - | назад | секунду секунды секунд сек \
    | минуту минуты минут мин | час часа часов ч | день дня дней дн | одну один .
uk | - | тому | секунду секунди секунд сек \
    | хвилину хвилини хвилин хв | годину години годин год | день дні днів | одну один .
be | - | таму | секунду секунды секунд \
    | хвіліну хвіліны хвілін хв | гадзіну гадзіны гадзін | дзень дні дзён | адну адзін .
bg | преди | - | секунда секунди сек | минута минути мин | час часа | ден дни | една един .
mk | пред | - | секунда секунди | минута минути мин | час часа | ден дена | една еден .
el | πριν πριν_από | - | δευτερόλεπτο δευτερόλεπτα | λεπτό λεπτά | ώρα ώρες | ημέρα ημέρες μέρα μέρες | μία μια ένα
el | - | πριν | δευτερόλεπτο δευτερόλεπτα | λεπτό λεπτά | ώρα ώρες | ημέρα ημέρες μέρα μέρες | μία μια ένα
he | לפני | - | שנייה שניות | דקה דקות | שעה שעות | יום ימים | אחת אחד .
ar | منذ قبل | - | ثانية ثوان ثواني | دقيقة دقائق | ساعة ساعات | يوم يوما يومًا أيام ايام | واحدة واحد .
fa | - | پیش قبل | ثانیه | دقیقه | ساعت | روز | یک
ur | - | قبل پہلے | سیکنڈ | منٹ | گھنٹہ گھنٹے | دن | ایک
hi | - | पहले पूर्व | सेकंड सेकेंड सेकण्ड | मिनट मिनिट | घंटा घंटे घण्टा घण्टे | दिन | एक
mr | - | पूर्वी पूर्व | सेकंद सेकंदांपूर्वी | मिनिट मिनिटे मिनिटां | तास तासां | दिवस दिवसां | एक
bn | - | আগে | সেকেন্ড | মিনিট | ঘণ্টা ঘন্টা | দিন | এক
ta | - | முன்பு முன் | விநாடிகளுக்கு \
    | நிமிடம் நிமிடங்கள் நிமிடங்களுக்கு | மணி_நேரம் மணிநேரம் மணி_நேரத்திற்கு மணிநேரத்திற்கு | நாள் நாட்கள் நாட்களுக்கு | ஒரு
th | - | ที่แล้ว ที่ผ่านมา ก่อน | วินาที | นาที | ชั่วโมง ชม | วัน | หนึ่ง
vi | - | trước | giây | phút | giờ tiếng | ngày | một
vi | cách_đây | - | giây | phút | giờ tiếng | ngày | một
id | - | lalu yang_lalu | detik saat | menit minit mnt | jam | hari | satu
ja | - | 前 | 秒 | 分 | 時間 | 日 | -
zh | - | 前 之前 以前 | 秒 秒钟 秒鐘 | 分 分钟 分鐘 | 小时 小時 个小时 個小時 | 天 日 | 一
ko | - | 전 | 초 | 분 | 시간 | 일 | -
"""
#: Words that leave the number as it is.
_ABOUT: Final = (
    "about around over almost nearly etwa ca circa rund ungefähr knapp environ près_de plus_de aproximadamente "
    "alrededor_de cerca_de más_de mais_de около приблизно примерно близько περίπου yaklaşık khoảng ongeveer omkring "
    "cirka noin około asi zhruba körülbelül sekitar takriban حوالي نحو حدود लगभग প্রায় 约 約"
)
_AND: Final = "and und et y e i si és en och og ja и і и و und"
#: Whole texts that mean two of something, yesterday or this very minute.
_WHOLE: Final[dict[str, tuple[float, bool]]] = {
    **dict.fromkeys(
        names(
            """
            just_now right_now gerade_eben à_l'instant ahora_mismo agora_mesmo proprio_ora adesso zojuist
            just_nu akkurat_nå lige_nu juuri_nyt przed_chwilą právě_teď az_imént chiar_acum şimdi az_önce
            только_что щойно токущо μόλις_τώρα עכשיו הרגע الآن همین_حالا ابھی अभी এইমাত্র เมื่อสักครู่ vừa_xong
            baru_saja たった今 刚刚 剛剛 방금
            """
        ),
        (0.0, False),
    ),
    **dict.fromkeys(
        names(
            """
            yesterday gestern hier ayer ontem ieri ahir onte gisteren igår i_går eilen eile vakar wczoraj včera
            včeraj jučer juče јуче tegnap dün dünən вчера вчора учора вчера εχθές χθες χτες אתמול أمس امس
            البارحة دیروز গতকাল நேற்று เมื่อวาน เมื่อวานนี้ hôm_qua kemarin semalam 昨日 昨天 어제
            """
        ),
        (DAY, True),
    ),
    "منذ ساعتين": (2 * HOUR, False), "قبل ساعتين": (2 * HOUR, False),
    "منذ دقيقتين": (2 * MINUTE, False), "قبل دقيقتين": (2 * MINUTE, False),
    "منذ يومين": (2 * DAY, True), "قبل يومين": (2 * DAY, True),
    "לפני שעתיים": (2 * HOUR, False), "לפני יומיים": (2 * DAY, True),
    "sejam lalu": (HOUR, False), "sejam yang lalu": (HOUR, False), "semenit yang lalu": (MINUTE, False),
    "half an hour ago": (30 * MINUTE, False), "vor einer halben stunde": (30 * MINUTE, False),
    "半小时前": (30 * MINUTE, False), "半小時前": (30 * MINUTE, False), "полчаса назад": (30 * MINUTE, False),
    "il y a une demi-heure": (30 * MINUTE, False), "hace media hora": (30 * MINUTE, False),
}  # fmt: skip
#: A word of another language as well: "hier" is here in German.
_ONLY_IN: Final = {"hier": "fr"}


def _folded(text: str) -> str:
    """NFKC with plain digits, folded, white space single."""
    text = unicodedata.normalize("NFKC", text)
    text = "".join(str(unicodedata.digit(c)) if c.isdigit() and not c.isascii() else c for c in text)
    text = re.sub("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff]", "", text)
    return " ".join(text.replace("’", "'").casefold().split())


def _choice(words: list[str]) -> str:
    ordered = sorted({_folded(word.replace("_", " ")) for word in words}, key=len, reverse=True)
    return "|".join(re.escape(word).replace("\\ ", r"\s") for word in ordered)


@dataclass(frozen=True, slots=True)
class _Language:
    pattern: re.Pattern[str]
    units: dict[str, float]


def _language(row: str) -> _Language:
    _, before, after, *units, one = (cell.split() for cell in row.split("|"))
    lengths = {
        _folded(word.replace("_", " ")): seconds
        for words, seconds in zip(units, (1.0, MINUTE, HOUR, DAY), strict=True)
        for word in words
    }
    bare = "." in one
    single = _choice([word for word in one if word not in (".", "-")])
    number = rf"\d{{1,4}}|(?:{single})" if single else r"\d{1,4}"
    unit = _choice(list(lengths))
    # a number stands close to its unit or apart, and Romanian puts "de" between
    first = rf"(?:(?P<n>{number})\s?(?:de\s)?)"
    lead, tail = _choice([w for w in before if w != "-"]), _choice([w for w in after if w != "-"])
    optional = "-" in before and lead
    head = (rf"(?:(?:{lead})\s)" + ("?" if optional else "")) if lead else ""
    end = rf"\s?(?:{tail})" if tail else ""
    second = rf"(?:,?\s?(?:(?:{_choice(_AND.split())})\s)?(?P<n2>\d{{1,2}})\s?(?:de\s)?(?P<u2>{unit})\.?)?"
    about = rf"(?:(?:{_choice(_ABOUT.split())})\.?\s?)?"
    counted = first + ("?" if bare else "")
    return _Language(re.compile(rf"{head}{about}{counted}(?P<u>{unit})\.?{second}{end}[.!]?"), lengths)


_LANGUAGES: Final = tuple(_language(row) for row in _ROWS.strip().splitlines())
_SOON: Final = {_folded(text.replace("_", " ")): found for text, found in _WHOLE.items()}


def age_of(text: str, language: str | None = None) -> Age | None:
    """How long ago `text` says it was; None when it says anything else, or something that names no day.

    `language` (BCP 47) matters for words of several languages only: who reads them knows the page's, or it is wrong.
    """
    if len(text) > 2 * LONGEST:
        return None
    folded = _folded(text).strip(" .·•|-–—:")
    if not folded or len(folded) > LONGEST:
        return None
    whole = _SOON.get(folded)
    if whole is not None and _ONLY_IN.get(folded, primary_subtag(language)) == primary_subtag(language):
        return Age(*whole)
    for each in _LANGUAGES:
        match = each.pattern.fullmatch(folded)
        if match is None:
            continue
        unit = each.units[match["u"]]
        seconds = _number(match["n"]) * unit
        if match["n2"]:
            smaller = each.units[match["u2"]]
            if smaller >= unit:
                return None
            seconds += int(match["n2"]) * smaller
        return Age(seconds, unit == DAY) if seconds <= MOST else None
    return None


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() else 1
