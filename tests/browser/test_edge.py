"""The shipped edge configuration in a real nginx: one request upstream for many readers, and no credentials ever."""

from __future__ import annotations

import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from frontpage.adapters.services.ports import free_port

pytestmark = pytest.mark.browser
CONFIG = Path(__file__).resolve().parents[2] / "ops" / "edge" / "nginx.conf"


class Origin(BaseHTTPRequestHandler):
    """Answers slowly, remembers what it was asked, misbehaves on request."""

    asked: list[tuple[str, dict[str, str]]] = []
    fails = False
    lifetime = 60
    delay = 0.2
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        type(self).asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
        time.sleep(self.delay)
        body = f"answer {len(self.asked)}".encode()
        self.send_response(503 if self.fails else 200)
        private = self.path.startswith(("/me", "/v1/feed"))
        shared = f"public, s-maxage={self.lifetime}, stale-while-revalidate=60, stale-if-error=3600"
        self.send_header("Cache-Control", "private, no-store" if private else shared)
        self.send_header("Set-Cookie", "leak=1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *args):
        pass


@pytest.fixture
def edge(tmp_path):
    origin = type("OriginOfThisTest", (Origin,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), origin)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = free_port()
    text = CONFIG.read_text()
    for name, value in (
        ("@LISTEN@", f"127.0.0.1:{port}"), ("@ORIGIN@", f"127.0.0.1:{server.server_port}"), ("@STATE@", str(tmp_path))
    ):  # fmt: skip
        text = text.replace(name, value)
    config = tmp_path / "nginx.conf"
    # tests may run as root, and then workers would drop to a user who cannot enter the test's directory
    config.write_text(f"user root;\n{text}" if tmp_path.owner() == "root" else text)
    process = subprocess.Popen(["nginx", "-p", str(tmp_path), "-c", str(config)], stderr=subprocess.PIPE)
    base = f"http://127.0.0.1:{port}"
    for _ in range(100):
        try:
            httpx.get(base + "/readyz")
            break
        except httpx.HTTPError:
            assert process.poll() is None, process.stderr.read().decode()
            time.sleep(0.05)
    yield base, origin
    process.terminate()
    process.wait(10)
    server.shutdown()


def test_many_readers_of_a_page_are_one_request_upstream(edge):
    base, origin = edge
    with ThreadPoolExecutor(20) as pool:
        bodies = {r.text for r in pool.map(lambda _: httpx.get(base + "/v1/editions/en-US/top"), range(40))}
    assert bodies == {"answer 1"}
    assert len(origin.asked) == 1


def test_credentials_neither_reach_the_origin_nor_split_the_cache(edge):
    base, origin = edge
    plain = httpx.get(base + "/en-US/top")
    carried = httpx.get(base + "/en-US/top", headers={"Cookie": "a=b", "Authorization": "Bearer x"})
    assert carried.text == plain.text
    assert "set-cookie" not in plain.headers
    assert "set-cookie" not in carried.headers
    httpx.get(base + "/other", headers={"Cookie": "a=b", "Authorization": "Bearer x"})
    assert all("cookie" not in headers and "authorization" not in headers for _, headers in origin.asked)


def test_private_paths_pass_with_credentials_and_are_never_stored(edge):
    base, origin = edge
    for path in ("/v1/feed", "/me"):
        first = httpx.get(base + path, headers={"Authorization": "Bearer x", "Cookie": "frontpage_me=t"})
        second = httpx.get(base + path, headers={"Authorization": "Bearer y"})
        assert first.text != second.text
        assert first.headers["set-cookie"] == "leak=1"
    assert [headers.get("authorization") for _, headers in origin.asked] == ["Bearer x", "Bearer y"] * 2


def test_nobody_waits_for_a_refresh_and_a_broken_origin_is_not_seen(edge):
    base, origin = edge
    origin.lifetime, origin.delay = 1, 1.5
    assert httpx.get(base + "/en-US/top").text == "answer 1"
    time.sleep(1.3)
    started = time.perf_counter()
    assert httpx.get(base + "/en-US/top").text == "answer 1", "the stale copy, while a new one is fetched"
    assert time.perf_counter() - started < 1.0
    origin.delay = 0.0
    end = time.monotonic() + 10
    while httpx.get(base + "/en-US/top").text == "answer 1":
        assert time.monotonic() < end, "the new copy never came"
        time.sleep(0.1)
    origin.fails = True
    time.sleep(1.5)
    for _ in range(3):
        again = httpx.get(base + "/en-US/top")
        assert again.status_code == 200
        assert again.text.startswith("answer")
        time.sleep(0.3)
    assert httpx.get(base + "/never-seen").status_code == 503


def test_operations_addresses_and_writes_stay_inside(edge):
    base, _ = edge
    assert httpx.get(base + "/metrics").status_code == 404
    assert httpx.get(base + "/operations/merges").status_code == 404
    assert httpx.post(base + "/v1/top").status_code == 403
