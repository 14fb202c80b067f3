"""Asks a server and prints each answer, or the kind of its error, on a line of its own.

    python -m tests.providers.asking DIALECT ADDRESS COUNT

For tests of a program that may hang: the process can be killed.
"""

import asyncio
import sys

from tests.providers.conftest import a_choice, asks, collected, text_of
from tui.errors import ModelError
from tui.providers.chat_model import ChatModel


async def answer(model: ChatModel) -> str:
    try:
        return text_of(await collected(model.stream(asks())))
    except ModelError as error:
        return type(error).__name__


def main() -> None:
    dialect, address, count = sys.argv[1:]
    choice = a_choice("local", "test-model", address, None, dialect, timeout=30, retries=0)
    model = ChatModel(choice)
    for _ in range(int(count)):
        print(asyncio.run(answer(model)), flush=True)


if __name__ == "__main__":
    main()
