"""What the Temporal UI shows of a run, brought up to date after each commit."""

from temporalio import workflow

from workflows.held import Held
from workflows.scheduler import Plan
from workflows.search_attributes import standing, updates
from workflows.showing import current_details


class Display:
    """Shows a run as it stands; search attributes change only when what they say does."""

    def __init__(self) -> None:
        self._shown: tuple[object, ...] = ()

    def show(self, plan: Plan, held: Held, search_attributes: tuple[str, ...] | None) -> None:
        """Put into the Temporal UI what the run waits for or does, now that it is committed.

        Args:
            plan: The plan of the pinned graph.
            held: What is held.
            search_attributes: Names of those the server has; None before that is known.
        """
        workflow.set_current_details(current_details(held, plan))
        now = standing(held)
        if search_attributes is not None and now != self._shown:
            self._shown = now
            changes = updates(held, search_attributes)
            if changes:
                # The SDK leaves a type of this function open.
                workflow.upsert_search_attributes(  # pyright: ignore[reportUnknownMemberType]
                    changes
                )
