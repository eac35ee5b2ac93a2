"""Writes the figures of the last simulated week into docs/scorecard.md.

python -m benchmarks.scorecard
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from benchmarks.harness import RESULTS

PAGE = Path(__file__).parents[1] / "docs" / "scorecard.md"
BEGIN, END = "<!-- figures -->", "<!-- /figures -->"
TIERS = {"busy": "top feeds", "main": "other main feeds", "tail": "sections"}


def render(figures: Mapping[str, float]) -> str:
    """The figures as Markdown tables."""
    lines = [
        "| | feeds | items | delay p50 | delay p90 | polls an hour | 304 | waste |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for tier, name in TIERS.items():
        of = {key.removeprefix(f"{tier}_"): value for key, value in figures.items() if key.startswith(f"{tier}_")}
        lines.append(
            f"| {name} | {of['feeds']:,.0f} | {of['items']:,.0f} | {of['delay_p50_s']:,.0f} s | "
            f"{of['delay_p90_s']:,.0f} s | {of['polls_an_hour']:.1f} | {of['not_modified']:.0%} | {of['waste']:.0%} |"
        )
    lines += [
        "",
        "| all feeds | |",
        "|---|--:|",
        f"| polls | {figures['polls']:,.0f} |",
        f"| answered 304 | {figures['not_modified_share']:.1%} |",
        f"| found nothing | {figures['waste_share']:.1%} |",
        f"| items that were never found | {figures['lost_share']:.2%} |",
        f"| the same, while servers refused us or asked for longer waits | {figures['lost_to_refusals_share']:.2%} |",
        f"| items of feeds with a hub that arrived by push | {figures['pushed_share']:.1%} |",
        f"| between polls of a boosted feed, p90 | {figures['boosted_gap_p90_s']:.0f} s |",
        f"| error of the audit's median delay of a feed, looking every 1 to 5 min | {figures['audit_off_s']:.0f} s |",
        f"| requests above a domain's budget | {figures['over_domain_budget']:.0f} |",
        f"| connections above a host's two | {figures['over_host_budget']:.0f} |",
        f"| requests within a Crawl-delay | {figures['under_crawl_delay']:.0f} |",
        f"| requests within a Retry-After | {figures['during_retry_after']:.0f} |",
        f"| forged deliveries believed | {figures['forged_taken']:.0f} |",
        f"| most requests in a second after a stop of two hours | {figures['after_stop_most_a_second']:.0f} |",
        "",
    ]
    return "\n".join(lines)


def page(text: str, figures: Mapping[str, float]) -> str:
    """The page with these figures."""
    head, rest = text.split(BEGIN + "\n", 1)
    return f"{head}{BEGIN}\n{render(figures)}{END}{rest.split(END, 1)[1]}"


def main() -> int:
    figures = json.loads((RESULTS / "week.json").read_text(encoding="utf-8"))["figures"]
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), figures), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
