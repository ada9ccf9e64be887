"""A small HTTP server on loopback that answers as a test says and keeps what it was asked."""

import json
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from seeding.model import Json, JsonObject


@dataclass(frozen=True)
class Asked:
    """One request as it arrived; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Json:
        """Return the body as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """What the server answers; without a status it hangs up."""

    status: int | None = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @staticmethod
    def of_json(value: Json, status: int = 200) -> "Reply":
        """Answer with a JSON value."""
        return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json"})


Answering = Callable[[Asked], Reply]


@dataclass
class LocalServer:
    """The server's address, and every request it got, in order."""

    port: int
    asked: list[Asked] = field(default_factory=list[Asked])

    @property
    def host(self) -> str:
        """The host as an allowed host is written."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The base of its URLs."""
        return f"http://{self.host}"


@contextmanager
def local_server(answering: Answering) -> Generator[LocalServer]:
    """Serve on a free port of loopback until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, self.rfile.read(length))
            served.asked.append(asked)
            reply = answering(asked)
            if reply.status is None:
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = answer

        def log_message(self, format: str, *args: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = LocalServer(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def chat_answer(text: str) -> JsonObject:
    """Return what an OpenAI-compatible server answers."""
    message = {"role": "assistant", "content": text}
    return {"id": "c1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
