"""Asking the server to cancel the execution that asks."""

from temporalio import activity

from workflows.wire import REQUEST_CANCEL


@activity.defn(name=REQUEST_CANCEL)
async def request_cancel() -> None:
    """Have the server record a cancel of this activity's own execution.

    A run cancelled by our door must close Canceled, and the server lets a run close so only
    when it knows of a cancel.
    """
    info = activity.info()
    handle = activity.client().get_workflow_handle(
        str(info.workflow_id), run_id=info.workflow_run_id
    )
    await handle.cancel()
