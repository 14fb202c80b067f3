from tui.widgets.prompt.unacknowledged import Unacknowledged


def test_a_sent_prompt_that_was_changed_is_sent_whole():
    sending = Unacknowledged()
    sending.submit("hi")
    assert sending.unsent("hi there") == " there"
    assert sending.unsent("oh hi") == "oh hi"
    assert sending.take("hi") == "hi"
