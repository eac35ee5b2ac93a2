"""What goes back: views to Redis, proposals to the writers, the model; and the tables' upkeep."""

from typing import Final

import dagster as dg

from assets import show
from assets.system import System
from batch import erasure, publish, ranker, section_training, upkeep
from frontpage.contracts import tables

GROUP: Final = "serving"
_PUBLISHED: Final = (
    "gold/publisher_authority", "gold/reader_profiles", "gold/vector_projection", "gold/models", "silver/clicks",
    "silver/impressions", "silver/story_members", "gold/term_weights", "gold/entities", "gold/title_slogans",
)  # fmt: skip


@dg.asset(
    key=["gold", "models"], group_name="gold", owners=["team:ranking"], kinds={"lightgbm", "deltalake"},
    deps=[dg.AssetKey(["gold", "rank_training"]), dg.AssetKey(["silver", "articles"])], description=tables.MODELS.doc,
)  # fmt: skip
def models(context: dg.AssetExecutionContext, system: dg.ResourceParam[System]) -> dg.MaterializeResult[None]:
    """Ranker and section models: train, compare with what is in use on later rows, promote when better.

    Skips what there is too little to learn from.
    """
    lake, now = system.lake(), system.now()
    facts: dict[str, dg.MetadataValue] = {}
    try:
        row = ranker.train(lake, now)
        ranker.register(system.spark(), lake, row)
        facts = show.rows(0, version=row["version"], stage=row["stage"], **row["metrics"])
    except ranker.TooFewClicks as error:
        context.log.info(str(error))
        facts = show.rows(0, skipped=str(error))
    used = {
        r["features_version"]: r["model_text"]
        for r in ranker.models(lake) if r["kind"] == section_training.KIND and r["stage"] == "current"
    }  # fmt: skip
    trained = section_training.train(lake, used, now)
    for row in trained:
        ranker.register(system.spark(), lake, row)
    shown = [{"encoder": r["features_version"], "stage": r["stage"], **r["metrics"]} for r in trained]
    return dg.MaterializeResult(metadata=facts | show.rows(len(ranker.models(lake))) | {"sections": show.table(shown)})


@dg.asset(
    key=["serving", "views"], group_name=GROUP, owners=["team:serving"], kinds={"redis"},
    deps=[dg.AssetKey(key.split("/")) for key in _PUBLISHED],
    description="Profiles with watermarks, projections, authority, clicks, model, words, names in Redis.",
)  # fmt: skip
def views(system: dg.ResourceParam[System]) -> dg.MaterializeResult[None]:
    """Documents first, pointers last; an older product never replaces a newer one."""
    published = publish.everything(system.lake(), system.redis(), system.now())
    return dg.MaterializeResult(metadata=show.rows(sum(published.values()), **published))


@dg.asset(
    key=["serving", "proposals"], group_name=GROUP, owners=["team:stories"], kinds={"kafka"},
    deps=[dg.AssetKey(["gold", "reclusters"])],
    description="Merges and splits of the last re-clustering, sent to the languages' writers on `story.proposals`.",
)  # fmt: skip
def proposals(system: dg.ResourceParam[System]) -> dg.MaterializeResult[None]:
    """The writers judge them again, in order with their own decisions."""
    return dg.MaterializeResult(metadata=show.rows(publish.proposals(system.lake(), system.bus())))


@dg.asset(
    key=["upkeep", "deletions"], group_name="upkeep", owners=["team:data"], kinds={"deltalake"},
    description="Rows of readers who asked to be forgotten leave every table; VACUUM then removes them from history.",
)  # fmt: skip
def upkeep_deletions(system: dg.ResourceParam[System]) -> dg.MaterializeResult[None]:
    """Requests are the `delete` events that have reached bronze."""
    done = erasure.run(system.spark(), system.lake())
    return dg.MaterializeResult(metadata=show.rows(sum(r["rows deleted"] for r in done)) | {"tables": show.table(done)})


@dg.asset(
    key=["upkeep", "tables"], group_name="upkeep", owners=["team:data"], kinds={"deltalake"},
    deps=[dg.AssetKey(["upkeep", "deletions"])],
    description="OPTIMIZE joins small files, VACUUM removes those that no version of the last week needs.",
)  # fmt: skip
def upkeep_tables(system: dg.ResourceParam[System]) -> dg.MaterializeResult[None]:
    """All tables, one after the other."""
    done = upkeep.run(system.spark(), system.lake())
    return dg.MaterializeResult(metadata=show.rows(len(done)) | {"tables": show.table(done)})
