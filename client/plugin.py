"""The one object that makes a Temporal worker a Fermata worker."""

from temporalio.plugin import SimplePlugin
from temporalio.worker import WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from activities.cancel import request_cancel
from activities.commit import CommitActivities
from activities.queueing import QueueActivities
from activities.resources import Resources
from activities.run_node import NodeActivities
from activities.seed import SeedActivities
from client.failures import DATA_CONVERTER
from workflows.run import Run
from workflows.turn_queue import TurnQueue

PASSED_THROUGH = (
    "seeding",  # pure models and rules; imported once, not once a run
    "workflows",  # pure but for the workflow itself, which is written for the sandbox
    "jmespath",  # decides conditions; pure
    "jsonschema",  # validates answers; pure, and slow to import again for every run
    "jsonschema_specifications",
    "referencing",
    "rpds",
    "attrs",
    "attr",
)
"""Modules the sandbox takes from the worker instead of importing them again for every run."""


def fermata_plugin(resources: Resources) -> SimplePlugin:
    """Return the plugin that serves runs with ``resources``; give it to client or worker."""
    commits = CommitActivities(resources)
    seeds = SeedActivities(resources)
    nodes = NodeActivities(resources)
    queue = QueueActivities(resources)
    return SimplePlugin(
        "fermata",
        data_converter=DATA_CONVERTER,
        workflows=[Run, TurnQueue],
        activities=[
            commits.commit,
            commits.open_run,
            commits.end_run,
            commits.forget_run,
            seeds.seed_run,
            nodes.run_node,
            queue.queue_turn,
            queue.drain_queue,
            queue.wake_queue,
            request_cancel,
        ],
        workflow_runner=sandboxed,
    )


def sandboxed(runner: WorkflowRunner | None) -> WorkflowRunner:
    """Return the sandboxed runner with this project's modules passed through."""
    restrictions = SandboxRestrictions.default
    if isinstance(runner, SandboxedWorkflowRunner):
        restrictions = runner.restrictions
    return SandboxedWorkflowRunner(
        restrictions=restrictions.with_passthrough_modules(*PASSED_THROUGH)
    )
