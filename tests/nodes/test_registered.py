"""What every worker serves is what graphs are checked against."""

import activities.builtin_nodes as builtin_nodes
from activities.nodes import REGISTRY
from workflows.graph.builtin_types import BUILTIN_TYPES

NAMES = ["template", "prompt_template", "http_request", "chat", "chat_model"]


def test_every_built_in_effect_type_is_served_as_it_is_declared():
    assert builtin_nodes.__all__ == ["chat", "http_request", "template"]
    served = [REGISTRY.types()[name].model_copy(update={"can_ask": False}) for name in NAMES]
    assert served == [BUILTIN_TYPES[name] for name in NAMES]
