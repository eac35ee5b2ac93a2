"""Words around dates: zones, halves of the day, fillers. Data only; used by `dates`."""

from __future__ import annotations

from typing import Final

from frontpage.domain.wordlists import words


def _hours(rows: str) -> dict[str, int]:
    return {name: round(float(hours) * 3600) for name, hours in (row.split("=") for row in rows.split())}


#: Zone names to seconds east of UTC. Only names that mean one offset in news (RFC 822 and the IANA database's common
#: abbreviations); IST and the like are read as unknown.
ZONES: Final[dict[str, int]] = _hours(
    """
    Z=0 UT=0 UTC=0 GMT=0 WET=0 WEST=1 BST=1 CET=1 CEST=2 MEZ=1 MESZ=2 MET=1 MEST=2 EET=2 EEST=3 MSK=3 SAST=2 CAT=2
    EAT=3 WAT=1 TRT=3 PKT=5 NPT=5.75 ICT=7 WIB=7 WITA=8 WIT=9 HKT=8 SGT=8 PHT=8 AWST=8 JST=9 KST=9 ACST=9.5
    ACDT=10.5 AEST=10 AEDT=11 NZST=12 NZDT=13 NST=-3.5 NDT=-2.5 AST=-4 ADT=-3 EST=-5 EDT=-4 CST=-6 CDT=-5 MST=-7 MDT=-6
    PST=-8 PDT=-7 AKST=-9 AKDT=-8 HST=-10 BRT=-3 ART=-3 ET=-5 PT=-8
    """
)
#: "ET" and "PT" stand for both halves of the year; which one is not said, so they are no zone.
for _name in ("ET", "PT"):
    del ZONES[_name]

AFTERNOON: Final = frozenset({"pm", "p", "nm", "μμ", "م", "مساء", "مساءً", "eftermiddag", "chiều", "tối"})
MORNING: Final = frozenset({"am", "a", "vm", "πμ", "ص", "صباحا", "صباحاً", "sáng"})

#: Words that stand between the parts of a date and mean nothing of their own.
FILLERS: Final = words(
    """
    of at on the st nd rd th a m p de del d le la les el los il lo du à às as a las al um uhr am den der das vom im
    klo kl kello о в во г года году року року ob dne den dnia o godz godzina om u te uur at- alle ore ora orele la
    ώρα στις tarih saat lúc ngày giờ tháng năm pukul jam pada tanggal i a- c c' y e en és az új ve hs hrs hr h min
    published posted updated publié publicado publicada veröffentlicht stand kl- ноября- στο του της ของ เวลา น
    วันที่ ที่ พ ศ พศ de- t er ère ème gada ko يوم ماه من
    """
)

#: Languages whose readers write the day first also with slashes (CLDR short date patterns).
DAY_FIRST: Final = words(
    """
    es de fr pt it ru uk tr vi id nl pl cs sk ro bg el da fi ca hr sr sl hi bn ta te mr ar he th gl is ur az sw hy ka
    kk sq mk be ml kn gu pa
    """
)
