"""Starting a Dagster job and waiting for it, over the webserver's GraphQL as its UI does."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from typing import Any, Final

from frontpage.errors import NotFound, ServiceUnavailable

LOCATION: Final = "frontpage"
_REPOSITORY: Final = "__repository__"
_DONE: Final = {"SUCCESS", "FAILURE", "CANCELED"}

_LAUNCH: Final = """
mutation($job: String!) {
  launchRun(executionParams: {selector: {repositoryLocationName: "frontpage", repositoryName: "__repository__",
    jobName: $job}, runConfigData: "{}"}) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
    ... on RunConfigValidationInvalid { errors { message } }
    ... on PipelineNotFoundError { message }
  }
}
"""
_RUN: Final = """
query($run: ID!) { runOrError(runId: $run) { ... on Run { status stepStats { stepKey status } } } }
"""


def launch(dagster: str, job: str) -> str:
    """Queue one run of `job`; returns its id. Raises NotFound or ServiceUnavailable."""
    answer = _ask(dagster, _LAUNCH, {"job": job})["launchRun"]
    if answer["__typename"] == "LaunchRunSuccess":
        return str(answer["run"]["runId"])
    told = answer.get("message") or json.dumps(answer.get("errors", answer))
    if answer["__typename"] == "PipelineNotFoundError":
        raise NotFound(f"Dagster has no job {job}: {told}")
    raise ServiceUnavailable(f"Dagster did not take {job}: {told}"[:400])


def wait(dagster: str, run: str, timeout: float, say: Callable[[str, int], None]) -> str:
    """The run's final status (SUCCESS, FAILURE, CANCELED); `say` gets status and finished steps about once a second.

    Raises ServiceUnavailable after `timeout` real seconds.
    """
    deadline = time.monotonic() + timeout
    while True:
        found = _ask(dagster, _RUN, {"run": run})["runOrError"]
        status = str(found.get("status", "UNKNOWN"))
        say(status, sum(step["status"] == "SUCCESS" for step in found.get("stepStats") or []))
        if status in _DONE:
            return status
        if time.monotonic() > deadline:
            raise ServiceUnavailable(f"Dagster run {run} is still {status} after {timeout:.0f} s")
        time.sleep(1.0)


def _ask(dagster: str, query: str, variables: dict[str, str]) -> dict[str, Any]:
    body = json.dumps({"query": query, "variables": variables}).encode()
    request = urllib.request.Request(  # noqa: S310 - our own http address
        f"{dagster}/graphql", body, {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
            answer = json.load(response)
    except (OSError, ValueError) as error:
        raise ServiceUnavailable(f"Dagster does not answer at {dagster}: {error}") from error
    if answer.get("errors"):
        raise ServiceUnavailable(f"Dagster: {answer['errors'][0]['message']}"[:400])
    data: dict[str, Any] = answer["data"]
    return data
