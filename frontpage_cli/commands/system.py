"""`up`, `down`, `status`, `doctor`, `token`: running, stopping and looking at the whole system."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

Parts = Annotated[list[str] | None, typer.Argument(help="Parts or groups; none means everything.")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on standard output, nothing else.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(up)
    app.command()(down)
    app.command()(status)
    app.command()(doctor)
    app.command()(token)


def up(parts: Parts = None) -> None:
    """Start the system, or some parts of it, and wait until they answer."""
    from frontpage.settings import load
    from frontpage_cli.system.launch import up as start

    console = Console(stderr=True)
    settings, names = load(), parts or []
    # The sample world's hosts only resolve where it plays: asked for by name, or in the directory of a demo.
    world = "world" in names or (settings.var / "demo").exists()
    row = start(settings, names, lambda line: console.print(f"  {line}", highlight=False), world=world)
    if not parts:
        print_addresses(row)


def down(parts: Parts = None) -> None:
    """Stop the system, or some parts of it; data stays."""
    from frontpage.settings import load
    from frontpage_cli.system.launch import down as stop

    console = Console(stderr=True)
    stop(load(), parts or [], lambda line: console.print(f"  {line}", highlight=False))


def status(
    as_json: AsJson = False,
    memory: Annotated[bool, typer.Option("--memory", help="Memory of all processes, summed PSS.")] = False,
) -> None:
    """Show each part; exit code 1 when one that should run does not answer."""
    from frontpage.settings import load
    from frontpage_cli.system import look

    settings = load()
    found = look.status(settings)
    if memory:
        found["memory"] = look.memory(settings)
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False))
    else:
        _print_status(found)
    if not found["running"] or any(part["problem"] for part in found["parts"]):
        raise typer.Exit(1)


def doctor(
    setup: Annotated[bool, typer.Option("--setup", help="Fetch the jars that are missing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Look for what would keep Frontpage from running, one line each; exit code 1 when something would."""
    from frontpage.settings import load
    from frontpage_cli.system.doctor import examine, prepare

    settings = load()
    console = Console(stderr=True)
    if setup:
        prepare(settings, lambda line: console.print(f"  {line}", highlight=False))
    findings = examine(settings)
    if as_json:
        rows = [{"check": f.check, "ok": f.ok, "detail": f.detail} for f in findings]
        typer.echo(json.dumps(rows, ensure_ascii=False))
    else:
        for finding in findings:
            typer.echo(f"{'ok     ' if finding.ok else 'PROBLEM'} {finding.check:9} {finding.detail}")
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


def token(
    user: Annotated[str, typer.Option("--user", help="The account to sign in as.")],
    hours: Annotated[float, typer.Option(min=0.0, max=8784.0, help="How long it is valid, a year at most.")] = 24.0,
    operator: Annotated[bool, typer.Option("--operator", help="One that opens the operations pages as well.")] = False,
) -> None:
    """Print a bearer token for the development profile."""
    from frontpage.settings import load
    from frontpage_cli.system.tokens import development_token

    typer.echo(development_token(load(), user, hours, operator))


def print_addresses(row: dict[str, str]) -> None:
    """Where to look now."""
    typer.echo(f"reader page  {row['page']}/")
    typer.echo(f"API docs     {row['page']}/docs")
    typer.echo(f"Dagster UI   {row['dagster']}/")


def _print_status(found: dict[str, Any]) -> None:
    table = Table(box=None, pad_edge=False)
    for column in ("part", "state", "pid", "since", "says"):
        table.add_column(column)
    for part in found["parts"]:
        says = part["problem"] or ", ".join(f"{k} {v}" for k, v in part["facts"].items() if not isinstance(v, list))
        state = "ready" if part["ready"] else part["state"]
        table.add_row(part["name"], state, str(part["pid"] or ""), part["since"] or "", says[:80])
    console = Console(highlight=False)
    console.print(table)
    for name, address in found["endpoints"].items():
        if "port" not in name:
            console.print(f"{name}: {address}")
    if "memory" in found:
        for row in found["memory"]["processes"]:
            console.print(f"{row['pss'] / (1 << 20):8.0f} MiB  {row['name']} ({row['pid']})")
        console.print(f"{found['memory']['total'] / (1 << 20):8.0f} MiB  all processes together (summed PSS)")
