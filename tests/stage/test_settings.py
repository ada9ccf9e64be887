"""What servers are started with, and that a server takes it."""

import pytest
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.testing import WorkflowEnvironment

from seeding.errors import ServerUnreachable
from settings import SEARCH_ATTRIBUTES, server_settings, temporal_binary


def pairs(arguments: list[str]) -> list[tuple[str, str]]:
    return list(zip(arguments[::2], arguments[1::2], strict=True))


def test_the_dev_server_answers_steps_and_short_timers_at_once() -> None:
    assert [value for flag, value in pairs(server_settings()) if flag.startswith("--dynamic")] == [
        "history.transferProcessorMaxPollRPS=1000",
        "history.timerProcessorMaxPollRPS=1000",
        'history.timerProcessorMaxTimeShift="10ms"',
    ]


def test_the_dev_server_keeps_its_file_at_memory_speed() -> None:
    assert [value for flag, value in pairs(server_settings()) if flag == "--sqlite-pragma"] == [
        "journal_mode=wal",
        "synchronous=normal",
    ]


def test_the_dev_server_knows_every_search_attribute_of_a_run() -> None:
    assert [value for flag, value in pairs(server_settings()) if flag == "--search-attribute"] == [
        "ThreadId=Keyword",
        "RunStatus=Keyword",
        "GraphId=Keyword",
        "CurrentNode=Keyword",
        "OpenTickets=KeywordList",
        "NextDeadline=Datetime",
    ]


def test_only_tests_let_a_young_run_continue_as_new_and_a_closed_one_go_at_once() -> None:
    added = set(pairs(server_settings(for_tests=True))) - set(pairs(server_settings()))

    assert added == {
        ("--dynamic-config-value", 'history.workflowIdReuseMinimalInterval="0s"'),
        ("--dynamic-config-value", 'history.transferProcessorUpdateAckInterval="500ms"'),
    }


def test_the_temporal_command_is_the_installed_one() -> None:
    assert temporal_binary().is_file()


def test_without_a_temporal_command_the_message_says_what_to_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(ServerUnreachable, match="run 'make setup'"):
        temporal_binary()


async def test_the_test_server_has_the_search_attributes_registered(
    temporal: WorkflowEnvironment,
) -> None:
    listed = await temporal.client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace="default")
    )

    registered = {
        name: IndexedValueType.Name(listed.custom_attributes[name]) for name in SEARCH_ATTRIBUTES
    }
    assert registered == {
        "ThreadId": "INDEXED_VALUE_TYPE_KEYWORD",
        "RunStatus": "INDEXED_VALUE_TYPE_KEYWORD",
        "GraphId": "INDEXED_VALUE_TYPE_KEYWORD",
        "CurrentNode": "INDEXED_VALUE_TYPE_KEYWORD",
        "OpenTickets": "INDEXED_VALUE_TYPE_KEYWORD_LIST",
        "NextDeadline": "INDEXED_VALUE_TYPE_DATETIME",
    }
