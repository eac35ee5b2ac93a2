# ruff: noqa: E501 - rows of words in many scripts, whose width no editor agrees on
"""The page's own words in the languages of its editions, and ages in words. English where a language has none.

Texts are ours. A test checks that every language has every word and that placeholders match.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from frontpage.domain.editions import SECTIONS
from frontpage.domain.languages import primary_subtag

_KEYS: Final = (
    *SECTIONS, "breaking", "opinion", "fact-check", "live", "paywall", "sources", "one_source", "full_coverage",
    "also_by", "for_you", "editions", "updated", "stale", "now", "minutes", "hours", "days", "timeline", "publishers",
    "related", "other_languages", "all_coverage", "new_stories", "local_coverage", "nothing",
)  # fmt: skip
_ROWS: Final[Mapping[str, str]] = {
    "en": (
        "Top stories|World|Nation|Politics|Business|Technology|Science|Health|Sports|Entertainment|Climate|Local|"
        "Breaking|Opinion|Fact check|Live|Paywall|{n} sources|1 source|Full Coverage|Also published by|For you|"
        "Editions|Updated|These stories are {n} minutes old: ranking has paused|just now|{n} min ago|{n} h ago|"
        "{n} d ago|Timeline|Publishers|Related|In other languages|All coverage|New stories, reload|Local reporting|"
        "Nothing here yet. Stories appear as soon as they are ranked."
    ),
    "de": (
        "Schlagzeilen|Welt|Inland|Politik|Wirtschaft|Technik|Wissenschaft|Gesundheit|Sport|Unterhaltung|Klima|Lokales|"
        "Eilmeldung|Meinung|Faktencheck|Live|Bezahlschranke|{n} Quellen|1 Quelle|Alle Berichte|Auch erschienen bei|"
        "Für dich|Ausgaben|Stand|Diese Meldungen sind {n} Minuten alt: die Auswahl ruht|gerade eben|vor {n} Min.|"
        "vor {n} Std.|vor {n} T.|Zeitleiste|Verlage|Verwandtes|In anderen Sprachen|Alle Berichte|"
        "Neue Meldungen, neu laden|Berichte von vor Ort|Noch nichts hier. Meldungen erscheinen, sobald sie gewichtet sind."
    ),
    "es": (
        "Titulares|Mundo|Nacional|Política|Economía|Tecnología|Ciencia|Salud|Deportes|Espectáculos|Clima|Local|"
        "Última hora|Opinión|Verificación|En vivo|De pago|{n} fuentes|1 fuente|Cobertura completa|También publicado por|"
        "Para ti|Ediciones|Actualizado|Estas noticias tienen {n} minutos: la selección está en pausa|ahora mismo|"
        "hace {n} min|hace {n} h|hace {n} d|Cronología|Medios|Relacionado|En otros idiomas|Toda la cobertura|"
        "Hay noticias nuevas, recargar|Cobertura local|Aún no hay nada. Las noticias aparecen en cuanto se ordenan."
    ),
    "fr": (
        "À la une|Monde|National|Politique|Économie|Technologie|Sciences|Santé|Sports|Culture|Climat|Local|"
        "Dernière minute|Opinion|Vérification|Direct|Payant|{n} sources|1 source|Couverture complète|Aussi publié par|"
        "Pour vous|Éditions|Mis à jour|Ces articles datent de {n} minutes : le classement est en pause|à l’instant|"
        "il y a {n} min|il y a {n} h|il y a {n} j|Chronologie|Médias|Sujets liés|Dans d’autres langues|"
        "Toute la couverture|Nouveaux articles, recharger|Presse locale|Rien pour l’instant. Les articles arrivent "
        "dès qu’ils sont classés."
    ),
    "pt": (
        "Destaques|Mundo|País|Política|Economia|Tecnologia|Ciência|Saúde|Desporto|Entretenimento|Clima|Local|"
        "Última hora|Opinião|Verificação|Ao vivo|Conteúdo pago|{n} fontes|1 fonte|Cobertura completa|"
        "Também publicado por|Para si|Edições|Atualizado|Estas notícias têm {n} minutos: a seleção está em pausa|agora|"
        "há {n} min|há {n} h|há {n} d|Cronologia|Publicações|Relacionado|Noutras línguas|Toda a cobertura|"
        "Há notícias novas, recarregar|Imprensa local|Ainda nada aqui. As notícias surgem assim que são ordenadas."
    ),
    "it": (
        "In primo piano|Mondo|Italia|Politica|Economia|Tecnologia|Scienza|Salute|Sport|Spettacolo|Clima|Locale|"
        "Ultima ora|Opinione|Verifica dei fatti|In diretta|A pagamento|{n} fonti|1 fonte|Copertura completa|"
        "Pubblicato anche da|Per te|Edizioni|Aggiornato|Queste notizie hanno {n} minuti: la selezione è in pausa|adesso|"
        "{n} min fa|{n} h fa|{n} g fa|Cronologia|Testate|Correlati|In altre lingue|Tutta la copertura|"
        "Nuove notizie, ricarica|Stampa locale|Ancora niente. Le notizie appaiono appena sono ordinate."
    ),
    "ar": (
        "أهم الأخبار|العالم|محليات|سياسة|اقتصاد|تقنية|علوم|صحة|رياضة|ترفيه|مناخ|محلي|عاجل|رأي|تحقق|مباشر|"
        "اشتراك مدفوع|{n} مصادر|مصدر واحد|التغطية الكاملة|نُشر أيضًا في|لك|الطبعات|آخر تحديث|"
        "عمر هذه الأخبار {n} دقيقة: الترتيب متوقف مؤقتًا|الآن|قبل {n} د|قبل {n} س|قبل {n} ي|التسلسل الزمني|"
        "الناشرون|مواضيع ذات صلة|بلغات أخرى|كل التغطية|أخبار جديدة، أعد التحميل|تغطية محلية|"
        "لا شيء هنا بعد. تظهر الأخبار فور ترتيبها."
    ),
    "ru": (
        "Главное|Мир|Страна|Политика|Экономика|Технологии|Наука|Здоровье|Спорт|Культура|Климат|Местные|Срочно|Мнение|"
        "Проверка фактов|Прямой эфир|Платно|Источников: {n}|1 источник|Все публикации|Также опубликовано|Для вас|"
        "Издания|Обновлено|Этим новостям {n} мин.: ранжирование приостановлено|только что|{n} мин назад|{n} ч назад|"
        "{n} д назад|Хронология|Издатели|По теме|На других языках|Все материалы|Есть новое, обновить|"
        "Местная пресса|Пока пусто. Новости появятся, как только будут отобраны."
    ),
    "ja": (
        "トップ|国際|国内|政治|経済|テクノロジー|科学|健康|スポーツ|エンタメ|気候|地域|速報|論説|ファクトチェック|ライブ|"
        "有料|{n}媒体|1媒体|すべての報道|同記事の掲載元|あなた向け|エディション|更新|{n}分前の内容です（更新停止中）|たった今|"
        "{n}分前|{n}時間前|{n}日前|時系列|媒体|関連|他の言語|すべての報道|新着あり・再読み込み|地元の報道|"
        "まだ記事がありません。順位が決まり次第表示します。"
    ),
    "zh": (
        "头条|国际|国内|政治|财经|科技|科学|健康|体育|娱乐|气候|本地|突发|观点|事实核查|直播|付费|{n} 个来源|1 个来源|"
        "完整报道|同时刊登于|为你推荐|版本|更新于|这些新闻已有 {n} 分钟未更新|刚刚|{n} 分钟前|{n} 小时前|{n} 天前|时间线|"
        "媒体|相关|其他语言|全部报道|有新报道，刷新|本地报道|暂无内容。新闻排序后即会出现。"
    ),
    "vi": (
        "Tin chính|Thế giới|Trong nước|Chính trị|Kinh tế|Công nghệ|Khoa học|Sức khỏe|Thể thao|Giải trí|Khí hậu|"
        "Địa phương|Tin nóng|Ý kiến|Kiểm chứng|Trực tiếp|Trả phí|{n} nguồn|1 nguồn|Toàn cảnh|Cũng đăng trên|"
        "Dành cho bạn|Ấn bản|Cập nhật|Các tin này đã cũ {n} phút: xếp hạng tạm dừng|vừa xong|{n} phút trước|"
        "{n} giờ trước|{n} ngày trước|Dòng thời gian|Báo|Liên quan|Ngôn ngữ khác|Toàn bộ tin|Có tin mới, tải lại|"
        "Báo địa phương|Chưa có gì. Tin sẽ hiện ngay khi được xếp hạng."
    ),
}
WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    language: dict(zip(_KEYS, row.split("|"), strict=True)) for language, row in _ROWS.items()
}


def words(language: str) -> Mapping[str, str]:
    """The words of a language (any tag), English when it has none."""
    return WORDS.get(primary_subtag(language), WORDS["en"])


def age(then: float | None, now: float, text: Mapping[str, str]) -> str:
    """`12 min ago` in the page's words; empty when unknown; a time ahead of `now` is "just now"."""
    if then is None:
        return ""
    seconds = max(0.0, now - then)
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= size:
            return text[unit].format(n=int(seconds // size))
    return text["now"]


def count_sources(number: int, text: Mapping[str, str]) -> str:
    """`12 sources`."""
    return text["one_source"] if number == 1 else text["sources"].format(n=number)


#: Reasons of personal cards. The signed-in part speaks English so far, like `/me` itself.
REASONS: Final[Mapping[str, str]] = {
    "breaking": "Breaking news",
    "follow_topic": "You follow {subject}",
    "follow_entity": "You follow {subject}",
    "follow_source": "You follow {subject}",
    "read_topic": "Because you read about {subject}",
    "read_entity": "Because you read about {subject}",
    "read_source": "You often read {subject}",
    "interest": "Similar to what you read",
    "top_story": "Top story in your edition",
    "trending": "Many readers are opening this",
    "region": "Important where you are",
    "coverage": "Widely covered",
}


def pretty(identifier: str) -> str:
    """`climate-change` -> `Climate change`: ids as a reader may see them."""
    spaced = identifier.replace("-", " ").replace("_", " ").strip()
    return spaced[:1].upper() + spaced[1:]
