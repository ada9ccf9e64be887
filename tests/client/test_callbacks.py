"""A program outside answers its ticket by a token that was made for it (contract 5)."""

import hashlib
import hmac

import pytest
from live_stage import SOON, Served

from client.callbacks import check_callback
from seeding.callbacks import callback_token
from seeding.errors import ActorNotAllowed, InvalidSettings
from seeding.model import JsonObject

EXTERNAL: JsonObject = {
    "graph": {
        "id": "external",
        "nodes": [{"id": "gate", "type": "gate", "config": {"kind": "external"}}],
        "edges": [],
    }
}


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("FERMATA_CALLBACK_SECRET_ENV", "MY_SECRET")
    monkeypatch.setenv("MY_SECRET", "s3cret")
    return "s3cret"


def test_the_token_is_what_the_reference_says() -> None:
    made = hmac.new(b"s3cret", b"fermata-callback-1\nR:gate:0:0", hashlib.sha256).hexdigest()
    assert callback_token("R:gate:0:0", "s3cret") == made


def test_another_ticket_another_secret_or_no_token_at_all_is_refused(secret: str) -> None:
    check_callback("R:gate:0:0", callback_token("R:gate:0:0", secret))
    for token in (
        callback_token("R:gate:0:1", secret),
        callback_token("R:gate:0:0", "another"),
        "",
        "ü",
    ):
        with pytest.raises(ActorNotAllowed, match="not that of ticket 'R:gate:0:0'"):
            check_callback("R:gate:0:0", token)


def test_without_a_secret_nothing_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FERMATA_CALLBACK_SECRET_ENV", raising=False)
    with pytest.raises(InvalidSettings, match="FERMATA_CALLBACK_SECRET_ENV"):
        check_callback("R:gate:0:0", "x")
    monkeypatch.setenv("FERMATA_CALLBACK_SECRET_ENV", "NOT_SET")
    with pytest.raises(InvalidSettings, match="names the variable 'NOT_SET', which is not set"):
        check_callback("R:gate:0:0", "x")


async def test_a_call_comes_back_with_the_token_that_was_shown(
    here: Served, thread: str, secret: str
) -> None:
    await here.threads.start(thread, EXTERNAL)
    await here.threads.wait(thread, within=SOON)
    [shown] = (await here.answer("tickets", thread, "--json")).document
    named = ("resume", thread, "--ticket", shown["ticket"], "--value", '{"paid": true}')

    wrong = await here.answer(*named, "--token", "0" * 64)
    right = await here.answer(*named, "--token", shown["callback"])

    assert wrong.refusal.startswith("ActorNotAllowed: the token is not that of ticket ")
    assert right.code == 0
    result = await here.threads.result(thread, within=SOON)
    assert result["results"]["gate"]["answer"] == {"paid": True}
    history = (await here.client.get_workflow_handle(f"thread/{thread}").fetch_history()).to_json()
    assert secret not in history
    assert shown["callback"] not in history
