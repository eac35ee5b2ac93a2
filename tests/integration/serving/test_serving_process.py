"""The process itself, as the supervisor starts it: real Kafka and Valkey, a click that arrives, a clean end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import httpx
import jwt
import pytest
import redis
from fakes.pages import Day

from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.adapters.services.ports import free_port
from frontpage.contracts.reader_events import Click, ReaderEvent
from frontpage.contracts.views import HEARTBEAT
from frontpage.settings import Settings

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def address(valkey, kafka, tmp_path):
    Day(redis.Redis.from_url(valkey), time.time()).write()
    port = free_port()
    environment = os.environ | {
        "REDIS_URL": valkey, "KAFKA_BOOTSTRAP_SERVERS": kafka, "FRONTPAGE_SERVING_PORT": str(port),
        "FRONTPAGE_VAR": str(tmp_path), "FRONTPAGE_SERVING_RATE": "0",
    }  # fmt: skip
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "serving.main"], cwd=ROOT, env=environment, stderr=log)
    base = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + 60
        while True:
            try:
                if httpx.get(f"{base}/readyz").json()["pages"]:
                    break
            except (httpx.HTTPError, KeyError):
                pass
            assert process.poll() is None, (tmp_path / "log").read_text()
            assert time.monotonic() < end, (tmp_path / "log").read_text()
            time.sleep(0.1)
        yield base
        process.terminate()
        assert process.wait(20) == 0, (tmp_path / "log").read_text()
    finally:
        process.kill()


def test_clicks_and_impressions_reach_kafka_and_the_process_leaves_cleanly(address, kafka, valkey):
    bus = KafkaBus(kafka)
    starts = {topic: bus.end_offsets(topic) for topic in ("reader.clicks", "reader.events")}
    secret = Settings().jwt_secret.get_secret_value()
    claims = {"sub": "process-test", "exp": time.time() + 600}
    headers = {"Authorization": "Bearer " + jwt.encode(claims, secret, "HS256")}
    feed = httpx.get(f"{address}/v1/feed?limit=3", headers=headers).json()
    assert feed["label"] == "For you"
    link = feed["items"][1]["top_article"]["click_url"]
    started = time.perf_counter()
    answer = httpx.get(address + link)
    assert answer.status_code == 302
    assert time.perf_counter() - started < 1.0
    clicks = _read(bus, "reader.clicks", starts["reader.clicks"], 1)
    events = _read(bus, "reader.events", starts["reader.events"], 3)
    click = Click.decode(clicks[0])
    impressions = [ReaderEvent.decode(value) for value in events]
    assert click.impression_id in {event.impression_id for event in impressions}
    assert click.story_id == feed["items"][1]["story_id"]
    end = time.monotonic() + 10
    while "pages" not in (beat := json.loads(redis.Redis.from_url(valkey).get(HEARTBEAT.key(process="serving")))):
        assert time.monotonic() < end, beat
        time.sleep(0.2)
    assert beat["pages"] > 0


def _read(bus, topic, start, count):
    end = time.monotonic() + 20
    while time.monotonic() < end:
        ends = bus.end_offsets(topic)
        values = [r.value for p, at in ends.items() for r in bus.read(topic, p, start.get(p, 0), at)]
        if len(values) >= count:
            return values
        time.sleep(0.1)
    raise AssertionError(f"only {len(values)} of {count} records on {topic}")


def _frontpage(arguments, valkey, kafka, tmp_path):
    environment = os.environ | {"REDIS_URL": valkey, "KAFKA_BOOTSTRAP_SERVERS": kafka, "FRONTPAGE_VAR": str(tmp_path)}
    command = [sys.executable, "-c", "from frontpage_cli.main import app; app()", "reader", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=90, check=False)


def test_an_operator_exports_pauses_and_deletes_a_reader(valkey, kafka, tmp_path):
    bus = KafkaBus(kafka)
    start = bus.end_offsets("reader.events")
    paused = _frontpage(["pause", "eve"], valkey, kafka, tmp_path)
    assert paused.returncode == 0, paused.stderr
    exported = json.loads(_frontpage(["export", "eve"], valkey, kafka, tmp_path).stdout)
    assert exported["explicit"] == {"set:paused": True}
    assert _frontpage(["delete", "eve", "--yes"], valkey, kafka, tmp_path).returncode == 0
    assert json.loads(_frontpage(["export", "eve"], valkey, kafka, tmp_path).stdout)["explicit"] == {}
    kinds = [ReaderEvent.decode(value).kind for value in _read(bus, "reader.events", start, 2)]
    assert sorted(kinds) == ["delete", "pause"]
