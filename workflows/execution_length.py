"""When a run goes on in a new execution: the history of the present one has grown long."""

from temporalio import workflow

SHORTEST = 20
"""Events that an execution adds, at the least, before the run continues as new."""


class ExecutionLength:
    """The length of the history of this execution, from where its run was opened or restored."""

    def __init__(self) -> None:
        self._at_start = 0

    def begun(self) -> None:
        """Note that all that is done before the run goes on has been done."""
        self._at_start = workflow.info().get_current_history_length()

    def is_over(self, most: int) -> bool:
        """Return whether the run is to continue as new.

        Args:
            most: Events past which it does so although the server does not suggest it.
        """
        info = workflow.info()
        length = info.get_current_history_length()
        # What it took to get here is no reason to go on: the next execution takes as long.
        grown = length - self._at_start >= SHORTEST
        return grown and (info.is_continue_as_new_suggested() or length >= most)
