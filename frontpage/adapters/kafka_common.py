"""What the Kafka adapters share: our two errors instead of the library's hundred, and a record as we hand it out."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Final

from kafka import errors

from frontpage.adapters.bus import Record
from frontpage.errors import Fenced, ServiceUnavailable

#: How long a send or a commit may wait for acknowledgements before ServiceUnavailable, real seconds; a broker restart
#: takes about 5.
DELIVERY_TIMEOUT: Final = 30.0

#: Longest wait between two tries to connect, milliseconds. The library's 30 s would keep every process away for so long
#: after a broker is back.
RECONNECT: Final = 1_000

FENCED: Final = (
    errors.ProducerFencedError,
    errors.InvalidProducerEpochError,
    errors.TransactionCoordinatorFencedError,
)


@contextlib.contextmanager
def kafka_errors() -> Iterator[None]:
    """Fenced for a lost transactional id, ServiceUnavailable for everything else."""
    try:
        yield
    except FENCED as error:
        raise Fenced(f"a newer producer has our transactional id: {error}") from error
    except (errors.KafkaError, OSError) as error:
        raise ServiceUnavailable(f"Kafka: {type(error).__name__}: {error}") from error


def as_record(row: Any) -> Record:
    """A row of the library as ours: key decoded leniently, value as bytes, time in seconds."""
    key = None if row.key is None else row.key.decode("utf-8", "replace")
    return Record(row.topic, row.partition, row.offset, key, row.value, row.timestamp / 1000)
