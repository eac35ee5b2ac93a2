"""From a publisher's own labels, paths and tags to our section ids, in many languages.

Publishers' words only: a label that we do not know maps to nothing, and no text is guessed at (what a publisher leaves
open a model may say, section_model.py). "nation" and "local" depend on the edition and the place, so only explicit
labels give them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from urllib.parse import unquote, urlsplit

from frontpage.domain.editions import SECTIONS
from frontpage.domain.wordlists import words

#: section -> labels as publishers write them; lower case, folded, blanks as hyphens.
_LABELS: Final[dict[str, frozenset[str]]] = {
    "world": words(
        """
        world world-news international foreign global international-news asia africa europe middle-east americas
        mundo internacional internacionales ausland welt monde planete mondo esteri wereld buitenland mir в-мире
        мир за-рубежом світ dunya dünya عالم العالم دولي جهان بین-الملل 国际 國際 国際 世界 국제 세계 the-gioi
        thế-giới świat swiat svet zahranici zahraničí külföld lume externe свят kosmos διεθνή κοσμος utrikes
        varlden världen utland verden internasional dunia ต่างประเทศ विदेश दुनिया আন্তর্জাতিক உலகம் ప్రపంచం בעולם
        חדשות-בעולם ulkomaat
        """
    ),
    "nation": words(
        """
        nation national us u.s us-news uk uk-news india canada australia ireland nacional pais país españa espana
        mexico méxico brasil inland deutschland österreich schweiz france italia italie binnenland россия россия-24
        украина україна türkiye gundem gündem مصر محليات ایران 国内 社会 中国 국내 사회 kraj polska domaci domácí
        belföld inrikes innenriks indland kotimaa ในประเทศ देश জাতীয় இந்தியா nasional thoi-su thời-sự ελλάδα ישראל
        """
    ),
    "politics": words(
        """
        politics political government elections election white-house congress parliament politica política politik
        politique politiek политика політика polityka politika politică siyaset سياسة سیاست سیاسی 政治 정치
        chinh-tri chính-trị πολιτική politikk politiikka राजनीति রাজনীতি அரசியல் రాజకీయాలు การเมือง eleições
        eleicoes elecciones wahl wahlen élections פוליטי
        """
    ),
    "business": words(
        """
        business economy economics markets money finance companies industry your-money real-estate jobs economia
        economía negocios negócios dinero finanzas mercados empresas wirtschaft finanzen geld unternehmen börse
        economie économie argent bourse entreprises soldi finanza economisch экономика бизнес финансы деньги
        економіка бізнес gospodarka biznes pieniadze ekonomika byznys ekonomia gazdasag gazdaság ekonomi naringsliv
        näringsliv økonomi talous اقتصاد أعمال مال 経済 ビジネス 财经 經濟 经济 财富 경제 산업 kinh-doanh kinh-te
        kinh-tế οικονομία व्यापार अर्थव्यवस्था বাণিজ্য অর্থনীতি bisnis ธุรกิจ เศรษฐกิจ כלכלה afaceri икономика
        """
    ),
    "technology": words(
        """
        technology tech digital internet gadgets ai artificial-intelligence computing cybersecurity mobile
        tecnologia tecnología tecno netzwelt technik technologie high-tech numérique pixels tecnologie технологии
        техника технології интернет hi-tech nauka-i-technika technologia technológia technika teknoloji
        bilim-teknoloji تكنولوجيا تقنية فناوری テクノロジー it it・科学 科技 技术 테크 it・과학 cong-nghe công-nghệ
        so-hoa τεχνολογία teknologi teknologia teknik प्रौद्योगिकी टेक প্রযুক্তি เทคโนโลยี טכנולוגיה
        """
    ),
    "science": words(
        """
        science space astronomy physics biology archaeology ciencia ciência ciencias wissenschaft wissen sciences
        espace scienza scienze wetenschap наука космос nauka veda věda tudomany tudomány vetenskap videnskab
        vitenskap tiede علوم علم دانش 科学 科學 サイエンス 과학 khoa-hoc khoa-học επιστήμη bilim विज्ञान বিজ্ঞান
        sains วิทยาศาสตร์ stiinta știință מדע
        """
    ),
    "health": words(
        """
        health wellness medicine coronavirus covid-19 well nutrition salud saúde saude bem-estar bienestar
        gesundheit medizin santé sante salute gezondheid здоровье медицина здоров'я zdrowie zdravi zdraví zdravie
        egeszseg egészség hälsa halsa sundhed helse terveys صحة سلامت 健康 医療 医疗 건강 suc-khoe sức-khỏe υγεία
        saglik sağlık स्वास्थ्य স্বাস্থ্য kesehatan สุขภาพ sanatate sănătate בריאות здраве
        """
    ),
    "sports": words(
        """
        sport sports football soccer cricket tennis rugby golf basketball baseball nfl nba mlb nhl boxing mma
        cycling athletics olympics formula-1 f1 motorsport deportes deporte fútbol futbol esportes desporto futebol
        fussball fußball bundesliga foot calcio voetbal спорт футбол хоккей sporty piłka-nożna pilka-nozna sporturi
        foci sportok رياضة ورزش スポーツ 体育 體育 스포츠 the-thao thể-thao αθλητικά spor खेल খেলা விளையாட்டு
        క్రీడలు olahraga bola กีฬา urheilu idrott ספורט sportas
        """
    ),
    "entertainment": words(
        """
        entertainment culture arts art music movies film tv television celebrity celebrities lifestyle life-style
        books theatre theater style fashion showbiz games gaming cultura espectáculos espectaculos entretenimiento
        entretenimento famosos diversão música cine televisión kultur unterhaltung feuilleton musik panorama cinéma
        cinema musique people médias spettacoli spettacolo cultura-e-spettacoli cultuur show культура шоу-бизнес
        кино музыка шоу-бізнес kultura rozrywka kultúra szórakozás nöje kultuuri viihde kulttuuri underholdning
        ثقافة فن فنون فرهنگ هنر エンタメ 芸能 文化 娱乐 娛樂 문화 연예 giai-tri giải-trí van-hoa văn-hóa πολιτισμός
        kültür kultur-sanat magazin मनोरंजन বিনোদন hiburan บันเทิง divertisment תרבות
        """
    ),
    "climate": words(
        """
        climate environment climate-change climate-crisis weather energy sustainability nature clima medio-ambiente
        medioambiente meio-ambiente ambiente umwelt klima klimawandel natur environnement climat planète écologie
        ecologie klimaat milieu климат экология погода клімат екологія klimat srodowisko środowisko
        klima-und-umwelt miljo miljö miljø ilmasto بيئة مناخ محیط-زیست 環境 气候 环境 氣候 기후 환경 moi-truong
        môi-trường περιβάλλον çevre iklim पर्यावरण পরিবেশ lingkungan สิ่งแวดล้อม סביבה
        """
    ),
    "local": words(
        """
        local local-news regional region regions metro city cities community county regionales lokales lokal
        locales ciudad regiones cidades région régions locale cronaca cronache regio regionaal регионы регіони
        regiony regionalne helyi lokalt lokalnytt paikallinen محافظات استان-ها 地域 地方 지역 địa-phương yerel
        daerah ท้องถิ่น
        """
    ),
}  # fmt: skip
#: Labels of everything, which are sections of a title and of no page.
_ALL_NEWS: Final = words(
    "news nachrichten noticias notícias notizie actualités actualites nieuws новости أخبار 新闻 ニュース 뉴스"
)
#: Path segments and labels that say nothing about a section although they stand where one does.
_PATH_DEPTH: Final = 4


@lru_cache(maxsize=1)
def _table() -> dict[str, str]:
    table: dict[str, str] = {}
    for section in SECTIONS:
        for label in _LABELS.get(section, ()):
            table.setdefault(_fold(label), section)
    return table


def _fold(label: str) -> str:
    text = unicodedata.normalize("NFKC", label).casefold().strip()
    return "-".join(text.replace("&", " ").replace("_", " ").replace("-", " ").split())


def is_section_label(label: str) -> bool:
    """Whether a text is nothing but the name of a section: "Sport", "世界", "News"."""
    key = _fold(label)
    return key in _table() or key in _ALL_NEWS


def labels_of(section: str) -> list[str]:
    """The labels of all languages that mean a section, sorted, with blanks as hyphens."""
    return sorted(_LABELS[section])


def sections_of(label: str | None, url: str = "", keywords: Iterable[str] = ()) -> list[str]:
    """Section ids in order of evidence: the stated label and its parts, then path segments, then whole tags.

    >>> sections_of("Wirtschaft", "https://zeitung.example/sport/2026/a")
    ['business', 'sports']
    """
    found: list[str] = []
    for text in (label or "", *_parts(label or "")):
        _add(found, text)
    parts = urlsplit(url)
    # Sections stand before the article's own slug, or as the first label of the host ("sport.paper.example").
    segments = [unquote(segment) for segment in parts.path.split("/") if segment]
    for segment in segments[:-1][:_PATH_DEPTH]:
        _add(found, segment)
    host = parts.hostname or ""
    if host.count(".") >= 2:
        _add(found, host.partition(".")[0])
    if not found:
        for keyword in keywords:
            _add(found, keyword)
    return found[:3]


def _parts(label: str) -> list[str]:
    for separator in ("/", ">", "|", ",", ";", " & ", " and ", " und ", " et ", " y ", " e ", "・"):
        label = label.replace(separator, "\n")
    return [part for part in label.split("\n") if part.strip()]


def _add(found: list[str], text: str) -> None:
    section = _table().get(_fold(text))
    if section and section not in found:
        found.append(section)
