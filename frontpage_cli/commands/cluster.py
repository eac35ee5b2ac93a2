"""`frontpage cluster`, `similarity`, `eval clustering` and `inspect pair`: the clusterer's own code over files.

`inspect_pair` is mounted under `inspect` by that group's module; `evaluation` is the group that `train.py` shares.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from frontpage.adapters.encoder import EncoderSet
    from frontpage.domain.story import StoryBook


def register(app: typer.Typer) -> None:
    """Add `cluster`, `similarity` and `eval clustering`."""
    app.command("cluster")(cluster)
    app.command("similarity")(similarity)
    evaluation(app).command("clustering")(eval_clustering)


def evaluation(app: typer.Typer) -> typer.Typer:
    """The `eval` group of `app`, made when it is not there yet."""
    found = [group.typer_instance for group in app.registered_groups if group.name == "eval"]
    if found and found[0] is not None:
        return found[0]
    group = typer.Typer(no_args_is_help=True, help="Judge models on what they have not seen.")
    group.callback()(lambda: None)
    app.add_typer(group, name="eval")
    return group


def cluster(
    articles: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="articles, .jsonl or .jsonl.gz")],
    out: Annotated[Path, typer.Option(help="where {id, story, copy_of} go")],
    repair: Annotated[bool, typer.Option("--repair", help="add the fast repair and the 48-hour re-clustering")] = False,
) -> None:
    """Group a file of articles into stories, in the order given; a null time decides nothing."""
    rows, book = _clustered(articles, repair)
    with open(out, "w", encoding="utf-8") as stream:
        for row in rows:
            story = book.story_of_article(row["id"])
            member = story.members[row["id"]] if story is not None else None
            line = {
                "id": row["id"],
                "story": story.story_id if story is not None else None,
                "copy_of": member.copy_of if member is not None else None,
            }
            stream.write(json.dumps(line) + "\n")
    typer.echo(f"{len(rows)} articles, {len(book.stories)} stories", err=True)


def eval_clustering(
    articles: Annotated[
        Path | None, typer.Argument(exists=True, dir_okay=False, help="articles with their true `story`")
    ] = None,
    repair: Annotated[bool, typer.Option("--repair", help="add the fast repair and the 48-hour re-clustering")] = False,
    rated: Annotated[bool, typer.Option("--rated", help="on the pairs that persons rated (`frontpage rate`)")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="JSON on standard output and nothing else")] = False,
) -> None:
    """B-cubed and pair precision, recall and F1 of the present clusterer on a labelled file; rows without a label are
    clustered and not counted. With `--rated` the precision and recall of "same story" on rated pairs.
    """
    if rated == (articles is not None):
        raise typer.BadParameter("give either a file or --rated")
    figures = _on_file(articles, repair) if articles is not None else _on_ratings()
    if json_output:
        sys.stdout.write(json.dumps(figures) + "\n")
    else:
        for name, value in figures.items():
            typer.echo(f"{name:<20} {value}")


def _on_file(articles: Path, repair: bool) -> dict[str, float]:
    from frontpage.adapters.article_file import read_json_rows
    from frontpage.domain.agreement import b_cubed, pairwise
    from frontpage.errors import UnreadableInput

    truth = {str(row.get("id")): str(row["story"]) for row in read_json_rows(articles) if row.get("story") is not None}
    if not truth:
        raise UnreadableInput(f"{articles}: no row has a `story`", cause="no-labels")
    rows, book = _clustered(articles, repair)
    found = {row["id"]: story.story_id for row in rows if (story := book.story_of_article(row["id"])) is not None}
    # an article that is in no story stands alone
    found |= {row["id"]: f"alone {row['id']}" for row in rows if row["id"] not in found}
    figures: dict[str, float] = {"articles": len(truth), "stories": len(set(truth.values()))}
    figures["found_stories"] = len({found[id] for id in truth})
    for name, agreement in (("b_cubed", b_cubed(found, truth)), ("pair", pairwise(found, truth))):
        for part in ("precision", "recall", "f1"):
            figures[f"{name}_{part}"] = round(getattr(agreement, part), 4)
    return figures


def _on_ratings() -> dict[str, float]:
    """By headline and snippet, which is what the persons were shown."""
    from frontpage.adapters.pair_rater import rate_pairs
    from frontpage.adapters.ratings import labels
    from frontpage.domain.agreement import Agreement
    from frontpage.errors import UnreadableInput
    from frontpage.runtime import lake_of
    from frontpage.settings import load

    known = labels(lake_of(load()))
    if not known:
        raise UnreadableInput("no pair has been rated: `frontpage rate`, then a refresh", cause="no-labels")
    found = [rating.same_story for rating in rate_pairs([(one.left, one.right) for one in known], _encoders())]
    hits = sum(same and one.same for same, one in zip(found, known, strict=True))
    positives, taken = sum(one.same for one in known), sum(found)
    agreement = Agreement(hits / taken if taken else 1.0, hits / positives if positives else 1.0)
    return {
        "pairs": len(known), "same": positives, "found_same": taken, "pair_precision": round(agreement.precision, 4),
        "pair_recall": round(agreement.recall, 4), "pair_f1": round(agreement.f1, 4),
    }  # fmt: skip


def similarity(
    pairs: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="{id1, id2} lines")],
    articles: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="the articles of the ids")],
    out: Annotated[Path, typer.Option(help="where {id1, id2, score, copy, same_story} go")],
) -> None:
    """Rate pairs of articles, 0 (unrelated) to 1 (the same event)."""
    from frontpage.adapters.article_file import read_json_rows, read_rows
    from frontpage.adapters.pair_rater import rate_pairs
    from frontpage.errors import UnreadableInput

    wanted = [(row.get("id1"), row.get("id2")) for row in read_json_rows(pairs)]
    needed = {key for pair in wanted for key in pair}
    rows = {row["id"]: row for row in read_rows(articles) if row["id"] in needed}
    for left, right in wanted:
        for key in (left, right):
            if key not in rows:
                raise UnreadableInput(f"{pairs}: no article {key!r:.60} in {articles}", cause="unknown-id")
    judged = rate_pairs([(rows[str(left)], rows[str(right)]) for left, right in wanted], _encoders())
    with open(out, "w", encoding="utf-8") as stream:
        for (left, right), found in zip(wanted, judged, strict=True):
            line = {"id1": left, "id2": right, "score": found.score, "copy": found.copy, "same_story": found.same_story}
            stream.write(json.dumps(line) + "\n")


def inspect_pair(
    a: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="one article as JSON")],
    b: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="another article as JSON")],
) -> None:
    """Whether two articles are copies or tell of one event, and the signals that say so (always JSON)."""
    from frontpage.adapters.article_file import read_row
    from frontpage.adapters.pair_rater import rate_pairs

    left, right = (read_row(path.read_text(encoding="utf-8"), str(path)) for path in (a, b))
    found = rate_pairs([(left, right)], _encoders())[0]
    answer = {"copy": found.copy, "same_story": found.same_story, "score": found.score, "signals": found.signals}
    sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")


def _clustered(articles: Path, repair: bool) -> tuple[list[dict[str, Any]], StoryBook]:
    """The rows of a file and their stories; raises UnreadableInput (`duplicate-id` and what reading raises)."""
    from frontpage.adapters.article_file import encode_rows, read_rows
    from frontpage.adapters.story_models import policy_for
    from frontpage.domain.batch_clustering import cluster_all
    from frontpage.errors import UnreadableInput

    rows = list(read_rows(articles))
    seen: set[str] = set()
    for row in rows:
        if row["id"] in seen:
            raise UnreadableInput(f"{articles}: id {row['id']!r:.60} occurs twice", cause="duplicate-id")
        seen.add(row["id"])
    return rows, cluster_all(encode_rows(rows, _encoders()), policy_for, repaired=repair)


def _encoders() -> EncoderSet:
    from frontpage.adapters.encoder import EncoderSet
    from frontpage.settings import load

    settings = load()
    return EncoderSet.from_names(settings.encoder_en, settings.encoder_other)
