"""The plan of a pruning, whatever a thread looks like: nothing that is needed goes."""

from hypothesis import given
from hypothesis import strategies as st

from activities.log.pruning_plan import (
    BranchPlan,
    Continuation,
    PrunableRun,
    PruneRule,
    PruningFacts,
    Support,
    plan_pruning,
)

Draw = st.DrawFn


def _support(branch: str, up_to: int, by_branch: str | None) -> Support:
    return Support(branch=branch, up_to=up_to, by_branch=by_branch)


def _continuation(run_id: str, by_branch: str | None, by_version: int) -> Continuation:
    return Continuation(run_id=run_id, by_branch=by_branch, by_version=by_version)


def _rule(before: int, keep: int) -> PruneRule:
    return PruneRule(before=str(before), keep=keep)


@st.composite
def threads(draw: Draw) -> PruningFacts:
    """A thread of a few branches, whose runs follow each other and stand on earlier points."""
    branches = [f"b{number}" for number in range(draw(st.integers(1, 4)))]
    count = draw(st.integers(1, 9))
    ends = sorted(draw(st.lists(st.integers(0, 9), min_size=count, max_size=count)))
    runs: list[PrunableRun] = []
    version = 0
    for number in range(count):
        version += draw(st.integers(1, 3))
        is_open = number == count - 1 and draw(st.booleans())
        branch = draw(st.sampled_from(branches))
        ended_at = None if is_open else str(ends[number])
        runs.append(
            PrunableRun(run_id=f"r{number}", branch=branch, last_version=version, ended_at=ended_at)
        )
    by_branches = st.sampled_from([None, *branches])
    versions = st.integers(1, version)
    supports = st.builds(
        _support,
        st.sampled_from(branches),
        versions,
        by_branches,
    )
    continuations = st.builds(
        _continuation,
        st.sampled_from([run.run_id for run in runs]),
        by_branches,
        versions,
    )
    floors = {
        branch: draw(st.sampled_from([run.last_version for run in runs if run.branch == branch]))
        for branch in branches
        if any(run.branch == branch for run in runs) and draw(st.booleans())
    }
    floors.pop(runs[-1].branch, None)
    return PruningFacts(
        thread_id="t",
        head_run_id=runs[-1].run_id,
        runs=tuple(runs),
        branches=tuple(branches),
        supports=tuple(draw(st.lists(supports, max_size=4))),
        continuations=tuple(draw(st.lists(continuations, max_size=2))),
        floors=floors,
    )


rules = st.builds(
    _rule,
    st.integers(0, 9),
    st.integers(0, 3),
)


def carried_out(facts: PruningFacts, plans: tuple[BranchPlan, ...]) -> PruningFacts:
    """Return what the facts are once the plans were carried out."""
    removed = [plan.branch for plan in plans if plan.whole]
    floors = {**facts.floors, **{plan.branch: plan.floor for plan in plans}}
    return facts.model_copy(
        update={
            "floors": floors,
            "branches": tuple(name for name in facts.branches if name not in removed),
            "supports": tuple(item for item in facts.supports if item.by_branch not in removed),
            "continuations": tuple(
                item
                for item in facts.continuations
                if item.by_branch is None or item.by_version > floors.get(item.by_branch, 0)
            ),
        }
    )


@given(threads(), rules)
def test_only_what_the_rule_lets_go_goes(facts: PruningFacts, rule: PruneRule) -> None:
    for plan in plan_pruning(facts, rule):
        own = [run for run in facts.runs if run.branch == plan.branch]
        newest = own[len(own) - rule.keep :] if rule.keep else []
        for run in own:
            if run.run_id in plan.runs or plan.whole:
                assert run.ended_at is not None
                assert run.ended_at < rule.before
                assert run.run_id != facts.head_run_id
                assert run not in newest


@given(threads(), rules)
def test_nothing_that_is_stood_on_goes(facts: PruningFacts, rule: PruneRule) -> None:
    plans = plan_pruning(facts, rule)
    after = carried_out(facts, plans)
    changed = [plan.branch for plan in plans if plan.runs or plan.whole]
    gone = [run_id for plan in plans for run_id in plan.runs]
    for support in after.supports:
        if support.branch in changed:
            assert support.up_to > after.floors[support.branch]
            assert support.branch in after.branches
    assert [item.run_id for item in after.continuations if item.run_id in gone] == []


@given(threads(), rules)
def test_the_runs_of_a_branch_go_oldest_first_and_without_a_gap(
    facts: PruningFacts, rule: PruneRule
) -> None:
    for plan in plan_pruning(facts, rule):
        before = facts.floors.get(plan.branch, 0)
        own = [run for run in facts.runs if run.branch == plan.branch]
        assert plan.floor in [run.last_version for run in own]
        assert plan.runs == tuple(
            run.run_id for run in own if before < run.last_version <= plan.floor
        )
        assert plan.floor == own[-1].last_version or not plan.whole


@given(threads(), rules)
def test_a_plan_that_was_carried_out_leaves_nothing_to_plan(
    facts: PruningFacts, rule: PruneRule
) -> None:
    assert plan_pruning(carried_out(facts, plan_pruning(facts, rule)), rule) == ()


@given(threads(), rules, rules)
def test_a_milder_rule_takes_no_more(
    facts: PruningFacts, one: PruneRule, another: PruneRule
) -> None:
    mild = PruneRule(before=min(one.before, another.before), keep=max(one.keep, another.keep))
    floors = {plan.branch: plan.floor for plan in plan_pruning(facts, one)}
    for plan in plan_pruning(facts, mild):
        assert plan.floor <= floors[plan.branch]
