"""Blocking work that may never end: waited for, given up, bounded, and no reason to stay."""

import asyncio
import threading

import pytest

from tests.waiting import until
from tui.threads import DaemonThreads, begin, new_loop


@pytest.fixture
def gate():
    gate = threading.Event()
    yield gate
    gate.set()


def test_results_and_errors_come_back_to_who_waits():
    threads = DaemonThreads()
    assert threads.submit(divmod, 7, 2).result(20) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        threads.submit(divmod, 1, 0).result(20)


def test_what_is_too_much_at_once_waits_for_its_turn(gate):
    threads, done = DaemonThreads(2), []
    hanging = [threads.submit(gate.wait, 20) for _ in range(2)]
    waiting = [threads.submit(done.append, number) for number in range(3)]
    given_up = threads.submit(done.append, "never")
    assert given_up.cancel()
    assert not done
    gate.set()
    for each in (*hanging, *waiting):
        each.result(20)
    assert sorted(done) == [0, 1, 2]


def test_what_no_thread_is_there_for_is_done_by_another_one_or_never(gate, monkeypatch):
    def no_more(_):
        raise RuntimeError("can't start new thread")

    threads, done = DaemonThreads(), []
    with monkeypatch.context() as exhausted:
        exhausted.setattr(threading.Thread, "start", no_more)
        with pytest.raises(RuntimeError):
            threads.submit(done.append, "never")
    hanging = threads.submit(gate.wait, 20)
    with monkeypatch.context() as exhausted:
        exhausted.setattr(threading.Thread, "start", no_more)
        waiting = threads.submit(done.append, "later")
    gate.set()
    hanging.result(20)
    waiting.result(20)
    assert done == ["later"]


def test_a_program_ends_though_work_does_not(gate):
    begun = threading.Event()

    def work():
        begun.set()
        gate.wait(60)

    async def program():
        task = asyncio.create_task(asyncio.to_thread(work))
        await until(begun.is_set)
        task.cancel()

    def run():
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(program())

    running = threading.Thread(target=run, daemon=True)
    running.start()
    running.join(20)
    assert not running.is_alive()


def test_an_error_that_nobody_waits_for_is_reported_by_the_name_of_the_work(monkeypatch):
    reported = []
    monkeypatch.setattr(
        threading, "excepthook", lambda it: reported.append((it.exc_type, it.thread.name))
    )
    begin("look around", lambda: divmod(1, 0)).result(20)
    assert reported == [(ZeroDivisionError, "look around")]
