"""Words that tell opinion from report, by language: who speaks, what ought to be, who is quoted, how it is argued.

Chosen by hand from grammars, not learned. A language without a table is not judged. Lower case, straight apostrophes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from frontpage.domain.wordlists import alternatives, words


@dataclass(frozen=True, slots=True)
class Cues:
    """The words of one language. `said` report, `stance` judge, `linked` argue (connectives and negations), `pointing`
    refer, `amounts` generalise, `states` are forms of to be and to have; `opens` and `asks` begin headlines.
    """

    singular: frozenset[str]
    plural: frozenset[str]
    ought: frozenset[str]
    said: frozenset[str]
    stance: frozenset[str]
    you: frozenset[str]
    days: frozenset[str]
    linked: frozenset[str]
    pointing: frozenset[str]
    amounts: frozenset[str]
    states: frozenset[str]
    opens: frozenset[str]
    asks: frozenset[str]


def _cues(table: str) -> Cues:
    parts = re.split(r"(\w+):", table)
    return Cues(**{name: words(values) for name, values in zip(parts[1::2], parts[2::2], strict=True)})


CUES: Final[dict[str, Cues]] = {
    "en": _cues("""
        singular: i i'm i've i'd i'll me my mine myself
        plural: we we're we've we'd we'll us our ours ourselves
        ought: should shouldn't must mustn't ought need needs deserve deserves
        said: said says told according reported announced spokesman spokeswoman spokesperson officials confirmed added
            police statement reporters
        stance: perhaps clearly obviously absurd hypocrisy shameful outrageous ridiculous indeed surely simply truth
            wrong instead merely frankly sadly unfortunately worse nonsense folly disgrace foolish dangerous moral lie
            lies myth better
        you: you your you're you've yourself
        days: monday tuesday wednesday thursday friday saturday sunday yesterday
        linked: but yet so because if though although while whether however therefore then thus rather than even just
            only not no never nothing none nor neither without hardly
        pointing: this that these those it there such
        amounts: all every any many much more most too very always ever really
        states: is are isn't aren't be has have do does don't doesn't
        opens: stop don't let let's no yes dear enough please sorry remember forget defend blame
        asks: why
    """),
    "de": _cues("""
        singular: ich mich mir mein meine meinen meiner meinem
        plural: wir uns unser unsere unseren unserer unserem
        ought: sollte sollten müsste müssten muss müssen darf dürfen braucht brauchen
        said: sagte sagt erklärte teilte mitteilte berichtet berichtete zufolge laut angaben sprecher sprecherin
            polizei bestätigte betonte kündigte
        stance: vielleicht offenbar absurd heuchelei skandal wahrheit falsch schlimm natürlich leider unsinn endlich
            lächerlich eben freilich zynisch peinlich schande irrsinn
        you: sie du ihr dich dir euch
        days: montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag gestern
        linked: aber doch denn weil wenn obwohl ob jedoch deshalb also dann sondern sogar nur nicht kein keine keinen
            nie niemals nichts ohne kaum
        pointing: dies diese dieser dieses das es so solche
        amounts: alle jeder jede viele viel mehr sehr zu immer ganz wirklich
        states: ist sind sein hat haben bleibt
        opens: schluss nein ja liebe lieber hört lasst stoppt genug bitte
        asks: warum wieso weshalb
    """),
    "es": _cues("""
        singular: yo me mi mis mí conmigo creo
        plural: nosotros nos nuestro nuestra nuestros nuestras
        ought: debe deben debería deberían debemos deberíamos tenemos
        said: dijo según informó anunció declaró afirmó señaló explicó aseguró confirmó policía añadió comunicado
            indicó
        stance: quizá quizás absurdo hipocresía vergüenza verdad mentira ridículo claro lamentablemente peor
        you: usted ustedes tú tu tus te
        days: lunes martes miércoles jueves viernes sábado domingo ayer
        linked: pero sino porque si aunque sin embargo entonces así incluso sólo solo no nunca nada ningún ninguna ni
            tampoco pues
        pointing: esto esta este estos estas eso esa ese ello tal
        amounts: todo todos toda todas mucho muchos más muy siempre demasiado
        states: es son ser está están ha han
        opens: basta no sí dejemos querido querida paren señores
        asks: por
    """),
    "pl": _cues("""
        singular: ja mnie mi mój moja moje moim moich
        plural: my nas nam nasz nasza nasze naszych
        ought: powinien powinna powinno powinni powinniśmy musi muszą musimy trzeba należy
        said: powiedział powiedziała poinformował poinformowała według dodał dodała podał policja rzecznik oświadczył
            przekazał
        stance: może absurd hipokryzja wstyd prawda kłamstwo śmieszne niestety oczywiście gorzej
        you: ty pan pani państwo wy wasz twój
        days: poniedziałek wtorek środa środę czwartek piątek sobota sobotę niedziela niedzielę wczoraj
        linked: ale lecz bo ponieważ jeśli choć chociaż jednak więc zatem raczej nawet tylko nie nigdy nic żaden ani
            bez
        pointing: to ten ta te tego tym taki taka
        amounts: wszystko wszyscy każdy wiele bardzo zawsze więcej zbyt
        states: jest są być ma mają
        opens: dość nie tak stop przestańmy szanowni
        asks: dlaczego
    """),
    "ru": _cues("""
        singular: я меня мне мой моя мои моего моей
        plural: мы нас нам наш наша наши нашей нашего
        ought: должен должна должны должно надо нужно следует пора
        said: сообщил сообщила сообщает заявил заявила сказал рассказал отметил передает словам данным пресс-служба
            уточнил добавил
        stance: пожалуй абсурд лицемерие позор правда ложь смешно увы конечно хуже
        you: вы вас вам ваш ты тебя твой
        days: понедельник вторник среду среда четверг пятницу пятница субботу суббота воскресенье вчера
        linked: но однако потому если хотя зато ведь поэтому значит даже лишь только не ни никогда ничего никто нет
            без
        pointing: это этот эта эти этого тот такой такие
        amounts: все всё всегда каждый много очень слишком более
        states: есть быть является имеет
        opens: хватит нет да довольно дорогие давайте
        asks: почему зачем
    """),
    "tr": _cues("""
        singular: ben beni bana benim
        plural: biz bizi bize bizim
        ought: gerekir gerekiyor lazım şart zorunda
        said: dedi söyledi açıkladı belirtti göre bildirdi ifade kaydetti polis aktardı duyurdu
        stance: belki saçma ikiyüzlülük utanç gerçek yalan komik maalesef elbette
        you: siz sizi size sizin sen seni sana
        days: pazartesi salı çarşamba perşembe cuma cumartesi pazar dün
        linked: ama fakat çünkü eğer rağmen ancak yani bile sadece değil hiç yok asla ne
        pointing: bu şu o böyle öyle
        amounts: her tüm bütün çok daha hep
        states: var olan
        opens: yeter hayır evet artık sevgili
        asks: neden
    """),
}  # fmt: skip

#: What stands under a piece that is the writer's own (searched in its last part), in any language.
ABOUT_AUTHOR: Final = alternatives(
    r"""
    (?:views?|opinions?)_expressed_(?:here|in_this|by_the|are|herein) the_author(?:'s|’s)_own
    is_an?_(?:[\w-]+_){0,4}?(?:columnist|contributing_opinion_writer|opinion_(?:writer|editor|contributor))
    writes_an?_(?:[\w-]+_){0,2}?column letters?_to_the_editor our_editorial_board
    die_meinung_de[rs]_autor(?:s|in) ist_kolumnist(?:in)? las_opiniones_(?:expresadas|vertidas) es_columnista_de
    мнение_(?:автора|редакции)_может yazarın_görüşleri
    """
)
