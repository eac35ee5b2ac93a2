"""`demo`: the sample world through the whole system, told as it happens."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer
from rich.console import Console


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(demo)


def demo(
    batch: Annotated[bool, typer.Option(help="Also run the batch layer once.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Figures as JSON on standard output.")] = False,
) -> None:
    """Start everything, replay the sample world, and leave it running with its addresses printed."""
    from frontpage.contracts.topics import ARTICLES, ITEMS_DEAD, ITEMS_RAW, STORY_CHANGES
    from frontpage.errors import ConfigurationError
    from frontpage.settings import load
    from frontpage_cli.commands.system import print_addresses
    from frontpage_cli.system.demo import Demo, Narrator
    from frontpage_cli.system.doctor import examine, prepare

    settings = load()
    console = Console(stderr=True, highlight=False)
    prepare(settings, lambda line: console.print(f"  {line}"))
    wrong = [finding.detail for finding in examine(settings) if not finding.ok]
    if wrong:
        raise ConfigurationError("; ".join(wrong))
    with console.status("") as line:

        def show(text: str) -> None:
            if console.is_terminal:
                line.update(text)

        story = Demo(settings, Narrator(lambda text: console.print(f"  {text}"), show))
        figures = story.run(batch=batch)
    if as_json:
        typer.echo(json.dumps({**figures, "endpoints": story.row}, ensure_ascii=False))
    else:
        console.print(
            f"  {figures['seconds_to_page']:.0f} s from the start to the end of the burst;"
            f" {figures[ITEMS_RAW.name]} items seen, {figures[ARTICLES.name]} article versions,"
            f" {figures[STORY_CHANGES.name]} story changes,"
            f" {figures[ITEMS_DEAD.name]} dead letters"
        )
        print_addresses(story.row)
        typer.echo(f"stop it with: {sys.argv[0]} down")  # as it was called: the command may not be on the path
    if figures["breaking"] is None or figures.get("batch", "SUCCESS") != "SUCCESS":
        raise typer.Exit(1)
