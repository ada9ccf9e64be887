"""Where things are, as the environment says (contract, section 1)."""

import os
from dataclasses import dataclass
from pathlib import Path

from seeding.errors import InvalidSettings

DEFAULT_HOME = ".fermata"
DEFAULT_TASK_QUEUE = "fermata"


@dataclass(frozen=True)
class Settings:
    """The settings of one process.

    Attributes:
        log_url: SQLAlchemy URL of the commit log.
        task_queue: Where runs are started and served.
        nodes: Modules with node types.
        graphs: Folders of graph documents.
        http_hosts: Hosts that nodes may call, each with a port where it is not the usual one.
        continue_after: Events of history after which a run continues as new.
    """

    log_url: str
    task_queue: str
    nodes: tuple[str, ...]
    graphs: tuple[Path, ...]
    http_hosts: tuple[str, ...] = ()
    continue_after: int = 1000


def settings() -> Settings:
    """Return the settings of this process's environment.

    ``FERMATA_LOG_URL`` wins over ``FERMATA_HOME``, the data folder.
    """
    home = Path(os.environ.get("FERMATA_HOME") or DEFAULT_HOME)
    return Settings(
        log_url=os.environ.get("FERMATA_LOG_URL") or f"sqlite:///{home / 'log.db'}",
        task_queue=os.environ.get("FERMATA_TASK_QUEUE") or DEFAULT_TASK_QUEUE,
        nodes=_listed("FERMATA_NODES"),
        graphs=tuple(Path(item) for item in _listed("FERMATA_GRAPHS")),
        http_hosts=_listed("FERMATA_HTTP_HOSTS"),
    )


def callback_secret() -> str | None:
    """Return the secret that tokens of callbacks are made with; None where there is none.

    ``FERMATA_CALLBACK_SECRET_ENV`` names the environment variable that holds it.

    Raises:
        InvalidSettings: That variable is not set, or is empty.
    """
    name = os.environ.get("FERMATA_CALLBACK_SECRET_ENV")
    if not name:
        return None
    secret = os.environ.get(name)
    if not secret:
        raise InvalidSettings(
            f"FERMATA_CALLBACK_SECRET_ENV names the variable {name!r}, which is not set"
        )
    return secret


def _listed(name: str) -> tuple[str, ...]:
    parts = os.environ.get(name, "").split(",")
    return tuple(part.strip() for part in parts if part.strip())
