"""What the batch layer publishes to Redis besides profiles: projections, authority, clicks, models, terms, names.

Versioned documents are immutable under their own key; the hash `versions` points at the current one and is written
last, so a reader that follows a pointer always finds the document. Fields of `versions` are the functions below.
"""

from __future__ import annotations

import base64
from typing import Final

import numpy as np
from pydantic import BaseModel, ConfigDict

from frontpage.contracts.vectors import Floats, pack_uint32, unpack_uint32
from frontpage.domain.merge import Counts
from frontpage.domain.names import Entry
from frontpage.domain.term_tables import TermTable

#: Field of `versions` naming the current ranker model (`model:{version}`).
RANKER_POINTER: Final = "model/ranker"
#: Fields of `versions` for documents whose key has no version of its own.
AUTHORITY_POINTER: Final = "authority"
CLICKS_POINTER: Final = "clicks"
PROFILES_POINTER: Final = "profiles"
SLOGANS_POINTER: Final = "slogans"


def projection_pointer(encoder_version: str) -> str:
    """Field of `versions` naming the current projection of an encoder (`projection:{version}`)."""
    return f"projection/{encoder_version}"


def terms_pointer(language: str) -> str:
    """Field of `versions` naming the current term weights of a primary subtag (`terms:{version}`)."""
    return f"terms/{language}"


def names_pointer(language: str) -> str:
    """Field of `versions` naming the current dictionary of names of a primary subtag (`names:{version}`)."""
    return f"names/{language}"


def sections_pointer(encoder_version: str) -> str:
    """Field of `versions` naming the current section model of an encoder (`model:{version}`)."""
    return f"model/sections/{encoder_version}"


class _Document(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False, protected_namespaces=())


class ProjectionDocument(_Document):
    """`projection:{version}`: `matrix` is base64 little-endian float32, row-major [dimension, 64]."""

    version: str
    encoder_version: str
    dimension: int
    matrix: str
    fitted_on: int
    #: share of the variance of article vectors that the 64 dimensions keep, 0..1
    explained: float
    at: float

    @classmethod
    def pack(
        cls, version: str, encoder_version: str, matrix: Floats, *, fitted_on: int, explained: float, at: float
    ) -> ProjectionDocument:
        """From a float32 matrix [dimension, 64]."""
        data = base64.b64encode(matrix.astype("<f4").tobytes()).decode("ascii")
        return cls(
            version=version, encoder_version=encoder_version, dimension=matrix.shape[0], matrix=data,
            fitted_on=fitted_on, explained=explained, at=at,
        )  # fmt: skip

    def unpack(self) -> Floats:
        """float32 [dimension, 64]."""
        flat = np.frombuffer(base64.b64decode(self.matrix), dtype="<f4").astype(np.float32, copy=False)
        return flat.reshape(self.dimension, -1)


class AuthorityDocument(_Document):
    """`authority`: authority 0..1 of each publisher, over all topics ("*") and per topic where enough is known."""

    version: str
    at: float
    default: float
    by_publisher: dict[str, dict[str, float]]

    def of(self, publisher_id: str, topic: str = "*", prior: float | None = None) -> float:
        """Per-topic value, else the publisher's overall value, else `prior`, else the default."""
        known = self.by_publisher.get(publisher_id)
        if known is None:
            return self.default if prior is None else prior
        return known.get(topic, known.get("*", self.default))


class ClicksDocument(_Document):
    """`clicks:batch`: counted clicks by article (and rolled up to stories) below `watermark`."""

    version: str
    at: float
    watermark: dict[str, int]
    by_article: dict[str, int]
    by_story: dict[str, int]
    #: impressions by story, for click-through rates
    impressions: dict[str, int] = {}

    def counts(self) -> Counts:
        """As the domain merges them."""
        return Counts(self.by_article, self.watermark)


class ModelDocument(_Document):
    """`model:{version}`: a model as text: LightGBM with the feature registry it was trained on, or sections (JSON)."""

    version: str
    features_version: str
    names: list[str]
    model_text: str
    metrics: dict[str, float] = {}
    trained_on: int = 0
    at: float


class TermsDocument(_Document):
    """`terms:{version}`: in how many stories of a language each hashed term stands, recent stories counting more.

    `ids` is base64 of little-endian uint32 [n], ascending; `counts` of little-endian float32 [n]. `until` is the
    watermark: stories that began up to it (virtual seconds) are counted.
    """

    version: str
    language: str
    documents: float
    ids: str
    counts: str
    until: float
    at: float

    @classmethod
    def pack(cls, language: str, table: TermTable, at: float) -> TermsDocument:
        """From the domain's table."""
        counts = base64.b64encode(table.counts.astype("<f4").tobytes()).decode("ascii")
        return cls(
            version=table.version, language=language, documents=table.documents, ids=pack_uint32(table.ids),
            counts=counts, until=table.until, at=at,
        )  # fmt: skip

    def unpack(self) -> TermTable:
        """The domain's table; raises ValueError when it is damaged: its order is relied on."""
        ids = unpack_uint32(self.ids)
        counts = np.frombuffer(base64.b64decode(self.counts), dtype="<f4").astype(np.float32, copy=False)
        if len(ids) != len(counts) or not self.documents > 0 or np.any(ids[1:] <= ids[:-1]):
            raise ValueError(f"term weights {self.version} are damaged")
        if np.any(counts <= 0) or np.any(counts > self.documents * 1.001):
            raise ValueError(f"term weights {self.version} have counts that no {self.documents} stories give")
        return TermTable(self.version, self.documents, ids, counts, self.until)


class NamesDocument(_Document):
    """`names:{version}`: learnt names of a language, most stories first, and which of them are bare German nouns."""

    version: str
    language: str
    names: list[str]
    alone: list[str] = []
    at: float

    def entries(self) -> list[Entry]:
        """As the domain makes its look-up table of them; support is their order."""
        found = [Entry(name, 0, len(self.names) - rank) for rank, name in enumerate(self.names)]
        return found + [Entry(name, 0, 0, alone=True) for name in self.alone]


class SlogansDocument(_Document):
    """`slogans`: what each publisher writes beside most of its headlines."""

    version: str
    at: float
    by_publisher: dict[str, list[str]]
