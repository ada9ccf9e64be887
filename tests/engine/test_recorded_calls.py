"""SG-2, FD-45: what a node is given of the thread is in no record of its call."""

from tests.engine.graphs import graph
from tests.engine.stage import Stage
from tests.engine.test_values import node_inputs

SECRET = "said in confidence"


async def test_the_recorded_call_names_what_is_declared_and_holds_none_of_it(
    stage: Stage,
) -> None:
    document = graph(
        "seeing",
        {
            "sees": "sees_everything",
            "reads": "reads_messages",
            "blind": "blind",
            "length": "measure",
        },
        "sees.trigger -> reads.trigger",
        "reads.trigger -> blind.trigger",
    )
    handle = await stage.start(
        "recorded-calls",
        graph=document,
        message=SECRET,
        data={"note": SECRET},
        input={"sees": {"x": 1}, "length": {"text": "four"}},
    )
    results = (await handle.result())["results"]
    assert results["sees"]["internal"]["__data__"] == {"note": SECRET}
    assert results["reads"]["internal"]["__messages__"][0]["content"] == SECRET

    calls = await node_inputs(handle)
    assert sorted(calls) == ["blind", "length", "reads", "sees"]
    assert [calls[node].get("inputs", {}) for node in sorted(calls)] == [
        {},
        {"text": "four"},
        {},
        {"x": 1},
    ]
    assert calls["sees"]["declares"] == [
        "__state__",
        "__messages__",
        "__data__",
        "__iterator__",
    ]
    assert "declares" not in calls["blind"]
    assert SECRET not in str(calls)
