"""Requests that no reader of ours sends: each gets a plain refusal, costs little, and leaves nothing behind."""

import asyncio
import json
import socket
import threading
import time

import jwt
import pytest
import uvicorn
from fakes.serving_app import SECRET, bearer, make

from frontpage.contracts.views import PROFILE_EXPLICIT
from serving import middleware, readers, render
from serving.app import create_app
from serving.routes import operations

ANN = bearer("ann")
COOKIE = {"Cookie": "frontpage_me=" + ANN["Authorization"].removeprefix("Bearer ")}
FORM = {**COOKIE, "Content-Type": "application/x-www-form-urlencoded"}
TOP = "/v1/editions/en-US/top"


@pytest.mark.parametrize("edition", [["en-US"], {"a": 1}, 5, True, "\u0000", "en-us"])
def test_an_edition_of_any_other_shape_is_a_refusal(world, edition):
    assert world.client.patch("/v1/me", json={"edition": edition}, headers=ANN).status_code == 422
    body = {"edition": edition, "events": [{"kind": "read", "story_id": "x"}]}
    assert world.client.post("/v1/events", json=body, headers=ANN).status_code == 422


@pytest.mark.parametrize("word", ["%00", "a%0D%0Ab", "%1b%5B31m", "%7f"])
def test_control_characters_are_in_no_id_and_no_place(world, word):
    assert world.client.put(f"/v1/me/follows/topic/{word}", headers=ANN).status_code == 422
    for action, kind in [("follow", "topic"), ("hide", "story"), ("unhide", "topic"), ("hide", "source")]:
        answer = world.client.post(f"/me/{action}", content=f"kind={kind}&id=a{word}b", headers=FORM)
        assert answer.status_code == 422, (action, kind)
    assert world.client.post("/me/settings", content=f"place={word}", headers=FORM).status_code == 422
    seen = world.client.get("/v1/me", headers=ANN).json()
    assert (seen["follows"], seen["hidden"], seen["place"]) == ([], [], None)


def test_a_form_of_many_fields_or_from_an_unreadable_origin_is_refused(world):
    many = "&".join(f"a{i}=1" for i in range(50))
    assert world.client.post("/me/login", content=many, headers=FORM).status_code == 422
    for origin in ("http://[", "null", "https://evil.example"):
        assert world.client.post("/me/login", content="token=x", headers={**FORM, "Origin": origin}).status_code == 403


def test_a_signed_token_for_a_name_that_cannot_be_written_is_refused(world):
    token = jwt.encode({"sub": "\ud800", "exp": time.time() + 600}, SECRET, "HS256")
    assert world.client.get("/v1/me", headers={"Authorization": f"Bearer {token}"}).status_code == 401


def test_a_reader_cannot_follow_without_end_and_can_always_undo(world, monkeypatch):
    monkeypatch.setattr(readers, "REGISTERS", 5)
    answers = [world.client.put(f"/v1/me/follows/topic/t{i}", headers=ANN).status_code for i in range(7)]
    assert answers == [204] * 5 + [409] * 2
    assert world.client.delete("/v1/me/follows/topic/t0", headers=ANN).status_code == 204
    assert len(world.store.keys(PROFILE_EXPLICIT.key(reader="*"))) == 1


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/events"),
        ("PATCH", "/v1/me"),
        ("POST", "/v1/me/hide"),
        ("POST", "/me/login"),
        ("GET", "/en-US/top"),
    ],
)
def test_a_large_body_is_refused_before_it_is_read(world, method, path):
    headers = {**ANN, "Content-Length": "99999999999999999999"} if method != "GET" else {"Content-Length": "9" * 12}
    answer = world.client.request(method, path, content=b"{}", headers=headers)
    assert (answer.status_code, answer.json()["title"]) == (413, "too large")
    assert answer.headers["connection"] == "close"


def test_a_body_of_no_said_length_ends_at_the_limit(world):
    sent = 0

    def pour():
        nonlocal sent
        while sent < 50 << 20:
            sent += 1 << 16
            yield b" " * (1 << 16)

    answer = world.client.post("/v1/events", content=pour(), headers={**ANN, "Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["title"]) == (413, "too large")


def test_the_largest_legal_events_pass(world):
    event = {
        "kind": "impression", "story_id": "\U0001f4f0" * 128, "article_id": "\U0001f4f0" * 128, "publisher_id": "\U0001f4f0" * 128,
        "surface": "section", "impression_id": "\U0001f4f0" * 64, "rank": 10_000, "dwell_seconds": 3600,
    }  # fmt: skip
    body = json.dumps({"edition": "en-US", "events": [event] * 100})
    assert len(body) < middleware.BODY_LIMIT
    assert (
        world.client.post("/v1/events", content=body, headers={**ANN, "Content-Type": "application/json"}).status_code
        == 202
    )


def test_a_body_that_drips_is_given_up(world, monkeypatch):
    monkeypatch.setattr(middleware, "BODY_TIME", 0.3)

    async def never():
        await asyncio.sleep(30)

    async def ask():
        receive = middleware._bounded(never)
        await receive()

    with pytest.raises(Exception, match="did not arrive in time"):
        asyncio.run(ask())


def test_a_slash_at_the_end_leads_to_the_address_without_it_on_the_same_host(world):
    for path, location in [
        ("/en-US/top/", "/en-US/top"), ("/v1/top/?limit=5", "/v1/top?limit=5"),
        ("/%5Cevil.example/", "/%5Cevil.example"), ("/a%0D%0AX: y/", "/a%0D%0AX%3A%20y"),
    ]:  # fmt: skip
        answer = world.client.get(path, headers={"Host": "evil.example"})
        assert (answer.status_code, answer.headers["location"]) == (307, location)
    answer = world.client.get("http://testserver//evil.example/")
    assert (answer.status_code, answer.headers["location"]) == (307, "/evil.example")


def test_an_unforeseen_error_has_the_headers_of_every_answer_and_is_counted(world, monkeypatch):
    monkeypatch.setattr(operations, "generate_latest", lambda _: 1 / 0)
    answer = world.client.get("/metrics")
    assert answer.status_code == 500
    assert answer.json()["title"] == "internal error"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    found = world.serving.metrics.registry.get_sample_value(
        "frontpage_serving_requests_total", {"route": "page", "status": "500"}
    )
    assert found == 1


def test_a_client_that_leaves_in_the_middle_of_a_form_is_no_error(valkey, caplog):
    parts, _, _ = make(valkey)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = uvicorn.Server(uvicorn.Config(create_app(parts), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            with socket.create_connection(listener.getsockname(), 20) as client:
                client.sendall(b"POST /me/login HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\ntok")
            with socket.create_connection(listener.getsockname()) as client:
                client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                assert b"200 OK" in client.recv(1000)
        finally:
            server.should_exit = True
            thread.join(10)
    assert "failed" not in caplog.text


def test_what_xml_cannot_hold_is_left_out_of_feeds():
    assert render._text("a\ufffeb\uffffc\x0bd\ud800e \U0001f4f0 <\tf") == "abcde \U0001f4f0 &lt;\tf"
