"""The `frontpage` command: wires and calls the other packages, decides nothing.

Each module of `frontpage_cli/commands` has `register(app)`, which adds its commands; this one finds and mounts them.
Command modules import heavy libraries inside their functions, so that `frontpage --help` stays fast.
Exit codes: 0 ok, 1 failed (one line on standard error says why), 2 usage.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys

import typer

import frontpage_cli.commands
from frontpage.errors import FrontpageError


def _build() -> typer.Typer:
    app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

    @app.callback()
    def frontpage() -> None:
        """Frontpage: news in, stories out."""

    for module in sorted(found.name for found in pkgutil.iter_modules(frontpage_cli.commands.__path__)):
        importlib.import_module(f"frontpage_cli.commands.{module}").register(app)
    return app


def app() -> None:
    """Entry point of the console script."""
    try:
        _build()()
    except (FrontpageError, OSError) as error:
        # OSError: a file or directory of the operator's that cannot be read or written; its text names it
        print(f"frontpage: {error}", file=sys.stderr)  # noqa: T201 - the command's own voice
        sys.exit(1)
