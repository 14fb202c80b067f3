"""A server of tools without the library of the protocol, with the faults of its argument.

``python raw_server.py '{"fault": value}'``; the calls of a tool named like a fault commit it.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time

plan = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
_writing = threading.Lock()


def put(message: object) -> None:
    put_line(json.dumps({"jsonrpc": "2.0", **message}))


def put_line(line: str) -> None:
    with _writing:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def note(**what: object) -> None:
    """Append to the log, which the test reads."""
    if "log" in plan:
        with open(plan["log"], "a") as log:
            log.write(json.dumps(what) + "\n")


def tool(name: str, **others: object) -> dict:
    return {"name": name, "description": "", "inputSchema": {"type": "object"}, **others}


def text(words: str, **others: object) -> dict:
    return {"content": [{"type": "text", "text": words}], **others}


def respond(number: object, words: str) -> None:
    put({"id": number, "result": text(words)})


def echo(number: object, **arguments: object) -> None:
    respond(number, json.dumps(arguments))


def environment(number: object) -> None:
    respond(number, json.dumps([dict(os.environ), os.getcwd()]))


def raw(number: object, result: object) -> None:
    put({"id": number, "result": result})


def write(number: object, words: str) -> None:
    """Write a reply as it is, but for its id."""
    os.write(1, words.replace("ID", str(number)).encode())


def error(number: object, message: str, **others: object) -> None:
    put({"id": number, "error": {"code": -32000, "message": message, **others}})


def huge(number: object, size: int) -> None:
    respond(number, "x" * size)


def silent(number: object) -> None:
    """Never answer."""


def die(number: object, words: str = "", code: int = 3) -> None:
    print(words, file=sys.stderr, flush=True)
    os._exit(code)


def close(number: object, descriptor: int) -> None:
    """Close a standard stream and go on living."""
    os.close(descriptor)
    if descriptor == 0:
        time.sleep(600)


def nag(number: object) -> None:
    """Ask without end, and read no answer."""
    while True:
        put({"id": f"{number}", "method": "ping"})


def ask(number: object, method: str, params: object, times: int = 1) -> None:
    """Answer with the client's answers to a request, each time it is made."""
    asked.append(number)
    plan["times"] = times
    for place in range(times):
        put({"id": f"question {place}", "method": method, "params": params})


def change(number: object, tools: list, to_mute: tuple = ()) -> None:
    plan["tools"] = tools
    mute.extend(to_mute)
    put({"method": "notifications/tools/list_changed"})
    respond(number, "changed")


def chatter(number: object) -> None:
    os.write(2, b"noise\n" * 200_000)
    respond(number, "done")


CALLS = (echo, environment, raw, write, error, huge, silent, die, close, nag, ask, change, chatter)
asked: list = []
answers: list = []
mute: list = plan.get("mute", [])


def listed(cursor: str = "0") -> dict:
    pages = plan.get("pages") or [plan.get("tools", [tool(call.__name__) for call in CALLS])]
    place = int(cursor)
    cursors = plan.get("cursors") or [*map(str, range(1, len(pages)))]
    more = {"nextCursor": cursors[place]} if place < len(cursors) else {}
    return {"tools": pages[place], **more}


def answer(message: dict) -> None:
    number, method = message.get("id"), message.get("method")
    params = message.get("params") or {}
    match method:
        case "initialize":
            about = {
                "protocolVersion": plan.get("version", params["protocolVersion"]),
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "raw", "version": "1"},
            }
            put({"id": number, "result": {**about, **plan.get("about", {})}})
        case "tools/list" if method in plan.get("refuse", []):
            put({"id": number, "error": {"code": -32601, "message": "Method not found"}})
        case "tools/list" if params.get("cursor") in plan.get("broken", []):
            error(number, "page is broken")
        case "tools/list":
            put({"id": number, "result": listed(**params)})
        case "tools/call":
            call = next(each for each in CALLS if each.__name__ == params["name"])
            call(number, **(params.get("arguments") or {}))
        case None if asked:
            answers.append(message.get("error") or message["result"])
            if len(answers) == plan["times"]:
                said = answers if len(answers) > 1 else answers[0]
                respond(asked.pop(), json.dumps(said))
                answers.clear()


def make_child() -> None:
    """Start a child that ignores what its parent heeds, and keeps the pipes open."""
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
    note(child=subprocess.Popen([sys.executable, "-c", code]).pid)


def begin() -> None:
    if "ignore_term" in plan:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "child" in plan:
        make_child()
    note(pid=os.getpid())
    print(plan.get("stderr", ""), file=sys.stderr, flush=True)
    if "exit" in plan:
        sys.exit(plan["exit"])


def make_noise() -> None:
    for line in plan.get("noise", []):
        put_line(line)
    while "babble" in plan:
        put_line("This is no message.")
    while "endless" in plan:
        sys.stdout.write("x" * 65536)


def main() -> None:
    begin()
    make_noise()
    for line in sys.stdin:
        message = json.loads(line)
        note(method=message.get("method"), params=message.get("params"))
        if "silent" not in plan and message.get("method") not in mute:
            answer(message)
    while "ignore_end" in plan:
        time.sleep(1)


main()
