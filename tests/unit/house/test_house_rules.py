"""The house keeps its own rules: README is complete, modules are small, nothing private slips in."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ByteSize, TypeAdapter

from frontpage.contracts import topics, views
from frontpage.settings import Settings
from serving.problem_kinds import KINDS

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PACKAGES = ("frontpage", "frontpage_cli", "streaming", "batch", "assets", "dagster_project", "serving", "data_samples")


def modules() -> list[Path]:
    return [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]


def environment_name(field: str) -> str:
    alias = Settings.model_fields[field].validation_alias
    return str(alias.choices[0]) if alias is not None else f"FRONTPAGE_{field.upper()}"  # type: ignore[union-attr]


@pytest.mark.parametrize("field", sorted(Settings.model_fields))
def test_every_setting_is_in_the_readme(field: str) -> None:
    assert f"`{environment_name(field)}`" in README


@pytest.mark.parametrize("field", sorted(Settings.model_fields))
def test_the_readme_gives_the_default_of_every_number_and_word(field: str) -> None:
    default = Settings.model_fields[field].default
    told = re.search(rf"^\| `{environment_name(field)}` \| ([^|]*) \|", README, re.MULTILINE)
    assert told is not None
    if isinstance(default, ByteSize):
        assert TypeAdapter(ByteSize).validate_python(told[1]) == default
    elif isinstance(default, int | float):
        assert float(told[1].removesuffix(" (free)")) == default
    elif isinstance(default, str) and default and "://" not in default:
        assert told[1] == default


def test_readme_names_no_setting_that_does_not_exist() -> None:
    known = {environment_name(field) for field in Settings.model_fields}
    outside = {"FRONTPAGE_DATASETS", "FRONTPAGE_CASES"}
    assert set(re.findall(r"`(FRONTPAGE_[A-Z_]+)`", README)) - outside <= known


def test_every_path_the_readme_sends_you_to_exists() -> None:
    paths = re.findall(
        r"`((?:frontpage|streaming|batch|assets|serving|dagster_project|data_samples|ops|docs)[\w/]*(?:\.\w+|/))`",
        README,
    )
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_kind_of_problem_is_described() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "serving").rglob("*.py"))
    raised = set(re.findall(r'ProblemError\(\s*\d{3},\s*"([a-z-]+)"', source))
    assert len(raised) > 15
    assert sorted(raised - set(KINDS)) == []


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_are_small_and_say_what_they_are_for(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith(('"""', "# ruff: noqa")), "a module docstring says what it is for"
    assert text.count("\n") <= 400, "past 400 lines, split it"


def test_packages_are_imported_from_this_checkout(tmp_path: Path) -> None:
    """`streaming` is also the name of unrelated distributions: from any folder, ours must win."""
    code = ";".join(f"import {name}; print({name}.__file__)" for name in PACKAGES)
    out = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert [Path(line).parent.parent for line in out.split()] == [ROOT] * len(PACKAGES)


def test_names_of_topics_and_keys_are_unique() -> None:
    names = [topic.name for topic in topics.ALL]
    patterns = [view.pattern for view in vars(views).values() if isinstance(view, views.View)]
    assert len(set(names)) == len(names)
    assert len(set(patterns)) == len(patterns)


def test_requirements_have_hashes_and_no_index() -> None:
    for name in ("requirements.txt", "requirements-bootstrap.txt"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "--hash=sha256:" in text
        assert not re.search(r"^(--|-i|-f|https?:)", text, flags=re.MULTILINE)
