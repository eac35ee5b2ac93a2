"""One list of checks over the real encoders and their twin."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from fakes.encoder import HashEncoder

from frontpage.adapters.encoder import EncoderSet, MiniLmEncoder, UseEncoder, keep_to_one_thread
from frontpage.errors import ConfigurationError

TEXTS = ["Ferry sinks off Port Sela", "A ferry went down near Port Sela", "Parliament passes the budget", ""]


@pytest.fixture(params=[HashEncoder, MiniLmEncoder, UseEncoder], scope="module")
def encoder(request):
    return request.param()


def test_vectors_are_unit_float32_of_the_stated_dimension(encoder):
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)


@pytest.mark.parametrize("size", [1, 7, 40])
def test_bfloat16_changes_a_vector_by_next_to_nothing(size):
    """So processors with and without it may share one index: the version is one."""
    texts = [f"{text} {number}, said the minister of {text.lower()}" * 4 for number in range(size) for text in TEXTS]
    exact = MiniLmEncoder(bfloat16=False).encode(texts)
    short = MiniLmEncoder(bfloat16=True).encode(texts)
    assert np.einsum("ij,ij->i", exact, short).min() > 0.9999


def test_no_texts_give_no_rows(encoder):
    assert encoder.encode([]).shape == (0, encoder.dimension)


def test_a_text_does_not_depend_on_its_company(encoder):
    np.testing.assert_allclose(encoder.encode(TEXTS)[2], encoder.encode([TEXTS[2]])[0], atol=1e-3)


def test_alike_is_nearer_than_unlike(encoder):
    ferry, again, budget, _ = encoder.encode(TEXTS)
    assert ferry @ again > ferry @ budget


def test_versions_name_the_model_and_a_number(encoder):
    name, _, number = encoder.version.partition("@")
    assert name
    assert number.isdigit()


def test_each_language_has_its_encoder():
    encoders = EncoderSet.from_names("minilm", "use")
    assert isinstance(encoders.for_language("en-GB"), MiniLmEncoder)
    assert encoders.for_language("de") is encoders.for_language("vi")
    assert isinstance(encoders.for_language("und"), UseEncoder)
    with pytest.raises(ConfigurationError, match="unknown encoder"):
        EncoderSet.from_names("minilm", "nothing")


@pytest.fixture
def torch_threads() -> Iterator[None]:
    """Gives torch back the threads that it had."""
    import torch

    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("torch_threads")
def test_one_call_keeps_the_libraries_to_one_thread_in_every_thread_of_ours():
    import torch
    from threadpoolctl import threadpool_info

    MiniLmEncoder().encode(["warm"])
    torch.set_num_threads(2)
    keep_to_one_thread()
    found: list[int] = []
    worker = threading.Thread(target=lambda: found.append(torch.get_num_threads()))
    worker.start()
    worker.join(30)
    assert found == [1], "features are computed in a thread of their own"
    assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {1}
