"""Writers of logs for tests: each makes the records of a program's file from turns."""

ID = "0b6f1a52-93b2-4f0e-8b8e-0d6f7a1c2e30"
TIME = "2026-05-01T10:00:00.000Z"


def claude_code(made, shown):
    records, ends = [], []

    def say(role, content, follows, **message):
        name = f"{len(records):08x}{ID[8:]}"
        message = {"role": role, "content": content, **message}
        record = {"type": role, "uuid": name, "parentUuid": follows, "sessionId": ID}
        records.append({**record, "timestamp": TIME, "message": message})
        return name

    for number, turn in enumerate(made):
        last = say("user", turn.prompt, ends[turn.follows] if turn.follows >= 0 else None)
        calls = []
        for place in range(len(turn.results)):
            call = {"type": "tool_use", "id": f"c{number}-{place}", "name": "Bash", "input": {}}
            last = say("assistant", [call], last, id=f"calls{number}")
            calls.append((call["id"], last))
        for (call, line), content in zip(calls, turn.results, strict=True):
            result = {"type": "tool_result", "tool_use_id": call, "content": content}
            last = say("user", [result], line)
        answer = [{"type": "text", "text": turn.answer}]
        ends.append(say("assistant", answer, last, id=f"answer{number}"))
    leaf = {"type": "last-prompt", "sessionId": ID, "leafUuid": ends[shown], "explicit": True}
    return [*records, leaf]


def qwen_code(made, shown):
    records, ends = [], []

    def say(kind, parts, follows):
        name = f"{len(records):08x}{ID[8:]}"
        message = {"role": "model" if kind == "assistant" else "user", "parts": parts}
        record = {"uuid": name, "parentUuid": follows, "sessionId": ID, "timestamp": TIME}
        records.append({**record, "type": kind, "cwd": "/shop", "message": message})
        return name

    for number, turn in enumerate(made):
        follows = ends[turn.follows] if turn.follows >= 0 else None
        last = say("user", [{"text": turn.prompt}], follows)
        calls = [{"id": f"c{number}-{place}", "name": "look"} for place in range(len(turn.results))]
        if calls:
            last = say("assistant", [{"functionCall": call} for call in calls], last)
        for call, content in zip(calls, turn.results, strict=True):
            response = {**call, "response": {"output": content}}
            last = say("tool_result", [{"functionResponse": response}], last)
        ends.append(say("assistant", [{"text": turn.answer}], last))
    told = {"uuid": "told", "parentUuid": ends[shown], "type": "system", "subtype": "rewind"}
    return [*records, told]


def pi(made, shown, version=3):
    header = {"type": "session", "id": ID, "timestamp": TIME, "cwd": "/shop"}
    records, ends = [header | ({"version": version} if version > 1 else {})], []

    def add(follows, **fields):
        name = f"{len(records):08x}"
        links = {"id": name, "parentId": follows} if version > 1 else {}
        records.append({**links, "timestamp": TIME, **fields})
        return name

    def say(role, content, follows, **fields):
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        message = {"role": role, "content": blocks, **fields}
        return add(follows, type="message", message=message)

    for number, turn in enumerate(made):
        last = say("user", turn.prompt, ends[turn.follows] if turn.follows >= 0 else None)
        calls = [
            {"type": "toolCall", "id": f"c{number}-{place}", "name": "bash", "arguments": {}}
            for place in range(len(turn.results))
        ]
        if calls:
            last = say("assistant", calls, last, stopReason="toolUse")
        for call, content in zip(calls, turn.results, strict=True):
            last = say("toolResult", content, last, toolCallId=call["id"])
        ends.append(say("assistant", turn.answer, last, stopReason="stop"))
    add(ends[shown], type="label", label="x")
    return records


def codex(made, undone):
    records = [{"timestamp": TIME, "type": "session_meta", "payload": {"id": ID, "cwd": "/shop"}}]

    def add(log, kind, **fields):
        records.append({"timestamp": TIME, "type": log, "payload": {"type": kind, **fields}})

    def say(role, kind, text):
        add("response_item", "message", role=role, content=[{"type": kind, "text": text}])

    for number, turn in enumerate(made):
        if undone[number]:
            add("event_msg", "thread_rolled_back", num_turns=undone[number])
        say("user", "input_text", turn.prompt)
        add("event_msg", "user_message", message=turn.prompt, images=[])
        for place, _ in enumerate(turn.results):
            name = f"c{number}-{place}"
            add("response_item", "function_call", name="shell", call_id=name, arguments="{}")
        for place, output in enumerate(turn.results):
            name = f"c{number}-{place}"
            add("response_item", "function_call_output", call_id=name, output=output)
        add("event_msg", "agent_message", message=turn.answer)
        say("assistant", "output_text", turn.answer)
    return records


def copilot_cli(made):
    records = []

    def add(kind, **data):
        name = f"{len(records):08x}{ID[8:]}"
        records.append({"type": kind, "data": data, "id": name, "timestamp": TIME})

    add("session.start", sessionId=ID)
    for number, turn in enumerate(made):
        add("user.message", content=turn.prompt)
        names = [f"c{number}-{place}" for place, _ in enumerate(turn.results)]
        calls = [{"toolCallId": name, "name": "bash", "arguments": "{}"} for name in names]
        if calls:
            add("assistant.message", content="", toolRequests=calls)
        for name, content in zip(names, turn.results, strict=True):
            add("tool.execution_complete", toolCallId=name, result={"content": content})
        add("assistant.message", content=turn.answer, toolRequests=[])
    return records


def gemini_cli(made):
    records = [{"sessionId": ID, "projectHash": "0" * 64, "startTime": TIME, "lastUpdated": TIME}]

    def add(kind, content, **fields):
        message = {"id": f"m{len(records)}", "timestamp": TIME, "type": kind, "content": content}
        records.append({**message, **fields})

    for number, turn in enumerate(made):
        add("user", [{"text": turn.prompt}])
        calls = [
            {
                "id": f"c{number}-{place}",
                "name": "ls",
                "args": {},
                "result": [{"functionResponse": {"name": "ls", "response": {"output": output}}}],
            }
            for place, output in enumerate(turn.results)
        ]
        if calls:
            add("gemini", "", toolCalls=calls)
        add("gemini", turn.answer)
    return records
