"""Parts of generated graphs: each takes the end it starts from and returns the one it leaves by."""

from collections.abc import Callable

from tests.model.graph_builder import Builder
from tests.model.graph_scripts import PATIENT, ROUTER, TASK

Block = Callable[[Builder, str, int], str]


def task(builder: Builder, source: str, depth: int) -> str:
    """A task, now and then with a second wire from somewhere before it."""
    node = builder.effect(lists=builder.chance.random() < 0.4)
    builder.wire(source, f"{node}.in")
    if builder.chance.random() < 0.2 and len(builder.nodes) > 2:
        other = builder.output(builder.chance.choice(builder.nodes[:-1])["id"])
        if other is not None:
            builder.wire(other, f"{node}.{builder.chance.choice(('in', 'more'))}")
    if builder.chance.random() < 0.1:
        builder.inputs[node] = {"in": "given", "own": [1, None]}
    return f"{node}.out"


def triggered(builder: Builder, source: str, depth: int) -> str:
    """A task that a trigger starts, whatever its data port holds."""
    before, node = builder.effect(), builder.effect()
    builder.wire(source, f"{before}.in")
    builder.wire(f"{before}.trigger", f"{node}.trigger")
    if builder.chance.random() < 0.5:
        builder.wire(source, f"{node}.in")
    return f"{node}.out"


def fork(builder: Builder, source: str, depth: int) -> str:
    """Two ways at once, and what waits for both."""
    left, right = blocks(builder, source, depth + 1), blocks(builder, source, depth + 1)
    joined = builder.node("merge") if builder.chance.random() < 0.4 else builder.effect()
    builder.wire(left, f"{joined}.left")
    builder.wire(right, f"{joined}.right")
    return f"{joined}.{'merged' if builder.kind(joined) == 'merge' else 'out'}"


def choice(builder: Builder, source: str, depth: int) -> str:
    """Two ways of which one is taken, by a router, a branch or a switch."""
    left, right = _deciding(builder, source)
    one, other = blocks(builder, left, depth + 1), blocks(builder, right, depth + 1)
    joined = builder.effect()
    builder.wire(one, f"{joined}.in")
    # Now and then by two ports, of which one stays empty.
    apart = builder.chance.random() < 0.12
    builder.wire(other, f"{joined}.{'else' if apart else 'in'}")
    return f"{joined}.out"


def for_each(builder: Builder, source: str, depth: int) -> str:
    """A loop over items that stand beside it, in the request, or come in by the wire."""
    kind = builder.chance.choice(("for_each", "for_each", "foreach"))
    given = builder.chance.random()
    items = source
    if given < 0.93:
        value = builder.chance.choice(
            (["a", "b"], [1, None, [2]], ["x", "y", "z"], [], "single", [1, 2])
        )
        config = {} if given < 0.2 else {"value": value}
        node = builder.node("value", **config)
        if given < 0.2:
            builder.inputs[node] = {"value": value}
        items = f"{node}.value"
        builder.wire(source, f"{node}.trigger")
    head = builder.node(kind)
    builder.wire(items, f"{head}.items")
    item = "current_item" if kind == "for_each" else "item"
    body = blocks(builder, f"{head}.{item}", depth + 1)
    back = builder.chance.random()
    if back < 0.7:
        builder.wire(body, f"{head}.loop_back")
    elif back < 0.85:
        builder.wire(body, f"{head}.item_result", kind="loopback")
    else:
        builder.wire(f"{body.rpartition('.')[0]}.trigger", f"{head}.loop_back")
    leaves = builder.chance.choice(("collected_results", "collected_results", "completed"))
    return f"{head}.{leaves}"


def repeat(builder: Builder, source: str, depth: int) -> str:
    """A loop that its last node goes round or leaves."""
    head = builder.effect(max_rounds=builder.chance.choice((None, None, 2, 3)))
    builder.wire(source, f"{head}.in")
    body = blocks(builder, f"{head}.out", depth + 1)
    tail = builder.effect(ROUTER, rounds=builder.chance.choice((1, 1, 2, 3)))
    builder.wire(body, f"{tail}.in")
    port = builder.chance.choice(("loop_back", "loop_back", "again"))
    kind = {} if port == "loop_back" else {"kind": "loopback"}
    builder.wire(f"{tail}.again", f"{head}.{port}", **kind)
    return f"{tail}.done"


def always(builder: Builder, source: str, depth: int) -> str:
    """A loop that always goes round again, until its rounds or the run's iterations are spent."""
    head = builder.effect(max_rounds=builder.chance.choice((2, 3, 3, None)))
    builder.wire(source, f"{head}.in")
    tail = builder.effect()
    builder.wire(f"{head}.out", f"{tail}.in")
    builder.wire(f"{tail}.{builder.chance.choice(('trigger', 'out'))}", f"{head}.loop_back")
    return f"{tail}.out"


def raced(builder: Builder, source: str, depth: int) -> str:
    """A loop with two tails, of which a fast one may begin the next round while others run."""
    head = builder.effect(max_rounds=builder.chance.choice((2, 3)))
    builder.wire(source, f"{head}.in")
    slow = for_each if builder.chance.random() < 0.5 else blocks
    body = slow(builder, f"{head}.out", depth + 1)
    fast, last = builder.effect(), builder.effect()
    builder.wire(f"{head}.out", f"{fast}.in")
    builder.wire(body, f"{last}.in")
    builder.wire(f"{fast}.trigger", f"{head}.loop_back")
    builder.wire(f"{last}.out", f"{head}.loop_back")
    if builder.chance.random() < 0.5:
        builder.wire(f"{fast}.out", f"{last}.other")
    return f"{last}.out"


def caught(builder: Builder, source: str, depth: int) -> str:
    """A node that may fail, and what is done then."""
    stumbles = [builder.chance.randrange(4) for _ in range(3)]
    fails = builder.chance.choice((30, 60, 100))
    risky = builder.effect(PATIENT, fails=fails, stumbles=stumbles)
    handler, after = builder.effect(), builder.effect()
    builder.wire(source, f"{risky}.in")
    builder.wire(f"{risky}.error", f"{handler}.in")
    builder.wire(f"{risky}.out", f"{after}.in")
    builder.wire(f"{handler}.out", f"{after}.in")
    return f"{after}.out"


def risky(builder: Builder, source: str, depth: int) -> str:
    """A node that may fail or crash with nobody to handle it, seldom."""
    chance = builder.chance
    node = builder.effect(
        PATIENT,
        fails=chance.choice((0, 0, 3, 10)),
        crashes=chance.choice((0, 0, 10, 20)),
        stumbles=[chance.choice((0, 0, 1, 2)), chance.choice((0, 0, 1)), 0],
        retryable=chance.choice((True, True, True, True, True, 1, "true")),
        updates=["data", *(["bad"] if chance.random() < 0.15 else [])],
    )
    builder.wire(source, f"{node}.in")
    return f"{node}.out"


def gate(builder: Builder, source: str, depth: int) -> str:
    """A gate, its two branches joined or only its answer used."""
    node = builder.node("gate", message="Go on?")
    builder.wire(source, f"{node}.in")
    if builder.chance.random() < 0.5:
        return f"{node}.answer"
    yes, after = builder.effect(), builder.effect()
    builder.wire(f"{node}.approve", f"{yes}.in")
    builder.wire(f"{yes}.out", f"{after}.in")
    builder.wire(f"{node}.deny", f"{after}.in")
    return f"{after}.out"


def asking(builder: Builder, source: str, depth: int) -> str:
    """An effect that asks, once or twice."""
    node = builder.effect(asks=builder.chance.choice((1, 1, 2)))
    builder.wire(source, f"{node}.in")
    return f"{node}.out"


def told(builder: Builder, source: str, depth: int) -> str:
    """Something said on the thread, or kept there, on the way."""
    if builder.chance.random() < 0.5:
        plain = source.endswith(".out") and builder.chance.random() < 0.6
        node = builder.node("reply", message="so: {in}" if plain else "so it is")
        port = "message"
    else:
        update = {"data": {"kept": "{in}"}, "metadata": {"by": "set"}}
        node, port = builder.node("set", state_update=update), "value"
    builder.wire(source, f"{node}.in")
    return f"{node}.{port}"


def delayed(builder: Builder, source: str, depth: int) -> str:
    """A delay that hands on what it gets."""
    node = builder.node("delay", duration=0.02)
    builder.wire(source, f"{node}.in")
    return f"{node}.in"


def stopping(builder: Builder, source: str, depth: int) -> str:
    """A way that ends the run, beside one that goes on."""
    router = builder.effect(ROUTER, plan=_plan(builder, "right", "left"))
    stop, after = builder.node("stop"), builder.effect()
    builder.wire(source, f"{router}.in")
    builder.wire(f"{router}.left", f"{stop}.in")
    builder.wire(f"{router}.right", f"{after}.in")
    return f"{after}.out"


def planned(builder: Builder, source: str, depth: int) -> str:
    """A loop whose planner may leave out one of the two that what follows waits for (SG-20)."""
    head = builder.effect(max_rounds=builder.chance.choice((2, 3)))
    planner = builder.effect(ROUTER, plan=[["left", "right"], *_plan(builder, "right", "left")])
    builder.wire(source, f"{head}.in")
    builder.wire(f"{head}.out", f"{planner}.in")
    arm = blocks if builder.chance.random() < 0.3 else task
    fact, writer = arm(builder, f"{planner}.left", depth + 1), builder.effect()
    assembler = builder.effect()
    tail = builder.effect(ROUTER, rounds=builder.chance.choice((1, 2)))
    builder.wire(f"{planner}.right", f"{writer}.in")
    builder.wire(fact, f"{assembler}.citations")
    builder.wire(f"{writer}.out", f"{assembler}.text")
    if builder.chance.random() < 0.2:
        builder.wire(f"{head}.out", f"{assembler}.base")
    builder.wire(f"{assembler}.out", f"{tail}.in")
    if builder.chance.random() < 0.6:
        handler = builder.effect()
        builder.wire(f"{assembler}.error", f"{handler}.in")
        back = builder.chance.choice((f"{tail}.in", f"{head}.loop_back"))
        if back.endswith("loop_back"):
            builder.wire(f"{handler}.out", back)
    builder.wire(f"{tail}.again", f"{head}.loop_back")
    return f"{tail}.done"


_NESTED: tuple[Block, ...] = (
    *(fork, fork, choice, choice, for_each, for_each, for_each, repeat, repeat),
    *(planned, stopping, caught, always, raced),
)
_LEAVES: tuple[Block, ...] = (
    *(task, task, task, triggered, gate, asking, told, caught, risky, delayed),
)


def blocks(builder: Builder, source: str, depth: int) -> str:
    """One to three parts after another; no further ones once the graph is large enough."""
    leaves = source
    for _ in range(builder.chance.choice((2, 3, 4, 4) if depth == 0 else (1, 1, 1, 2))):
        room = len(builder.nodes) < 15
        nested = room and depth < 3 and builder.chance.random() < (0.75 if depth == 0 else 0.55)
        made = builder.chance.choice(_NESTED if nested else _LEAVES if room else (task, told))
        leaves = made(builder, leaves, depth)
    return leaves


def _deciding(builder: Builder, source: str) -> tuple[str, str]:
    kind = builder.chance.choice(("router", "branch", "if_else", "switch", "gateway"))
    if kind == "router":
        node = builder.effect(ROUTER, chooses=["left", "right"])
        builder.wire(source, f"{node}.in")
        return f"{node}.left", f"{node}.right"
    says = builder.effect(TASK)
    builder.wire(source, f"{says}.in")
    default = builder.chance.random() < 0.8
    if kind in ("branch", "if_else"):
        value = builder.chance.choice((True, 1, "yes", "1", "TRUE", None))
        rest = {"isDefault": True} if default else {"value": builder.chance.choice((False, "no"))}
        node = builder.node(
            kind, branches=[{"name": "Fits", "value": value}, {"name": "rest", **rest}]
        )
        builder.wire(f"{says}.flag", f"{node}.data")
        return f"{node}.Fits", f"{node}.rest"
    if kind == "gateway" and builder.chance.random() < 0.5:
        rest = {"isDefault": True} if default else {"value": 5}
        node = builder.node(
            kind, branches=[{"name": "Fits", "value": 2}, {"name": ""}, {"name": "rest", **rest}]
        )
        builder.wire(f"{says}.number", f"{node}.data")
        return f"{node}.Fits", f"{node}.rest"
    first = builder.chance.choice(("value > `2`", "value == `0`", "other == null", "value && flag"))
    rest = {"isDefault": True} if default else {"condition": "value >= `1`"}
    node = builder.node(
        kind, branches=[{"name": "Fits", "condition": first}, {"name": "rest", **rest}]
    )
    builder.wire(f"{says}.number", f"{node}.value")
    builder.wire(f"{says}.flag", f"{node}.flag")
    return f"{node}.Fits", f"{node}.rest"


def _plan(builder: Builder, usual: str, other: str) -> list[list[str]]:
    return [
        builder.chance.choice(([usual], [usual], [usual, other], [other]))
        for _ in range(builder.chance.choice((1, 2, 3)))
    ]
