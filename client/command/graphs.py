"""The verbs ``graph check`` and ``graph show``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from activities.nodes import REGISTRY
from client.command import options
from client.command.arguments import AsJson, examples
from client.command.output import complain, print_json, print_line
from client.mermaid import mermaid
from client.settings import settings
from client.worker import load_nodes
from seeding.counting import counted
from seeding.errors import InvalidGraph
from seeding.model import JsonObject, as_list
from workflows.graph.builtin_types import BUILTIN_TYPES, PLANNED
from workflows.graph.document import read_graph
from workflows.graph.model import Graph, NodeType
from workflows.graph.resolution import resolve
from workflows.linting import lint
from workflows.scheduler import make_plan

File = Annotated[Path, typer.Argument(metavar="FILE", help="A graph document, JSON or YAML.")]

verbs = typer.Typer(
    help="Check and show graph documents.",
    epilog=examples("fermata graph check temporal-dev/graphs/expense-review.yaml"),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def register(app: typer.Typer) -> None:
    """Add the verbs to the application."""
    app.add_typer(verbs, name="graph")


Strict = Annotated[bool, typer.Option("--strict", help="Let warnings count as problems do.")]


@verbs.command(epilog=examples("fermata graph check temporal-dev/graphs/expense-review.yaml"))
def check(file: File, strict: Strict = False, as_json: AsJson = False) -> None:
    """Print the problems of the graph in FILE, one a line, and warnings.

    A problem keeps the graph from running: exit 1. A warning, on stderr, begins with its code
    and says what runs and will hardly do what was meant; with --strict it is exit 1 as well.

    Types of nodes are known where FERMATA_NODES names the modules that have them; without it
    an unknown type is taken for one that some worker serves, and named.
    """
    report = _report(file)
    if as_json:
        print_json(report)
    else:
        for problem in report["problems"]:
            print_line(" ".join(str(problem).split()))
        for warning in report["warnings"]:
            complain(f"warning: {warning['code']}: {warning['message']}")
        if not report["problems"]:
            print_line(_verdict(report))
    if report["problems"]:
        complain(f"InvalidGraph: {file} has {counted(len(report['problems']), 'problem')}")
        raise typer.Exit(1)
    if strict and report["warnings"]:
        complain(f"{file} has {counted(len(report['warnings']), 'warning')}")
        raise typer.Exit(1)


@verbs.command(epilog=examples("fermata graph show temporal-dev/graphs/expense-review.yaml"))
def show(file: File, as_json: AsJson = False) -> None:
    """Print the graph in FILE as a Mermaid flowchart.

    Loops are frames that name what limits them, gates hexagons that say what they ask,
    branches diamonds. A dotted wire goes back into its loop, a thick one is a trigger, a ring
    ends a tool, a cross an error; a thick border is where the run begins.
    """
    graph = read_graph(options.graph_document(file))
    if as_json:
        print_json({"graph": graph.id, "mermaid": mermaid(graph)})
    else:
        print_line(mermaid(graph))


def _report(file: Path) -> JsonObject:
    nodes = settings().nodes
    load_nodes(nodes)
    try:
        graph = read_graph(options.graph_document(file))
        known = REGISTRY.types()
        assumed = {} if nodes else _assumed(graph, known)
        resolved = resolve(graph, {**assumed, **known})
        advice = lint(make_plan(resolved))
    except InvalidGraph as error:
        problems = as_list(error.details.get("problems")) or [error.message]
        return {"graph": None, "problems": problems, "warnings": [], "unknownTypes": []}
    return {
        "graph": resolved.name,
        "problems": [],
        "warnings": [found.shown() for found in advice],
        "unknownTypes": list(assumed),
    }


def _verdict(report: JsonObject) -> str:
    unknown = as_list(report["unknownTypes"])
    if not unknown:
        return f"{report['graph']} can run"
    named = ", ".join(str(name) for name in unknown)
    return f"{report['graph']} reads well; types not known here: {named}"


def _assumed(graph: Graph, loaded: Mapping[str, NodeType]) -> dict[str, NodeType]:
    """Return the types of a graph that are neither known here nor planned, as effects."""
    names = dict.fromkeys(node.type for node in graph.nodes)
    known = (*BUILTIN_TYPES, *PLANNED, *loaded)
    return {name: NodeType(name=name, kind="effect") for name in names if name not in known}
