"""Jars: what counts as present, and that a wrong Java gets one clear line."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from frontpage.adapters.services import jars
from frontpage.errors import ConfigurationError


@pytest.mark.parametrize(
    ("told", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('openjdk version "22-ea" 2024-03-19', 22),
        ('java version "1.8.0_292"', 8),
        ("no such thing", None),
        ("", None),
    ],
)
def test_reads_what_java_says_of_itself(told: str, major: int | None) -> None:
    assert jars.java_version(told) == major


def fake_java(directory: Path, told: str) -> None:
    program = directory / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{told}' >&2\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def test_a_wrong_java_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, 'openjdk version "11.0.2"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"is Java 11, Frontpage needs 17 or 21: install it with") as error:
        jars.java()
    assert "\n" not in str(error.value)


def test_a_missing_java_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"^Java 17 or 21 is missing: install it with"):
        jars.java()


def test_a_java_of_the_right_version_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, 'openjdk version "21.0.1"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert jars.java() == str(tmp_path / "bin" / "java")


def test_an_empty_cache_misses_every_file(tmp_path: Path) -> None:
    for jar_set in jars.ALL:
        assert len(jars.missing(jar_set, tmp_path)) >= 10


def test_a_damaged_or_cut_file_does_not_count(jar_cache: Path, tmp_path: Path) -> None:
    names = [path.name for path in jars.spark_jars(jar_cache)]
    copy = tmp_path / jars.SPARK.name
    copy.mkdir()
    for name in names:
        (copy / name).write_bytes((jar_cache / jars.SPARK.name / name).read_bytes())
    assert jars.missing(jars.SPARK, tmp_path, thorough=True) == []
    cut, damaged = copy / names[0], copy / names[1]
    cut.write_bytes(cut.read_bytes()[:-1])
    flipped = bytearray(damaged.read_bytes())
    flipped[100] ^= 1
    damaged.write_bytes(bytes(flipped))
    assert jars.missing(jars.SPARK, tmp_path) == [names[0]]
    assert jars.missing(jars.SPARK, tmp_path, thorough=True) == names[:2]


def test_nothing_that_spark_ships_is_added_to_it(jar_cache: Path) -> None:
    import pyspark

    def artifact(path: Path) -> str:
        return path.stem.rpartition("-")[0]

    shipped = {artifact(path) for path in (Path(pyspark.__file__).parent / "jars").glob("*.jar")}
    assert {artifact(path) for path in jars.spark_jars(jar_cache)} & shipped == set()
