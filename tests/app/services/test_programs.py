import sys

import pytest

from tui.app.services.programs import output_of


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
