"""The numbers of the polling schedule, each with its source. What they do: `schedule.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

HOUR: Final = 3600.0
DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Policy:
    """Seconds. Floors and ceiling are the editions document's; the rest is explained at each line.

    Sections and sitemaps of a site are the long tail: what they list is found through the site's main feed.
    """

    floor: float = 60.0
    long_tail_floor: float = 300.0
    ceiling: float = 3600.0
    #: of an authoritative publisher's main feed. "p90 < 2 min (top 5k feeds)" from publication to seen, at all hours: a
    #: wait of at most 110 s, a tenth late at most, is 121 s, and items fall anywhere in it. 45 polls a second of 350.
    busy_ceiling: float = 110.0
    #: of a publisher's main feed: what publication to page within 5 minutes (personalised-feed document, p95) leaves
    #: for discovery. 5 k feeds at the floor, 45 k here and 150 k at the hour are 350 polls a second, the whole load.
    main_ceiling: float = 200.0
    #: a feed without news for `silent_after` may wait this long
    silent_ceiling: float = 6 * HOUR
    silent_after: float = 14 * DAY
    #: nothing a server says or an error does makes us wait longer
    longest: float = DAY
    #: one plain GET after this long of 304 only (a day, less the longest interval)
    probe_after: float = 23 * HOUR
    #: so many items were expected while there was nothing but 304, for an hour at least: chance does that to one quiet
    #: stretch in 400 (e^-6), and a server that never says anything else would hide a busy feed's whole day
    suspicious_items: float = 6.0
    suspicious_after: float = HOUR
    #: so many 200s in a row with new validators and the same content: the validators are noise
    noise_limit: int = 5
    #: dropped validators get another chance after a week (servers are repaired)
    distrust_for: float = 7 * DAY
    #: so many times a feed publishes while it says to be fresh, for longer than our ceiling: then it is not believed
    contradictions: int = 2
    #: a request to poll often holds no longer ("every minute for an hour"; twice that for requests that overlap)
    longest_boost: float = 2 * HOUR
    #: "relax the backstop poll to 15 minutes" where a hub delivers (editions document)
    backstop: float = 900.0
    #: so many finds in a row that the hub had not announced: it sleeps, poll as if there were none
    unannounced_limit: int = 3
    #: news comes in bunches: the interval after new items is divided by this
    sooner: float = 3.0

    def bounds(self, *, authoritative: bool, main: bool) -> tuple[float, float]:
        """Floor and ceiling of a healthy feed's interval, seconds: "1 minute for authoritative sources, 5 for the long
        tail". Only a publisher's main feed has a ceiling below the hour: through it all of its news is found.
        """
        ceiling = self.ceiling
        if main:
            ceiling = min(ceiling, self.busy_ceiling if authoritative else self.main_ceiling)
        return (self.floor if authoritative or main else self.long_tail_floor), ceiling
