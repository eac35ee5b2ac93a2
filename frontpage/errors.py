"""The one error tree. Every error that Frontpage raises on purpose descends from `FrontpageError`.

    FrontpageError
    ├── ConfigurationError       a setting is missing, malformed or contradicts another: fix it, start again
    ├── ServiceUnavailable       Kafka, Redis, Spark or the lake did not answer in time: retried with back-off
    │   └── StoreFull            Redis or the disk refuses writes: free space, processes go on by themselves
    ├── Fenced                   another process holds our lease or transactional id: stop, do not write again
    ├── FetchError               an outside address could not be fetched (see its `cause`)
    │   ├── FetchRefused         we must not fetch it: robots, opt-out, private address, scheme, redirect limit
    │   └── FetchFailed          it did not answer properly: retried with back-off, then dead-lettered
    ├── UnreadableInput          bytes that are not what they claim to be (feed, page, sitemap, replay line)
    │   └── UnreadableEvent      a record on a topic that cannot be understood: dead-lettered once, skipped
    ├── UnknownVersion           a model, projection or encoder version that this process does not have
    └── NotFound                 a story, page, reader or model that does not exist

Each subclass states the cause in its message and, in its docstring, what the operator does about it.
"""

from __future__ import annotations


class FrontpageError(Exception):
    """Base of all deliberate errors; `str(error)` is one line that can be shown to an operator."""


class ConfigurationError(FrontpageError):
    """A setting is missing, malformed or contradicts another. Fix the setting named in the message."""


class ServiceUnavailable(FrontpageError):
    """A service did not answer in time. Processes retry with back-off; `frontpage doctor` names the service."""


class StoreFull(ServiceUnavailable):
    """A store refuses writes for lack of space. Free space or raise its limit; nothing has been lost."""


class Fenced(FrontpageError):
    """A newer holder took our lease or transactional id. The process must stop without writing again."""


class FetchError(FrontpageError):
    """An outside address could not be fetched. `cause` is a short machine-readable word."""

    def __init__(self, message: str, *, cause: str, status: int | None = None) -> None:
        super().__init__(message)
        self.cause = cause
        self.status = status


class FetchRefused(FetchError):
    """We must not fetch this address (robots, opt-out, private address, scheme). Never retried."""


class FetchFailed(FetchError):
    """The address did not answer properly. Retried with back-off, then the item is dead-lettered."""

    def __init__(
        self, message: str, *, cause: str, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message, cause=cause, status=status)
        self.retry_after = retry_after


class UnreadableInput(FrontpageError):
    """Bytes that are not what they claim to be. The input is quarantined with this cause."""

    def __init__(self, message: str, *, cause: str) -> None:
        super().__init__(message)
        self.cause = cause


class UnreadableEvent(UnreadableInput):
    """A record that cannot be understood. It goes once to `items.dead`; the offset moves on."""


class UnknownVersion(FrontpageError):
    """A model, projection or encoder version this process does not have. Republish it or roll back."""


class NotFound(FrontpageError):
    """A story, page, reader or model that does not exist (any more)."""
