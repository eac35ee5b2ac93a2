"""Untrusted bytes to readings: feeds, pages, sitemaps, robots.txt and images. Pure functions: no network, no files.

Each reader takes bytes (never a name or an address that a library might open), has its own size limits, and either
returns a reading with a list of problems or raises `UnreadableInput` with a cause; nothing else escapes.
"""
