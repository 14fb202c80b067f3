import signal
import sys
import threading

import pytest

from tests.waiting import is_running, wait_for
from tui.programs import end_programs, output_of


def python(code):
    return [sys.executable, "-c", code]


def test_the_output_and_the_exit_code_are_given():
    output = output_of(python("print('ok'); raise SystemExit(3)"), 100, 60)
    assert (output.data, output.code) == (b"ok\n", 3)


def test_a_program_that_prints_too_much_is_ended():
    output = output_of(python("while True: print('x' * 1000)"), 10_000, 60)
    assert output.code is None
    assert len(output.data) > 10_000


def test_a_program_that_takes_too_long_is_ended_with_its_children(tmp_path):
    mark = tmp_path / "mark"
    output = output_of(
        ["sh", "-c", f"echo begun; (cat; echo > {mark}) < /dev/zero; wait"], 100, 0.5
    )
    assert output.code is None
    assert not mark.exists()


def test_a_program_that_is_not_there_is_an_error():
    with pytest.raises(OSError, match="nowhere"):
        output_of(["/nowhere/at/all"], 100, 1)


def test_a_child_that_outlives_its_parent_is_ended_at_the_limit(tmp_path):
    pids = tmp_path / "pids"
    output = output_of(["sh", "-c", f"sleep 600 & echo $! > {pids}"], 100, 1.0)
    assert output.code is None
    wait_for(lambda: not is_running(int(pids.read_text())))


def test_a_running_program_is_ended_from_another_thread_with_its_children(tmp_path):
    pids, outputs = tmp_path / "pids", []
    command = ["sh", "-c", f"sleep 600 & echo $! > {pids}; wait"]
    waiting = threading.Thread(target=lambda: outputs.append(output_of(command, 100, 600)))
    waiting.start()
    wait_for(lambda: pids.exists() and pids.read_text().endswith("\n"))
    end_programs(["another"])
    assert is_running(int(pids.read_text()))
    while waiting.is_alive():
        end_programs(command)
    assert outputs[0].code != 0
    wait_for(lambda: not is_running(int(pids.read_text())))


def test_a_program_may_be_ended_by_a_signal_after_which_it_tidies_up(tmp_path):
    ready, tidied = tmp_path / "ready", tmp_path / "tidied"
    # Not SIGINT: a shell cannot trap what is ignored where the tests run in the background.
    command = ["sh", "-c", f"trap 'echo > {tidied}; exit' USR1; echo > {ready}; sleep 600 & wait"]
    options = {"args": (command, 100, 600), "kwargs": {"ending": signal.SIGUSR1}}
    waiting = threading.Thread(target=output_of, **options)
    waiting.start()
    wait_for(ready.exists)
    while not tidied.exists():
        end_programs(command)
