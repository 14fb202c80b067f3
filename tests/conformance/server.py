"""A bridge for the conformance suite of the Model Context Protocol, which asks servers by HTTP.

``python -m tests.conformance.server`` prints the address at which it passes each request to a
``sibyl-tui mcp`` of that client, on standard input, and its answer back.
"""

import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).parents[2]
_numbers = itertools.count(1)
_programs: dict[str, subprocess.Popen[bytes]] = {}


def started(folder: str) -> subprocess.Popen[bytes]:
    """Start the program on an empty data directory."""
    command = [sys.executable, "-m", "tui", "mcp", "--data-dir", f"{folder}/data"]
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "PYTHONPATH": str(ROOT)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen(command, env=environment, **pipes)


class Bridge(BaseHTTPRequestHandler):
    """One client at a time asks one thing at a time."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        message = json.loads(body)
        name = self.headers.get("Mcp-Session-Id", "")
        if message.get("method") == "initialize":
            name = str(next(_numbers))
            _programs[name] = started(self.server.folder)
        program = _programs[name]
        program.stdin.write(json.dumps(message).encode() + b"\n")
        program.stdin.flush()
        answer = program.stdout.readline() if "id" in message else b""
        self.send_response(200 if answer else 202)
        self.send_header("Mcp-Session-Id", name)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def do_GET(self) -> None:
        self.send_error(405)

    def do_DELETE(self) -> None:
        program = _programs.pop(self.headers.get("Mcp-Session-Id", ""), None)
        if program is not None:
            program.communicate()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with tempfile.TemporaryDirectory() as folder:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Bridge)
        server.folder = folder
        print(f"http://127.0.0.1:{server.server_port}/mcp", flush=True)
        try:
            server.serve_forever()
        finally:
            for program in _programs.values():
                program.communicate()


if __name__ == "__main__":
    main()
