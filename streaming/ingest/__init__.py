"""Discovery, fetching and enrichment: poller and enrich workers."""
