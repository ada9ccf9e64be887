"""The container files, read as a container engine would read them; none is needed."""

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy.engine import make_url

from settings import DYNAMIC_CONFIG
from tests.docs.examples import PROJECT, example

STAGE = PROJECT / "temporal-dev"
COMPOSE: dict[str, Any] = yaml.safe_load((STAGE / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
CONTAINERFILE = (STAGE / "Containerfile").read_text(encoding="utf-8")
SERVER_VERSION = "1.32.0"
READ_BY_US = re.compile(r"FERMATA_[A-Z_]+")


def instructions(name: str) -> list[list[str]]:
    """Return the words of each instruction of that name in the Containerfile."""
    joined = CONTAINERFILE.replace("\\\n", " ")
    found = [line for line in joined.splitlines() if line.startswith(f"{name} ")]
    return [shlex.split(line.removeprefix(f"{name} ")) for line in found]


def code_of(*folders: str) -> str:
    paths = [path for folder in folders for path in sorted((PROJECT / folder).rglob("*.py"))]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


class TestContainerfile:
    def test_it_copies_what_exists_and_what_the_installation_needs(self) -> None:
        copied = [source for words in instructions("COPY") for source in words[:-1]]

        assert [source for source in copied if not (PROJECT / source).exists()] == []
        assert {"pyproject.toml", "constraints.txt", "README.md", "LICENSE"} <= {*copied}
        assert {"seeding", "workflows", "activities", "client"} <= {*copied}

    def test_what_it_copies_reaches_the_builder_and_nothing_else(self) -> None:
        ignored = (STAGE / "Containerfile.dockerignore").read_text(encoding="utf-8")
        kept = [line[1:] for line in ignored.splitlines() if line.startswith("!")]
        copied = [source for words in instructions("COPY") for source in words[:-1]]

        assert sorted(kept) == sorted(copied)
        assert "*" in ignored.splitlines()

    def test_it_runs_without_root_on_the_tested_versions(self) -> None:
        assert instructions("FROM") == [["python:3.11-slim"]]
        assert instructions("USER") == [["fermata"]]
        assert instructions("RUN")[-1][-3:-1] == ["--constraint", "constraints.txt"]
        assert instructions("RUN")[-1][-1] == ".[postgresql]"
        assert CONTAINERFILE.index("\nUSER") > CONTAINERFILE.index("pip install")

    def test_its_variables_are_ones_that_the_worker_reads(self) -> None:
        code = code_of("client")

        for name in READ_BY_US.findall(" ".join(map(" ".join, instructions("ENV")))):
            assert f'"{name}"' in code


class TestCompose:
    def test_every_published_port_is_on_loopback(self) -> None:
        published = [str(port) for one in SERVICES.values() for port in one.get("ports", [])]

        assert len(published) == 2
        assert [port for port in published if not port.startswith("127.0.0.1:")] == []

    def test_the_database_is_reached_from_inside_only(self) -> None:
        assert "ports" not in SERVICES["postgresql"]

    def test_every_file_and_folder_it_mounts_or_builds_from_exists(self) -> None:
        mounts = [str(one) for each in SERVICES.values() for one in each.get("volumes", [])]
        here = [mount.split(":")[0] for mount in mounts if mount.startswith(".")]
        build = SERVICES["worker"]["build"]

        assert here
        assert [path for path in here if not (STAGE / path).exists()] == []
        assert (STAGE / build["context"] / build["dockerfile"]).is_file()
        assert [path for path in mounts if path.startswith(".") and not path.endswith(":ro")] == []

    def test_every_named_volume_is_declared_and_used(self) -> None:
        mounts = [str(one) for each in SERVICES.values() for one in each.get("volumes", [])]
        named = [mount.split(":")[0] for mount in mounts if not mount.startswith(".")]

        assert sorted(named) == sorted(COMPOSE["volumes"])

    def test_every_service_it_waits_for_is_there_with_the_condition_it_waits_for(self) -> None:
        for service in SERVICES.values():
            for name, awaited in service.get("depends_on", {}).items():
                condition = awaited["condition"]
                assert condition in ("service_healthy", "service_completed_successfully")
                if condition == "service_healthy":
                    assert "healthcheck" in SERVICES[name]

    def test_the_worker_gets_variables_it_reads_and_the_samples(self) -> None:
        given = SERVICES["worker"]["environment"]
        code = code_of("client")
        mounted = dict(str(one).split(":")[:2][::-1] for one in SERVICES["worker"]["volumes"])

        assert [
            name for name in given if READ_BY_US.fullmatch(name) and f'"{name}"' not in code
        ] == []
        assert mounted[f"{given['PYTHONPATH']}/{given['FERMATA_NODES']}.py"]
        assert mounted[given["FERMATA_GRAPHS"]] == "./graphs"
        assert given["FERMATA_LOG_URL"] == "postgresql://temporal@postgresql/fermata"
        assert given["TEMPORAL_ADDRESS"] == "temporal:7233"

    def test_server_and_its_tools_are_of_the_version_that_is_tested(self) -> None:
        images = {name: one.get("image") for name, one in SERVICES.items()}

        assert images["temporal"] == f"temporalio/server:{SERVER_VERSION}"
        assert images["schema"] == f"temporalio/admin-tools:{SERVER_VERSION}"
        assert images["namespace"] == images["schema"]
        assert not any("latest" in str(image) for image in images.values())

    def test_every_part_uses_one_password(self) -> None:
        password = "${POSTGRES_PASSWORD:-temporal}"

        assert SERVICES["postgresql"]["environment"]["POSTGRES_PASSWORD"] == password
        assert SERVICES["schema"]["environment"]["SQL_PASSWORD"] == password
        assert SERVICES["temporal"]["environment"]["POSTGRES_PWD"] == password
        assert SERVICES["log"]["environment"]["PGPASSWORD"] == password
        assert SERVICES["worker"]["environment"]["PGPASSWORD"] == password

    def test_the_log_is_a_database_that_is_made_before_a_worker_starts(self) -> None:
        log, worker = SERVICES["log"], SERVICES["worker"]
        url = make_url(worker["environment"]["FERMATA_LOG_URL"])

        assert (url.host, url.username) == (
            log["environment"]["PGHOST"],
            log["environment"]["PGUSER"],
        )
        assert f"createdb {url.database}" in log["command"][0]
        assert f"datname = '{url.database}'" in log["command"][0]
        assert worker["depends_on"]["log"]["condition"] == "service_completed_successfully"
        assert log["image"] == SERVICES["postgresql"]["image"]

    def test_a_dollar_that_the_shell_is_to_see_is_doubled(self) -> None:
        commands = "".join(str(one.get("command", "")) for one in SERVICES.values())

        assert re.findall(r"(?<!\$)\$(?!\$|\{)", commands) == []

    @pytest.mark.parametrize("name", ["schema", "namespace", "log"])
    def test_what_is_run_once_is_a_script_the_shell_can_read(self, name: str) -> None:
        service = SERVICES[name]
        [script] = service["command"]
        read = subprocess.run(
            ["sh", "-n", "-c", script.replace("$$", "$")], capture_output=True, text=True
        )

        assert service["entrypoint"] == ["sh", "-euc"]
        assert (read.returncode, read.stderr) == (0, "")

    def test_the_documented_lines_name_its_file_and_its_services(self) -> None:
        lines = example("docs/running.md", "compose").text.splitlines()

        for line in lines:
            words = shlex.split(line)
            assert words[:3] == ["docker", "compose", "--file"]
            assert (PROJECT / words[3]).is_file()
        assert shlex.split(lines[1])[4:6] == ["exec", "worker"]


def test_the_server_in_containers_has_the_settings_of_the_dev_server() -> None:
    written = yaml.safe_load((STAGE / "dynamic-config.yaml").read_text(encoding="utf-8"))
    usual = {name: yaml.safe_load(value) for name, value in DYNAMIC_CONFIG.items()}

    assert {name: values[0]["value"] for name, values in written.items()} == usual
    assert "DYNAMIC_CONFIG_FILE_PATH" in SERVICES["temporal"]["environment"]
    assert Path(SERVICES["temporal"]["environment"]["DYNAMIC_CONFIG_FILE_PATH"]).name in str(
        SERVICES["temporal"]["volumes"]
    )
