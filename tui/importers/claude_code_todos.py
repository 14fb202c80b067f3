"""The to-do list of a conversation of Claude Code, which two kinds of tools have written."""

import re
from typing import Any, cast

from tui.importers import contents
from tui.importers.claude_code_lines import Line, calls_in, result_text, results_in
from tui.importers.json_lines import object_in, objects_in, text_in
from tui.importers.protocol import ForeignTodos, Json

_CREATED = re.compile(r"Task #(\w+) created")


class TodoLog:
    """Takes in the lines of a conversation; ``current`` is the list after the last of them."""

    def __init__(self) -> None:
        self.current: ForeignTodos | None = None
        self._tasks: dict[str, Json] = {}
        self._asked_for: dict[str, Json] = {}

    def take(self, line: Line) -> None:
        for call in calls_in(line):
            self._take_call(call, object_in(call.get("input")))
        for result in results_in(line):
            self._take_result(result)

    def _take_call(self, call: Json, given: Json) -> None:
        match call.get("name"):
            case "TodoWrite" if isinstance(listed := given.get("todos"), list):
                self._tasks.clear()
                self._set(objects_in(cast("Any", listed)))
            case "TaskCreate":
                self._asked_for[text_in(call.get("id"))] = given
            case "TaskUpdate":
                self._update(text_in(given.get("taskId")), given)
            case _:
                pass

    def _take_result(self, result: Json) -> None:
        asked = self._asked_for.pop(text_in(result.get("tool_use_id")), None)
        created = _CREATED.search(result_text(result)) if asked is not None else None
        if created and asked is not None:
            self._tasks[created[1]] = {**asked, "content": asked.get("subject")}
            self._set(list(self._tasks.values()))

    def _update(self, number: str, given: Json) -> None:
        task = self._tasks.get(number)
        if task is None:
            return
        if given.get("status") == "deleted":
            del self._tasks[number]
        else:
            changes = {key: given[key] for key in ("status", "activeForm") if given.get(key)}
            content = given.get("subject") or task.get("content")
            self._tasks[number] = {**task, **changes, "content": content}
        self._set(list(self._tasks.values()))

    def _set(self, items: list[Json]) -> None:
        self.current = contents.todos(
            (each.get("content"), each.get("status"), each.get("activeForm")) for each in items
        )
