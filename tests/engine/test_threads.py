"""Work that may never end: waited for, given up, and no reason to stay."""

import asyncio
import threading

import pytest

from tests.waiting import until
from tui.engine.threads import in_daemon_thread


async def test_the_result_comes_back():
    assert await in_daemon_thread(lambda: 1) == 1


async def test_an_error_is_raised_where_it_is_waited_for():
    with pytest.raises(ZeroDivisionError):
        await in_daemon_thread(lambda: 1 / 0)


def test_a_program_ends_though_work_does_not():
    begun, gate, ended = threading.Event(), threading.Event(), threading.Event()

    def work():
        begun.set()
        gate.wait()
        ended.set()

    async def program():
        task = asyncio.create_task(in_daemon_thread(work))
        await until(begun.is_set)
        task.cancel()

    running = threading.Thread(target=asyncio.run, args=(program(),), daemon=True)
    running.start()
    running.join(20)
    is_over = not running.is_alive()
    gate.set()
    assert is_over
    assert ended.wait(20)
