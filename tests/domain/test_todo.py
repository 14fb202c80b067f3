import pytest

from tui.domain.records import DamagedRecord, Todos, decode, encode
from tui.domain.todo import TodoItem


@pytest.mark.parametrize("status", ["pending", "in_progress", "completed"])
def test_a_to_do_is_pending_in_progress_or_completed(status):
    todos = Todos(items=(TodoItem(content="write", status=status, active_form="writing"),))
    assert decode(encode(todos)[:-1]) == todos


@pytest.mark.parametrize("status", ["done", "", "Pending", None])
def test_a_to_do_of_another_status_is_damage(status):
    todos = Todos(items=(TodoItem(content="write", status=status, active_form="writing"),))
    with pytest.raises(DamagedRecord):
        decode(encode(todos)[:-1])


def test_a_to_do_cannot_be_changed():
    item = TodoItem(content="write", status="pending", active_form="writing")
    with pytest.raises(AttributeError):
        item.status = "completed"
