"""A thread's checkpoints as a tree: branches where they leave the ones they stand on."""

from collections.abc import Sequence

from rich.text import Text
from rich.tree import Tree

from client.command.output import TABLE_WIDTH, console, print_line, printable
from seeding.model import JsonObject


def print_checkpoints(checkpoints: Sequence[JsonObject]) -> None:
    """Print checkpoints, oldest first, each branch below the checkpoint it stands on."""
    if not checkpoints:
        print_line("no checkpoints")
        return
    trees = checkpoint_trees(checkpoints)
    # Each on one line, however long, so that an id can be copied.
    wide = console(TABLE_WIDTH)
    for tree in trees:
        wide.print(tree)


def print_stands_on(branch: str, point: str) -> None:
    """Print the branch of a thread that was forked and has no checkpoint of its own yet."""
    print_line(f"{_branch_line(branch, point)}, without a checkpoint of its own")


def checkpoint_trees(checkpoints: Sequence[JsonObject]) -> list[Tree]:
    """Return one tree for each branch that stands on no other checkpoint of the list.

    The checkpoints of a branch are siblings, so that a long thread is no deep tree.

    Args:
        checkpoints: Rows as ``fermata checkpoints --json`` lists them, oldest first.
    """
    roots: list[Tree] = []
    branches: dict[str, Tree] = {}
    known: dict[str, Tree] = {}
    for row in checkpoints:
        branch, parent = row["branch"], row["parent"]
        if branch not in branches:
            if parent in known:
                branches[branch] = known[parent].add(_line(f"branch {branch}"))
            else:
                # Its parent is another thread's, or was pruned, or there is none.
                branches[branch] = Tree(_line(_branch_line(branch, parent)))
                roots.append(branches[branch])
        known[row["id"]] = branches[branch].add(_line(_described(row)))
    return roots


def _branch_line(branch: str, parent: str | None) -> str:
    return f"branch {branch} on {parent}" if parent else f"branch {branch}"


def _described(row: JsonObject) -> str:
    said = (row["id"], row["name"] or row["kind"], row["nodeId"], row["createdAt"])
    return "  ".join(str(part) for part in said if part is not None)


def _line(text: str) -> Text:
    return Text(printable(text), no_wrap=True)
