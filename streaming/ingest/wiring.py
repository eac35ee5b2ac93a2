"""Makes the fetch tier from a runtime: the one place in which poller and enrich get the same rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontpage.adapters.fetch import FetchTier
from frontpage.adapters.fetch_addresses import Gate, ResolverMap
from frontpage.adapters.fetch_budget import RedisBudget
from frontpage.runtime import resolver

if TYPE_CHECKING:
    from frontpage.runtime import Runtime


def fetch_tier(runtime: Runtime) -> FetchTier:
    """Call inside a running event loop. The resolver map applies only where the settings allow it (development)."""
    settings = runtime.settings
    made_up = resolver(settings)
    return FetchTier(
        Gate(ResolverMap.parse(made_up) if made_up else None),
        RedisBudget(runtime.redis, runtime.clock),
        runtime.clock,
        store=runtime.redis,
        contact=settings.operator_contact,
        timeout=settings.fetch_timeout_real,
    )
