"""DATA-8: a hidden output is checked, then left out at the source."""

from pathlib import Path

from sqlalchemy import make_url

from seeding.model import JsonObject
from tests.engine.stage import Handle, Stage, failure_of

SECRET = "tok-8c1f5d0a"

BEHIND_A_PORT: JsonObject = {
    "id": "hiding",
    "nodes": [
        {
            "id": "sign",
            "type": "returns",
            "config": {
                "outputs": {
                    "token": "set by the test",
                    "name": "ada",
                    "state_update": {"data": {"signed": True}},
                }
            },
            "hidden": ["token", "state_update"],
        },
        {"id": "use", "type": "noted"},
    ],
    "edges": ["sign.name -> use.name", "sign.token -> use.token"],
}


async def whole_history(handle: Handle) -> bytes:
    return b"".join(event.SerializeToString() for event in (await handle.fetch_history()).events)


async def test_a_hidden_output_of_a_type_is_in_no_history_log_result_or_state(
    stage: Stage,
) -> None:
    document: JsonObject = {
        "id": "hiding-type",
        "nodes": [{"id": "sign", "type": "signs_in"}, {"id": "use", "type": "noted"}],
        "edges": ["sign.name -> use.name", "sign.token -> use.token"],
    }
    handle = await stage.start("hidden-by-type", graph=document)
    result = await handle.result()

    assert result["results"] == {
        "sign": {"name": "ada"},
        "use": {"value": {"name": "ada"}},
    }
    secret = SECRET.encode()
    assert secret not in await whole_history(handle)
    stage.log.close()
    database = make_url(stage.log_url).database
    assert database is not None
    files = sorted(Path(database).parent.glob(f"{Path(database).name}*"))
    assert files
    assert not any(secret in file.read_bytes() for file in files)


async def test_an_author_hides_ports_of_one_node_and_control_outputs_count_all_the_same(
    stage: Stage,
) -> None:
    handle = await stage.start("hidden-by-node", graph=BEHIND_A_PORT)
    result = await handle.result()

    assert result["results"] == {"sign": {"name": "ada"}, "use": {"value": {"name": "ada"}}}
    state = await handle.query("state")
    assert state["data"] == {"signed": True}


async def test_a_hidden_value_that_is_no_json_fails_like_every_other(stage: Stage) -> None:  # ERR-6
    document: JsonObject = {
        "id": "hiding-no-json",
        "nodes": [{"id": "make", "type": "not_json", "hidden": ["a"]}],
        "edges": [],
    }
    failure = await failure_of(await stage.start("hidden-no-json", graph=document))
    assert failure.details[0]["results"] == {}
    assert "output a.b is set" in failure.message
