"""Opinion, fact-check, live blog and paywall where the markup is silent, and what markup says in unusual places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import kinds
from frontpage.adapters.parse import kind_model
from frontpage.adapters.parse.pages import read_page
from frontpage.domain.kind_cues import FEATURES, argues, signals_of
from frontpage.domain.kind_forms import checks_a_claim, is_gated, is_live_blog
from frontpage.domain.kind_words import CUES
from frontpage.domain.page_kind import kind_of
from frontpage.errors import UnknownVersion

NOW = 1_796_000_000.0
URL = "https://bay.test/2026/11/03/pier-fares"
LD = '<script type="application/ld+json">{}</script>'

COLUMN = """We should stop pretending that the new pier fares are fair. They are not, and everybody who has to use
the boat knows it. Why must a cleaner pay twice what she paid in spring, while the yachts still moor for nothing? That
is not policy, it is simply a habit of asking those who cannot say no. I have taken this boat for thirty years, and I
am tired of being told that there is no money. There is always money for what we really want.
Perhaps the harbour board believes that nobody will notice. But we do notice, and we should say so. It would be better
to ask every yacht for a little than to ask so much of those who have so little. That is the truth, and it is not even
a hard one to see. Our city can do better than this, if only it wants to."""
REPORT = """Bay City will raise the fares of the pier boats by twelve per cent on Monday, the harbour board said on
Thursday. A single ride will cost 3.40 instead of 3.00, according to the board's statement. The board reported a loss
of 2.1 million last year. "We should have done this long ago, and I am sorry that we must ask our passengers now," said
Ann Lee, who chairs the board. Officials confirmed that yachts are still exempt. The council's finance committee will
meet on Wednesday to look at the figures, a spokesman said. About 4,000 people use the boats every day, the board said.
Police said that a protest at the pier on Tuesday evening ended without arrests."""
QUOTING = """The harbour board raised the fares on Monday. Ann Lee, a cleaner from the south shore, read a letter to
the board. “We should stop pretending that this is fair. I am tired of it, and we must not accept it. Why do they ask
us and not the yachts? It is simply wrong, and I believe that everybody knows it, and we should say so.” The board
listened to eleven other residents. It votes again in December, when the finance committee has read the new figures of
the auditors. The boats carry 4,000 people a day between the two shores and have lost 2.1 million since last January."""


def page(text, title="Stop asking those who cannot say no", head="", tail=""):
    paragraphs = "".join(f"<p>{part}</p>" for part in text.split("\n"))
    body = f"<article><h1>{title}</h1>{paragraphs}</article>{tail}"
    return f"<!doctype html><html lang=en><head><title>{title}</title>{head}</head><body>{body}</body></html>".encode()


def read(body, url=URL):
    return read_page(body, {}, url, now=NOW)


def joined(text):
    return " ".join(text.split())


class TestStyle:
    def test_a_column_without_markup_is_an_opinion(self):
        assert read(page(joined(COLUMN))).kind == "opinion"
        assert read(page(joined(COLUMN), head=LD.format('{"@type":"NewsArticle"}'))).kind == "opinion"

    def test_a_report_is_none_whatever_its_sources_say(self):
        assert read(page(joined(REPORT))).kind == "news"
        assert read(page(joined(QUOTING))).kind == "news"

    def test_what_the_publisher_calls_a_report_stays_one(self):
        assert read(page(joined(COLUMN), head=LD.format('{"@type":"AnalysisNewsArticle"}'))).kind == "news"

    def test_quoted_speech_is_not_the_writers(self):
        signals = dict(zip(FEATURES, signals_of("", joined(QUOTING), "en"), strict=True))
        assert signals["singular"] == signals["plural"] == signals["ought"] == 0.0
        assert signals["quoted"] > 0.3

    def test_a_headline_that_states_keeps_a_text_news(self):
        model = kind_model.opinion_model()
        assert argues("Stop asking those who cannot say no", joined(COLUMN), "en", model)
        assert not argues("Pier fares rise by twelve per cent", joined(COLUMN), "en", model)

    def test_what_cannot_be_judged_is_news(self):
        model = kind_model.opinion_model()
        assert not argues("Stop asking", "We should. I must.", "en", model)
        assert not argues("Stop asking", joined(COLUMN), "sw", model)

    def test_every_language_with_words_is_fitted(self):
        model = kind_model.opinion_model()
        assert set(model.usual) == set(CUES)
        assert all(len(values) == len(FEATURES) == len(model.weights) for values in model.usual.values())

    def test_no_report_of_the_sample_world_is_called_an_opinion(self):
        figures, _ = kinds.score(list(kinds.world(kinds.HELD_OUT_WORLD)), kind_model.opinion_model())
        assert figures["precision"] == 1.0
        assert figures["recall"] > 0.3

    def test_a_model_of_other_signals_is_refused(self):
        with pytest.raises(UnknownVersion):
            kind_model.read({"version": kind_model.VERSION, "features": ["length"]})

    @given(st.text(max_size=400), st.text(max_size=600), st.sampled_from(sorted(CUES)))
    def test_any_text_is_judged(self, title, text, language):
        signals = signals_of(title, text + " word" * 60, language)
        assert signals is not None
        assert len(signals) == len(FEATURES)
        assert argues(title, text, language, kind_model.opinion_model()) in (True, False)


class TestForm:
    @pytest.mark.parametrize(
        ("title", "text"),
        [
            ("No, the harbour is not for sale", "A post claims it is. Our verdict: false. The deed names the city."),
            ("Is the harbour for sale?", "We rate this claim false, because the deed names the city as owner."),
            ("Stimmt es, dass der Hafen verkauft wird?", "Fazit: Falsch. Der Hafen gehört der Stadt."),
            ("¿Se vende el puerto?", "Veredicto: falso. El puerto es de la ciudad."),
            ("Vrai ou faux : le port est à vendre", "Verdict : faux. Le port reste à la ville."),
        ],
    )
    def test_a_checking_headline_and_a_verdict_make_a_check(self, title, text):
        assert checks_a_claim(title, text)

    @pytest.mark.parametrize(
        ("title", "text"),
        [
            ("Is the harbour for sale?", "The council said on Monday that it has no plans, and the claim is old."),
            ("Jury reaches verdict in harbour case", "The verdict: guilty on four counts."),
            ("Minister calls report false", "This claim is false, the minister said on Tuesday."),
        ],
    )
    def test_one_mark_alone_makes_none(self, title, text):
        assert not checks_a_claim(title, text)

    def test_entries_with_their_times_make_a_live_blog(self):
        line = "{} The water has reached the third step of the town hall, and the mayor speaks to those who wait."
        entries = "\n".join(line.format(f"{hour}:1{hour}") for hour in range(8))
        assert is_live_blog("Flood in Bay City", entries)
        assert is_live_blog("Flood in Bay City: live", "\n".join(entries.split("\n")[:3]))
        assert not is_live_blog("Flood in Bay City", "\n".join(entries.split("\n")[:3]))

    def test_fixtures_and_lists_of_clips_are_none(self):
        fixtures = "\n".join(
            f"{hour}:45 Northport Rovers v Southbay United, League One, Harbour Road" for hour in range(12)
        )
        clips = "\n".join(
            f"01:{second} The mayor of Bay City speaks about the flood and the harbour" for second in range(10, 30)
        )
        assert not is_live_blog("Weekend fixtures: live on radio", fixtures)
        assert not is_live_blog("Flood in Bay City", clips)


class TestPaywall:
    GATE = "<div class=wall><b>Subscribe</b> to continue reading this story.</div>"
    SHORT = joined(REPORT)[:400]

    def test_a_short_text_that_offers_the_rest_is_locked(self):
        assert read(page(self.SHORT, tail=self.GATE)).paywalled

    @pytest.mark.parametrize(
        "words",
        [
            "Dieser Artikel ist exklusiv für Abonnenten.",
            "Article réservé aux abonnés",
            "Contenido exclusivo para suscriptores",
            "Articolo riservato agli abbonati",
            "Доступно только подписчикам",
            "この記事は有料会員限定です",
        ],
    )
    def test_in_other_languages(self, words):
        assert read(page(self.SHORT, tail=f"<div>{words}</div>")).paywalled

    @pytest.mark.parametrize(
        "tail",
        [
            "",
            "<div>Subscribe to our newsletter</div>",
            "<div hidden>Subscribe to continue reading.</div>",
            '<div style="display: none"><p>Subscribe to continue reading.</p></div>',
        ],
    )
    def test_advertisements_and_hidden_boxes_lock_nothing(self, tail):
        assert not read(page(self.SHORT, tail=tail)).paywalled

    def test_a_whole_text_is_not_locked(self):
        assert not read(page("\n".join(map(joined, (REPORT, COLUMN, QUOTING))), tail=self.GATE)).paywalled
        assert not is_gated("x" * 5_000, "Subscribe to continue reading")

    def test_what_the_markup_says_goes_first(self):
        free = LD.format('{"@type":"NewsArticle","isAccessibleForFree":true}')
        assert not read(page(self.SHORT, head=free, tail=self.GATE)).paywalled

    @pytest.mark.parametrize(
        ("data", "locked"),
        [
            ('{"@type":"NewsArticle","hasPart":{"@type":"WebPageElement","isAccessibleForFree":"False"}}', True),
            ('{"@type":"NewsArticle","hasPart":[{"isAccessibleForFree":true},{"isAccessibleForFree":false}]}', True),
            ('{"@type":"NewsArticle","isAccessibleForFree":true,"hasPart":[{"isAccessibleForFree":false}]}', False),
            ('{"@type":"NewsArticle","hasPart":[{"isAccessibleForFree":true}]}', False),
        ],
    )
    def test_a_locked_part_locks_the_article(self, data, locked):
        assert read(page(joined(REPORT), head=LD.format(data))).paywalled is locked


class TestStated:
    @pytest.mark.parametrize(
        ("url", "kind"),
        [
            ("https://opinion.bay.test/2026/pier", "opinion"),
            ("https://tribune.test/2026/pier", "news"),
            ("https://www.tribune.co.uk/2026/pier", "news"),
            ("https://www.politifact.com/2026/pier", "fact_check"),
            ("https://politifact.com/", "other"),
        ],
    )
    def test_a_subdomain_is_a_section_and_a_domain_is_a_name(self, url, kind):
        assert kind_of(url) == kind

    @pytest.mark.parametrize(
        ("head", "kind"),
        [
            (LD.format('{"@type":"NewsArticle","articleSection":["Harbour","Opinion"]}'), "opinion"),
            ('<meta property="article:section" content="News > Opinion">', "opinion"),
            ('<meta property="article:opinion" content="true">', "opinion"),
            ('<meta property="article:opinion" content="false">', "news"),
            (
                LD.format(
                    '{"@type":"BreadcrumbList","itemListElement":[{"name":"Home"},{"name":"News"},{"name":"Comment"},'
                    '{"name":"Pier fares"}]}'
                ),
                "opinion",
            ),
            (
                LD.format(
                    '{"@type":"BreadcrumbList","itemListElement":[{"name":"Home"},{"name":"News"},{"name":"Opinion"}]}'
                ),
                "news",
            ),
        ],
    )
    def test_labels_are_found_where_they_stand(self, head, kind):
        assert read(page(joined(REPORT), "Fares rise by twelve per cent", head=head)).kind == kind

    def test_microdata_counts_when_it_is_the_pages_own(self):
        own = '<div itemscope itemtype="https://schema.org/OpinionNewsArticle">x</div>'
        title = "Fares rise by twelve per cent"
        assert read(page(joined(REPORT), title, tail=own)).kind == "opinion"
        assert read(page(joined(REPORT), title, tail=own * 3)).kind == "news"
        mixed = own + '<div itemscope itemtype="http://schema.org/NewsArticle">y</div>'
        assert read(page(joined(REPORT), title, tail=mixed)).kind == "news"
