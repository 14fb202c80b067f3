"""Textual still has what ``tui/terminal/textual_private.py`` relies on.

Fails by the name of a member that a release has removed, renamed or given other parameters.
"""

from pathlib import Path

import pytest
from textual import _xterm_parser
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from tests.private_members import is_there, touched
from tui.terminal import textual_private

MEMBERS = [
    (XTermParser, "_sequence_to_key_events(self, sequence, alt=False)"),
    (LinuxDriver, "_app"),
    (LinuxDriver, "_run_input_thread(self)"),
    (LinuxDriver, "_get_terminal_size(self)"),
    (LinuxDriver, "_size"),
    (LinuxDriver, "_auto_restart"),
    (LinuxDriver, "_file"),
    (LinuxDriver, "_loop"),
    (LinuxDriver, "_must_signal_resume"),
    (LinuxDriver, "_writer_thread"),
    (LinuxDriver, "_sigtstp_application(self, *_)"),
    (LinuxDriver, "_sigcont_application(self, *_)"),
    (App, "_handle_exception(self, error)"),
    (App, "_driver"),
    (App, "_fatal_error(self)"),
    (App, "_close_messages_no_wait(self)"),
]
MODULES = {"_ansi_sequences", "_keyboard_protocol", "_xterm_parser"}


@pytest.mark.parametrize(
    ("owner", "member"), MEMBERS, ids=[f"{owner.__name__}.{member}" for owner, member in MEMBERS]
)
def test_textual_still_has(owner: type, member: str):
    assert is_there(owner, member), f"Textual no longer has {owner.__name__}.{member}"


def test_textual_still_reads_keys_from_ansi_sequences_keys():
    assert _xterm_parser.ANSI_SEQUENCES_KEYS is ANSI_SEQUENCES_KEYS
    assert textual_private.KEY_SEQUENCES is ANSI_SEQUENCES_KEYS
    assert [key.value for key in ANSI_SEQUENCES_KEYS["\x1b[A"]] == ["up"]


def test_every_private_member_that_is_used_is_listed_here():
    listed = {member.partition("(")[0] for _, member in MEMBERS}
    assert touched(Path(textual_private.__file__)) == listed | MODULES
