"""State that no longer fits is an error with a name; nothing is guessed or written (AW-62).

What a thread accumulated is any JSON and always fits; what can fail to is a run's position. The
start says so and is tried again, so that a worker of a version that reads it can go on.
"""

import pytest

from seeding.commits import Disposition, StateCommand, ThreadCommit, operation
from seeding.model import Json
from tests.engine.gone import Gone, gone_while_paused, terminated
from tests.engine.stage import Stage
from tests.engine.test_log_away import last_failure

CELLS: list[tuple[str, Json]] = [("node/gate", "waiting"), ("node/gate", {"occurrences": "two"})]


def _commit_cell(stage: Stage, thread: str, gone: Gone, key: str, value: Json) -> None:
    """Commit a cell of the run in another shape than any version of the engine has."""
    run = stage.log.run(gone.run_id)
    assert run is not None
    cell = StateCommand(scope="run", cell="position", key=key, value=value)
    references = tuple(ticket.body.reference for ticket in run.open_tickets)
    commit = ThreadCommit(
        thread_id=thread,
        run_id=gone.run_id,
        disposition=Disposition(kind="Awaiting", tickets=references),
        state=(cell,),
    )
    made = operation(
        commit,
        ordinal=run.last_ordinal + 1,
        owner_epoch=run.owner_epoch,
        expected_thread_version=run.thread_version,
    )
    assert stage.log.append([made]).refusal is None


@pytest.mark.parametrize(("key", "value"), CELLS)
async def test_aw_62_a_run_whose_position_no_longer_fits_is_not_gone_on_with(
    stage: Stage, key: str, value: Json
) -> None:
    thread = f"undecodable-{CELLS.index((key, value))}"
    gone = await gone_while_paused(stage, thread)
    _commit_cell(stage, thread, gone, key, value)
    before = stage.log.commits(thread)

    again = await stage.start(thread, {"graph": "expense-review"})
    failure = await last_failure(again)

    assert failure.application_failure_info.type == "StateDecode"
    assert f"'{key}'" in failure.message
    await terminated(again)
    assert stage.log.commits(thread) == before
    assert stage.log.verify(thread) == []
