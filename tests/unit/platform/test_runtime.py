"""What a process starts with: where made-up hosts resolve."""

from __future__ import annotations

import json
from pathlib import Path

from frontpage.runtime import resolver
from frontpage.settings import Settings


def test_made_up_hosts_resolve_in_a_demo_and_nowhere_else(tmp_path: Path) -> None:
    settings = Settings(var=tmp_path)
    assert resolver(settings) is None, "nothing runs"
    (tmp_path / "endpoints.json").write_text(json.dumps({"world_port": "4321"}), encoding="utf-8")
    assert resolver(settings) is None, "a system that is no demo has a port for the world, too"
    (tmp_path / "demo").write_text("", encoding="utf-8")
    assert resolver(settings) == "127.0.0.1:4321"
    assert resolver(settings.model_copy(update={"profile": "production"})) is None
    assert resolver(Settings(var=tmp_path, resolver="127.0.0.1:9")) == "127.0.0.1:9", "as set"
