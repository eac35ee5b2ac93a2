"""Quality on the labelled data and cases: what `make eval` runs.

    python -m benchmarks.evaluate [--only stories|ingestion] [--json FILE]

Each figure is printed as it is known and compared with its floor in `floors.toml`; a figure below its floor, or a case
that is wrong and not listed there as open, fails the run. The path measured is that of `frontpage cluster` (the command
itself runs on one set, the same functions on the others, so that each text is encoded once). To stay within minutes on
two cores, NeuS and UCI are measured on every third story.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import tempfile
import time
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks import datasets, entities, sections
from frontpage.adapters.article_file import encode_rows
from frontpage.adapters.encoder import Encoder, EncoderSet, MiniLmEncoder, UseEncoder
from frontpage.adapters.pair_rater import rate_pairs
from frontpage.adapters.story_models import policy_for
from frontpage.domain.agreement import b_cubed, pairwise
from frontpage.domain.article import ArticleSignals
from frontpage.domain.batch_clustering import cluster_all
from frontpage.domain.story import StoryBook

FLOORS: Final = Path(__file__).with_name("floors.toml")
THIRDS: Final = frozenset({"neus", "uci"})
#: UCI's 87 labels are broad topics: measured online only.
ONLINE_ONLY: Final = frozenset({"uci"})
#: SemEval ratings up to here call two articles related; singles of the mixed stream come from no such pair.
RELATED: Final = 3.0


class Remembering:
    """An encoder that encodes each text once a run."""

    def __init__(self, inner: Encoder) -> None:
        self.inner = inner
        self.version, self.dimension = inner.version, inner.dimension
        self.known: dict[str, Any] = {}

    def encode(self, texts: Sequence[str]) -> Any:
        new = sorted({text for text in texts if text not in self.known}, key=len)
        for text, vector in zip(new, self.inner.encode(new), strict=True):
            self.known[text] = vector
        return np.stack([self.known[text] for text in texts]) if texts else self.inner.encode([])


class Report:
    """Figures against floors, printed as they come."""

    def __init__(self) -> None:
        content = tomllib.loads(FLOORS.read_text(encoding="utf-8"))
        #: cases that are not right yet, with the reason: shown, not counted
        self.open: dict[str, str] = content.pop("open", {})
        self.floors = flatten(content)
        self.values: dict[str, float] = {}
        self.passed = self.failed = 0
        self.began = time.monotonic()

    def figure(self, name: str, value: float) -> None:
        """A figure: at its floor or above (`*_joined`: at its ceiling or below); one without a floor is only shown."""
        self.values[name] = value
        floor = self.floors.get(name)
        if floor is None:
            print(f"  -    {name:<44} {value:>8.4f}", flush=True)
            return
        good = value <= floor if name.endswith("_joined") else value >= floor
        self._line(good, name, f"{value:.4f}", f"floor {floor:.4f}")

    def check(self, name: str, good: bool, detail: str = "") -> None:
        """A case: right or wrong; one that is listed as open is shown and not counted while it is wrong."""
        if not good and name in self.open:
            print(f"  open {name:<44} {'WRONG':>8}  {self.open[name]}", flush=True)
            return
        self.values[name] = float(good)
        self._line(good, name, "right" if good else "WRONG", detail)

    def say(self, text: str) -> None:
        print(f"[{time.monotonic() - self.began:5.0f} s] {text}", flush=True)

    def _line(self, good: bool, name: str, value: str, note: str) -> None:
        self.passed, self.failed = self.passed + good, self.failed + (not good)
        print(f"  {'ok  ' if good else 'FAIL'} {name:<44} {value:>8}  {note[:300]}", flush=True)

    def missing(self) -> None:
        """A floor without a figure is a figure that was lost."""
        for name in sorted(set(self.floors) - set(self.values)):
            self.check(name, False, "has a floor but was not measured")


def flatten(table: dict[str, Any], prefix: str = "") -> dict[str, float]:
    flat: dict[str, float] = {}
    for key, value in table.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": float(value)}
    return flat


def scores(gold: dict[str, str], predicted: dict[str, str]) -> dict[str, float]:
    """B-cubed (Bagga and Baldwin 1998) and pair precision and recall."""
    groups = {key: predicted[key] for key in gold}
    items, pairs = b_cubed(groups, gold), pairwise(groups, gold)
    return {
        "b3_precision": items.precision,
        "b3_recall": items.recall,
        "b3_f1": items.f1,
        "pair_precision": pairs.precision,
        "pair_recall": pairs.recall,
    }


def story_of(book: StoryBook, keys: Iterable[str]) -> dict[str, str]:
    return {key: book.story_of[key] for key in keys}


def sets(report: Report, root: Path, encoders: EncoderSet) -> dict[str, tuple[list[Any], list[ArticleSignals]]]:
    """B-cubed and pairs of each set, online and with repair."""
    loaded = {}
    for name in ("basil", "ground", "allsides", "ktlab", "neus", "uci"):
        rows = datasets.load(root, name)
        if name in THIRDS:
            kept = set(sorted({row["story"] for row in rows})[::3])
            rows = [row for row in rows if row["story"] in kept]
        report.say(f"{name}: encoding {len(rows)} articles")
        loaded[name] = rows, encode_rows(rows, encoders)
        gold = {row["id"]: row["story"] for row in rows if row.get("story")}
        for mode in ("online",) if name in ONLINE_ONLY else ("online", "repaired"):
            report.say(f"{name}: clustering {mode}")
            book = cluster_all(loaded[name][1], policy_for, repaired=mode == "repaired")
            found = scores(gold, story_of(book, gold))
            for measure in ("b3_f1", "pair_precision", "pair_recall"):
                report.figure(f"{name}.{mode}.{measure}", found[measure])
            if name == "ground":
                found = scores(_one_label(gold), story_of(book, gold))
                for measure in ("b3_f1", "pair_precision", "pair_recall"):
                    report.figure(f"{name}.{mode}.one_label.{measure}", found[measure])
    return loaded


def _one_label(gold: dict[str, str]) -> dict[str, str]:
    return {key: datasets.ONE_EVENT.get(story, story) for key, story in gold.items()}


def mixed(report: Report, root: Path, loaded: dict[str, Any], encoders: EncoderSet) -> None:
    """Precision where most articles have no partner: three sets and unrelated singles, shuffled, times unknown."""
    pairs = datasets.read(root / datasets.FOLDERS["semeval"] / "pairs.jsonl.gz")
    partners: dict[str, set[str]] = {}
    for pair in pairs:
        if pair.get("overall") is not None and pair["overall"] < RELATED:
            partners.setdefault(pair["id1"], set()).add(pair["id2"])
            partners.setdefault(pair["id2"], set()).add(pair["id1"])
    singles: dict[str, Any] = {}
    for row in datasets.load(root, "semeval"):
        if len(singles) < 800 and not partners.get(row["id"], set()) & singles.keys():
            singles[row["id"]] = row
    report.say(f"mixed stream: {len(singles)} singles")
    stream = [pair for name in ("ground", "basil", "neus") for pair in zip(*loaded[name], strict=True)]
    stream += zip(singles.values(), encode_rows(list(singles.values()), encoders), strict=True)
    random.Random(7).shuffle(stream)
    book = cluster_all(datasets.without_time([article for _, article in stream]), policy_for, repaired=False)
    gold = _one_label({row["id"]: row.get("story") or row["id"] for row, _ in stream})
    found = scores(gold, story_of(book, gold))
    report.figure("mixed.online.pair_precision", found["pair_precision"])
    report.figure("mixed.online.pair_recall", found["pair_recall"])
    joined = sum(len(book.stories[book.story_of[key]].members) > 1 for key in singles)
    report.figure("mixed.online.singles_joined", joined / len(singles))


def similarity(report: Report, root: Path, encoders: EncoderSet) -> None:
    """Pearson of the similarity score with minus the rating."""
    rows = {row["id"]: row for row in datasets.load(root, "semeval")}
    rated: dict[str, list[Any]] = {}
    for pair in datasets.read(root / datasets.FOLDERS["semeval"] / "pairs.jsonl.gz"):
        if pair["id1"] in rows and pair["id2"] in rows and pair.get("overall") is not None:
            rated.setdefault("-".join(sorted({pair["lang1"], pair["lang2"]})), []).append(pair)
    for languages in ("en", "de-en", "de", "es"):
        pairs = rated.get(languages, [])
        report.say(f"similarity {languages}: {len(pairs)} pairs")
        found = rate_pairs([(rows[pair["id1"]], rows[pair["id2"]]) for pair in pairs], encoders)
        truth = [-pair["overall"] for pair in pairs]
        report.figure(f"similarity.{languages}.pearson", float(np.corrcoef([r.score for r in found], truth)[0, 1]))


def copies(report: Report, root: Path, encoders: EncoderSet) -> None:
    """Copy and contained copy against distinct, as `frontpage similarity` says."""
    rows = {row["id"]: row for row in datasets.load(root, "ground")}
    labelled = datasets.read(root / datasets.FOLDERS["ground"] / "near_dup_pairs.silver.jsonl.gz")
    pairs = [pair for pair in labelled if pair["label"] != "unclear" and pair["id1"] in rows and pair["id2"] in rows]
    report.say(f"copies: {len(pairs)} pairs")
    found = rate_pairs([(rows[pair["id1"]], rows[pair["id2"]]) for pair in pairs], encoders)
    truth = [pair["label"] != "distinct" for pair in pairs]
    hits = sum(r.copy and t for r, t in zip(found, truth, strict=True))
    report.figure("copies.precision", hits / max(1, sum(r.copy for r in found)))
    report.figure("copies.recall", hits / sum(truth))


def cases(report: Report, folder: Path, encoders: EncoderSet) -> None:
    """The stories cases, each group in every order of arrival."""
    for path in sorted(folder.glob("*/titles.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict) or not {"join", "same", "keep_apart"} & content.keys():
            continue
        source = content.get("same_source", "")
        for kind in ("join", "same", "keep_apart", "link"):
            for number, group in enumerate(content.get(kind, ())):
                rows = [_case_row(item, source, at) for at, item in enumerate(group)]
                articles = encode_rows(rows, encoders)
                wrong = []
                for order in itertools.permutations(articles):
                    book = cluster_all(order, policy_for, repaired=False)
                    together = len(book.stories) == 1
                    if together != (kind in ("join", "same")):
                        wrong.append([article.article_id for article in order])
                titles = " | ".join(row["title"] for row in rows)
                report.check(f"case {path.parent.name[:3]}.{kind}.{number + 1}", not wrong, titles if wrong else "")


def _case_row(item: Any, source: str, at: int) -> dict[str, Any]:
    fields = {"t": item} if isinstance(item, str) else item
    return {
        "id": f"a{at}",
        "title": fields["t"],
        "text": fields.get("lead"),
        "publisher": fields.get("s") or source or f"site-{at}.example",
        "lang": fields.get("lang", "en"),
        "published_at": fields.get("at"),
    }


def names(report: Report) -> None:
    """Recall of names and places on the hand-made samples, mean over languages and worst language."""
    rows = entities.recalls()
    for figure in ("places", "new", "known", "precision"):
        values = [row[figure] for row in rows.values()]
        report.figure(f"entities.{figure}.mean", sum(values) / len(values))
        report.figure(f"entities.{figure}.worst", min(values))


def topics(report: Report, root: Path, encoders: EncoderSet) -> None:
    """The shipped section models on articles whose publisher's label is not read."""
    for language, row in sections.measure(root, encoders).items():
        for figure in ("accuracy", "said", "right"):
            report.figure(f"sections.{language}.{figure}", row[figure])


def command(report: Report, root: Path) -> None:
    """The command itself gives what its functions give."""
    from typer.testing import CliRunner

    from frontpage_cli.main import _build

    report.say("frontpage cluster on basil")
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out.jsonl"
        source = root / datasets.FOLDERS["basil"] / "articles.jsonl.gz"
        result = CliRunner().invoke(_build(), ["cluster", str(source), "--out", str(out)])
        lines = datasets.read(out) if result.exit_code == 0 else []
    gold = {row["id"]: row["story"] for row in datasets.load(root, "basil")}
    predicted = {line["id"]: line["story"] for line in lines}
    report.check("command.cluster", predicted.keys() == gold.keys(), str(result.exception or ""))


def ingestion(report: Report, root: Path, folder: Path) -> None:
    """The ingestion cases and the parsing figures."""
    from benchmarks import cases_ingestion, kinds, parsing

    report.say("ingestion cases")
    for name, good, detail in cases_ingestion.run(folder):
        report.check(f"case {name}", good, detail)
    report.say("parsing")
    figures, misses = parsing.measure(root)
    for name, value in sorted(figures.items()):
        report.figure(f"parsing.{name}", value)
    unexplained = []
    for figure, file, what in misses:
        reason = parsing.reason_of(file)
        print(f"       {figure} {file}: {what}: {reason or 'no reason known'}", flush=True)
        if reason is None:
            unexplained.append(file)
    report.check("parsing.misses_have_reasons", not unexplained, ", ".join(unexplained))
    report.say("opinion without markup, on publishers held out and on the sample world")
    for name, value in kinds.run(root).items():
        report.figure(f"kinds.{name}", value)


def main() -> None:
    """Measure everything; exit 1 when anything is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("stories", "ingestion"))
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    root, folder = datasets.folder("FRONTPAGE_DATASETS"), datasets.folder("FRONTPAGE_CASES")
    report = Report()
    if arguments.only != "stories":
        ingestion(report, root, folder)
    if arguments.only != "ingestion":
        encoders = EncoderSet(Remembering(MiniLmEncoder()), Remembering(UseEncoder()))
        cases(report, folder, encoders)
        names(report)
        topics(report, root, encoders)
        loaded = sets(report, root, encoders)
        copies(report, root, encoders)
        mixed(report, root, loaded, encoders)
        similarity(report, root, encoders)
        command(report, root)
    if arguments.only is None:
        report.missing()
    if arguments.json:
        arguments.json.write_text(json.dumps(report.values, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    report.say("done")
    print(f"{report.passed} passed, {report.failed} failed")
    raise SystemExit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
