from collections.abc import Generator

import pytest

from tests.docs.documented import Documented, documented_stage


@pytest.fixture(scope="session")
def documented(tmp_path_factory: pytest.TempPathFactory) -> Generator[Documented]:
    """The stage that the reference's examples run on."""
    with documented_stage(tmp_path_factory.mktemp("documented")) as served:
        yield served
