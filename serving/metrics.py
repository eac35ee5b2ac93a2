"""What serving counts (Prometheus, `/metrics`). One registry per app, so that tests can run several side by side."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


class Metrics:
    """Names are `frontpage_serving_*`; every degraded step of ARCHITECTURE.md has its counter."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        name = "frontpage_serving_"
        self.requests = Counter(
            name + "requests", "answers by kind of route and status", ["route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            name + "request_seconds", "time to answer", ["route"], registry=self.registry,
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 5),
        )  # fmt: skip
        self.page_loads = Counter(name + "page_loads", "page versions taken into memory", registry=self.registry)
        self.page_age = Gauge(
            name + "page_age_seconds", "age of the top page in memory", ["edition"], registry=self.registry
        )
        self.page_errors = Counter(
            name + "page_errors", "pages or pools that could not be loaded", ["why"], registry=self.registry
        )
        self.degraded = Counter(name + "degraded", "answers in a degraded form", ["why"], registry=self.registry)
        self.feed_cache = Counter(name + "feed_lists", "ranked lists", ["outcome"], registry=self.registry)
        self.feed_seconds = Histogram(
            name + "feed_rank_seconds", "time of one personal ranking", registry=self.registry,
            buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
        )  # fmt: skip
        self.late_sources = Counter(
            name + "late_candidate_sources", "candidate sources that missed their deadline", ["source"],
            registry=self.registry,
        )  # fmt: skip
        self.sent = Counter(name + "events_sent", "events acknowledged by Kafka", ["topic"], registry=self.registry)
        self.dropped = Counter(
            name + "events_dropped", "events lost to a full queue", ["topic"], registry=self.registry
        )
        self.queue = Gauge(name + "event_queue", "events waiting for Kafka", registry=self.registry)
        self.clicks = Counter(name + "clicks", "redirects", ["outcome"], registry=self.registry)
        self.push = Counter(name + "push", "notifications and what became of them", ["outcome"], registry=self.registry)
        self.limited = Counter(name + "rate_limited", "requests refused by the rate limit", registry=self.registry)
