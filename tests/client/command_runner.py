"""Runs the command in this process and keeps what it printed apart."""

import json
from dataclasses import dataclass

from typer.testing import CliRunner

from client.command.verbs import app
from seeding.model import Json


@dataclass(frozen=True)
class Answer:
    """What the command did.

    Attributes:
        code: Its exit code.
        out: What it printed on stdout.
        err: What it printed on stderr.
    """

    code: int
    out: str
    err: str

    @property
    def document(self) -> Json:
        """The one JSON document on stdout of a command that went well."""
        assert (self.code, self.err) == (0, "")
        return json.loads(self.out)

    @property
    def refusal(self) -> str:
        """The one line on stderr of a command that was refused."""
        assert (self.code, self.out, self.err.count("\n")) == (1, "", 1)
        return self.err.rstrip("\n")

    @property
    def usage_error(self) -> str:
        """What a wrong use is answered with, on one line."""
        assert (self.code, self.out) == (2, "")
        return " ".join(self.err.split())


def run(*arguments: str) -> Answer:
    """Run ``fermata`` with these arguments."""
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Answer(result.exit_code, result.stdout, result.stderr)
