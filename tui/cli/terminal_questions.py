"""Questions of tool servers on the terminal, without the screen."""

import asyncio

from tui.cli import console, typed_lines
from tui.commands.viewers import open_outside
from tui.domain.server_questions import Answer, Field, ServerQuestion

_OPEN = "Open it in your browser? y opens, c waits for you to open it, n refuses:"
_FILL = "Answer? y asks for each value, n refuses:"


class TerminalQuestions:
    """Asks one question at a time."""

    def __init__(self) -> None:
        self._asking = asyncio.Lock()

    async def ask(self, question: ServerQuestion) -> Answer | None:
        """Put a question, and read the answer; ``None`` refuses."""
        async with self._asking:
            typed_lines.forget_typed()
            what = _OPEN if question.address else _FILL
            asked = (f"{question.server}: {question.message}", question.address, what)
            console.tell("\n".join(filter(None, asked)))
            choice = (await typed_lines.read_line()).strip().lower()
            if choice not in {"y", "yes"} and not (choice == "c" and question.address):
                return None
            if question.address:
                refusal = "" if choice == "c" else await open_outside(question.address)
                if refusal:
                    console.tell(f"Not opened ({refusal}). Copy the address.")
                return {}
            values = {each.name: await _value(each) for each in question.fields}
            return {name: value for name, value in values.items() if value is not None}


async def _value(field: Field) -> object:
    about = ", ".join(filter(None, (field.about, *(each.value for each in field.options))))
    while True:
        console.tell(f"{field.title}{f' ({about})' if about else ''} [{field.shown}]:")
        entry = (await typed_lines.read_line()).rstrip("\n")
        try:
            return field.value(field.entry(entry or field.shown))
        except ValueError as error:
            console.tell(str(error))
