import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.attached import NOTES, numbered, showing
from tests.strategies import any_text
from tests.tables import each_row
from tui.domain.journal.message import Message, ToolCall
from tui.domain.journal.records import Summary
from tui.engine import model_requests
from tui.engine.model_requests import (
    REQUEST_PICTURE_BYTES,
    context_of,
    estimated_tokens,
    fits,
    pictures_of,
    project,
    read_context,
    tokens_of,
    with_newest_pictures,
    without_pictures,
)
from tui.providers.protocol import ToolDefinition

WIDE = 10_000_000
TOOLS = (ToolDefinition("read_file", "Reads a file.", {"type": "object"}),)


def message(number, role="user", content="text", **fields):
    return Message(
        id=f"m{number}", role=role, content=content, timestamp="2026-01-01T00:00:00.000Z", **fields
    )


def sent(messages, *, summary=None, window=WIDE, prompt=""):
    return project(prompt, summary, messages, window, TOOLS).request.messages


def call(name="c1"):
    return ToolCall(name, "read_file", {"path": "a"})


GUIDED = [
    message(1, content="Real?"),
    message(2, "assistant", "Yes.", model="openai:gpt"),
    message(3, content="Keys?"),
    message(4, "assistant", "F1", model="offline:guide"),
    message(5, content="And now?"),
]
TALK = [message(1), message(2, "assistant"), message(3)]


@each_row(
    "talk, through, ids",
    [
        ([message(1), message(2, "assistant", "half", status="failed")], "", ["m1"]),
        (
            [message(1), message(2, "assistant"), message(3, "assistant", replaces="m2")],
            "",
            ["m1", "m3"],
        ),
        # Of interrupted answers those without text.
        (
            [
                message(1),
                message(2, "assistant", "half", status="interrupted"),
                message(3),
                message(4, "assistant", " ", status="interrupted"),
            ],
            "",
            ["m1", "m2", "m3"],
        ),
        # The turns of the built-in guide, unless a model has answered then.
        (GUIDED, "", ["m1", "m2", "m5"]),
        (GUIDED, "m3", ["m5"]),
        (
            [
                message(1),
                message(2, "assistant", "F1", status="interrupted", model="offline:guide"),
                message(3, "assistant", replaces="m2", model="openai:gpt"),
            ],
            "",
            ["m1", "m3"],
        ),
        # A summary through a message that is unknown stands for none.
        (TALK, "gone", ["m1", "m2", "m3"]),
    ],
)
def test_what_is_not_said_to_a_model_is_left_out(talk, through, ids):
    summary = Summary("So far.", through) if through else None
    assert [each.id for each in sent(talk, summary=summary)] == ids


def test_prompts_that_nothing_answered_are_sent_as_one_with_the_next_if_they_fit():
    talk = [
        message(1, content="One"),
        message(2, "assistant", "half", status="failed"),
        message(3, content="Two"),
        message(4, "assistant", "", status="interrupted"),
        message(5, content="Three"),
    ]
    assert [(each.role, each.text) for each in sent(talk)] == [("user", "One\n\nTwo\n\nThree")]
    long = [message(1, content="x" * 9000), *talk[1:3]]
    assert [each.text for each in sent(long, window=1000)] == ["Two"]


def test_neighbouring_answers_are_sent_as_one():
    talk = [message(1), message(2, "assistant", "This."), message(3, "assistant", "And that.")]
    assert [each.text for each in sent(talk)] == ["text", "This.\n\nAnd that."]
    talk.append(message(4, "assistant", None, tool_calls=(call(),)))
    assert sent(talk)[1].text == "This.\n\nAnd that."
    assert sent(talk)[1].tool_calls == (call(),)


def test_a_turn_that_was_stopped_among_its_tools_ends_as_an_answered_one_does():
    talk = [message(1), message(2, "assistant", "", tool_calls=(call(),)), message(3)]
    roles = [each.role for each in sent(talk)]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    assert [each.text for each in sent(talk)[2:4]] == ["interrupted", "interrupted"]
    assert sent(talk[:2])[-1].role == "tool"


def test_results_follow_their_calls_in_order_each_its_own_also_with_the_same_id_in_two_turns():
    talk = [
        message(1),
        message(2, "assistant", None, tool_calls=(call("a"), call("b"))),
        message(3, "tool", "for b", tool_call_id="b"),
        message(4, "tool", "for a", tool_call_id="a"),
        message(5),
        message(6, "assistant", "", tool_calls=(call("a"),)),
        message(7, "tool", "again", tool_call_id="a"),
    ]
    results = [each.text for each in sent(talk) if each.role == "tool"]
    assert results == ["for a", "for b", "again"]


def test_a_summary_stands_for_the_messages_up_to_it():
    request = project("Be brief.", Summary(text="They met.", through="m2"), TALK, WIDE).request
    assert [each.id for each in request.messages] == ["m3"]
    assert request.system_prompt == ("Be brief.\n\nSummary of the earlier conversation:\nThey met.")


def test_what_does_not_fit_is_cut_before_a_users_message():
    talk = [
        message(1, content="x" * 3000),
        message(2, "assistant"),
        message(3),
        message(4, "assistant", "", tool_calls=(call(),)),
        message(5, "tool", "y", tool_call_id="c1"),
        message(6, "assistant"),
        message(7),
    ]
    assert [each.id for each in sent(talk, window=800)] == ["m3", "m4", "m5", "m6", "m7"]


def left_out(messages, *, window=WIDE, summary=None):
    return [each.id for each in project("", summary, messages, window).left_out]


def test_what_did_not_fit_is_given_and_nothing_that_a_summary_stands_for():
    talk = [message(1, content="x" * 3000), message(2, "assistant"), message(3)]
    assert left_out(talk, window=800) == ["m1", "m2"]
    assert left_out(talk) == []
    assert left_out(talk, window=800, summary=Summary(text="They met.", through="m2")) == []
    unasked = [message(1, "assistant", "x" * 9000), message(2)]
    assert [m.id for m in sent(unasked, window=800)] == ["m2"]
    assert "m1" in left_out(unasked, window=800)


def test_of_a_large_window_no_more_is_kept_for_the_answer_than_the_longest_takes():
    talk = [message(number, content="word " * 80_000) for number in range(9)]
    assert sum(map(estimated_tokens, talk)) > 0.85 * 1_050_000
    assert left_out(talk, window=1_050_000) == []
    assert left_out(talk, window=1_000_000) == ["m0"]


@pytest.mark.parametrize("summary", [None, Summary(text="They met.", through="m1")])
def test_an_answer_without_a_question_is_sent_behind_a_user_s_message(summary):
    begun, *others = sent(TALK if summary else TALK[1:], summary=summary)
    assert (begun.role, others) == ("user", TALK[1:])
    assert "summary" in begun.text if summary else "answer" in begun.text


def test_a_result_whose_call_is_behind_the_summary_is_sent_as_text():
    talk = [message(1, "assistant", tool_calls=(call(),))]
    talk += [message(2, "tool", "42 files", tool_call_id="c1"), message(3, "assistant"), message(4)]
    result, *others = sent(talk, summary=Summary(text="They met.", through="m1"))
    assert (result.role, result.text) == ("user", "Result of a tool:\n42 files")
    assert others == talk[2:]


def test_without_tools_earlier_calls_and_results_are_text():
    talk = [
        message(1, content="Read both."),
        message(2, "assistant", "I do.", tool_calls=(call("a"), call("b"))),
        message(3, "tool", "one", tool_call_id="a"),
        message(4, "tool", "two", tool_call_id="b"),
        message(5, "assistant", "They differ."),
        message(6, content="How?"),
    ]
    request = project("", None, talk, WIDE).request
    assert [(each.role, each.text, each.tool_calls) for each in request.messages] == [
        ("user", "Read both.", ()),
        (
            "assistant",
            'I do.\n\nCalled read_file with {"path":"a"}.\n\nCalled read_file with {"path":"a"}.',
            (),
        ),
        ("user", "Result of read_file:\none\n\nResult of read_file:\ntwo", ()),
        ("assistant", "They differ.", ()),
        ("user", "How?", ()),
    ]
    # While its tools run, a turn ends with their results.
    assert project("", None, talk[:4], WIDE).request.messages[-1].role == "user"


@st.composite
def conversations(draw):
    talk = []
    for number in range(draw(st.integers(1, 12))):
        role = draw(st.sampled_from(["user", "assistant", "tool"]))
        fields = {"content": draw(any_text())}
        if role == "assistant":
            names = draw(st.lists(st.sampled_from("abc"), max_size=3, unique=True))
            fields["tool_calls"] = tuple(call(name) for name in names)
            fields["status"] = draw(st.sampled_from([None, "failed", "interrupted", "truncated"]))
        if role == "tool":
            fields["tool_call_id"] = draw(st.sampled_from("abcd"))
        if number and role == "assistant":
            fields["replaces"] = draw(st.sampled_from([None, f"m{number - 1}"]))
        talk.append(message(number, role, **fields))
    return [*talk, message(99)]


@given(conversations(), st.integers(0, 4000))
def test_whatever_was_said_every_call_is_followed_by_its_results_and_nothing_else(talk, window):
    messages = sent(talk, window=window)
    waiting = []
    for each in messages:
        if waiting:
            assert (each.role, each.tool_call_id) == ("tool", waiting.pop(0))
            continue
        assert each.role != "tool"
        waiting = [made.id for made in each.tool_calls]
    assert not waiting


@given(conversations(), st.integers(0, 4000))
def test_whatever_was_said_a_users_message_is_first_and_the_last_prompt_is_there(talk, window):
    messages = sent(talk, window=window)
    assert messages[0].role == "user"
    assert messages[-1].id == talk[-1].id
    assert messages[-1].text.endswith(talk[-1].text)
    assert all(each.status != "failed" for each in messages)


@given(conversations(), st.integers(0, 4000))
def test_whatever_was_said_roles_alternate(talk, window):
    said = [m.role for m in sent(talk, window=window) if m.role != "tool" and not m.tool_calls]
    assert said == [("user", "assistant")[place % 2] for place in range(len(said))]


@given(conversations(), st.integers(0, 4000))
def test_what_is_sent_fits_unless_it_is_the_last_turn_alone(talk, window):
    messages = sent(talk, window=window)
    if sum(each.role == "user" for each in messages) > 1:
        assert sum(map(estimated_tokens, messages)) <= window - window // 4


def test_the_definitions_of_tools_take_their_part_of_the_window():
    said = [message(1, content="x" * 400), message(2, "assistant"), message(3)]
    large = ToolDefinition("t", "", {"description": "x" * 3_000})
    whole = project("", None, said, 600)
    assert whole.left_out == ()
    offered = project("", None, said, 600, (large,))
    assert [m.text for m in offered.request.messages] == ["text"]
    request = msgspec.structs.replace(whole.request, tools=(large,))
    assert (fits(whole.request, 600), fits(request, 600)) == (True, False)


def texts(context):
    return [each.text for each in context.messages]


@pytest.fixture
def pages_of_four(monkeypatch):
    monkeypatch.setattr(model_requests, "PAGE", 4)


async def held(new_session, count):
    session = new_session()
    for number in range(count):
        session.add_message("user", f"message {number}")
    await session.save()
    return session


async def test_a_long_session_is_read_back_as_far_as_a_window_takes(
    new_session, store, pages_of_four
):
    session = await held(new_session, 50)
    context = read_context(store.journal(session.id), None, 60)
    assert 4 <= len(context.messages) < 16
    assert texts(context)[-1] == "message 49"
    assert (context.tokens, context.whole) == (60, False)
    context = read_context(store.journal(session.id), None, 100_000)
    assert texts(context) == [f"message {number}" for number in range(50)]
    assert context.whole
    # No further than the page with the summary.
    through = session.session.loaded_messages[45]
    summary = Summary(text="Much was said.", through=through.id)
    context = read_context(store.journal(session.id), summary, 100_000)
    assert through in context.messages
    assert len(context.messages) <= 12
    assert context.whole


async def test_it_ends_at_a_reset(new_session, store, pages_of_four):
    session = await held(new_session, 10)
    session.reset()
    for number in range(6):
        session.add_message("user", f"after {number}")
    await session.save()
    context = read_context(store.journal(session.id), None, 100_000)
    assert texts(context) == [f"after {number}" for number in range(6)]


async def test_what_was_read_already_is_enough_only_if_it_is_all(new_session, store):
    session = await held(new_session, 5)
    context = context_of(session.session)
    assert texts(context) == [f"message {number}" for number in range(5)]
    # Another writing of a message takes its place.
    context.add(context.messages[0])
    assert len(context.messages) == 5
    part = store.journal(session.id).tail(2).session
    assert context_of(part) is None


def says(role, content):
    return Message("m", role, content, "2026-01-01T00:00:00.000Z")


def talk(number, size=1000):
    """So many questions, each with a picture, and their answers."""
    for each in range(number):
        yield says("user", showing(f"See {each}", numbered(each, size)))
        yield says("assistant", "Yes.")


def pictured(messages):
    return project("", None, list(messages), WIDE)


def names(messages):
    return [picture.name for picture in pictures_of(messages)]


def test_as_many_as_a_request_carries_are_sent_and_of_older_ones_the_labels():
    projection = pictured(talk(20))
    assert len(names(projection.request.messages)) == 20
    assert not projection.labelled
    projection = pictured(talk(21))
    assert projection.labelled
    assert names(projection.request.messages) == [f"{number}.png" for number in range(5, 21)]
    assert projection.request.messages[0].text == "See 0\n[image: 0.png, 1 KB]"


def test_of_pictures_labels_come_in_steps_oldest_first_and_spare_the_last_question():
    first, *more = (pictured(talk(number)).request.messages[:12] for number in range(21, 26))
    assert more == [first] * 4, "several requests begin with the same messages"
    last = [f"{number}.png" for number in range(100, 105)]
    many = [*talk(16), says("user", showing("All", *map(numbered, range(100, 105))))]
    assert names(pictured(many).request.messages)[-5:] == last
    many = [says("user", showing("See", *map(numbered, range(22))))]
    (only,) = with_newest_pictures(many)
    assert names([only])[0] == "2.png"
    assert only.text == many[0].text


def test_what_is_too_large_together_is_left_out_but_never_the_newest():
    third = REQUEST_PICTURE_BYTES // 3
    for number, size, sent_names in (
        (4, third, ["3.png"]),
        (3, third, ["0.png", "1.png", "2.png"]),
        (2, 6 * third, ["1.png"]),
    ):
        assert names(pictured(talk(number, size)).request.messages) == sent_names


def test_a_model_that_sees_none_is_sent_labels_and_files():
    content = showing("See", numbered(1), NOTES)
    (only,) = without_pictures([says("user", content)])
    assert only.content == f"See\n[image: 1.png, 1 KB]\n{NOTES.fenced}"


def test_a_picture_counts_more_tokens_than_its_label_a_file_its_text_a_call_its_arguments():
    seen = says("user", showing("See", numbered(1)))
    assert estimated_tokens(seen) == pytest.approx(1_620, abs=20)
    read = says("user", showing("See", NOTES))
    assert estimated_tokens(read) == estimated_tokens(says("user", read.text))
    plain = says("assistant", "text")
    call = ToolCall("c1", "read_file", {"path": "a" * 400})
    calling = msgspec.structs.replace(plain, tool_calls=(call,))
    assert estimated_tokens(calling) > estimated_tokens(plain) + 100


@each_row(
    "text, characters_per_token",
    [
        ("The oldest messages are summarised in the background. ", (3.5, 4)),
        ("    return {'id': call.id, 'size': 4096}\n", (2.5, 3.5)),
        ("3fa9c1e07b", (2, 3.5)),
        ("Самые старые сообщения ", (1.8, 2.5)),
        ("会話を要約する", (1, 1)),
    ],
)
def test_it_is_near_the_counts_of_servers_and_rather_above_them(text, characters_per_token):
    least, most = characters_per_token
    long = text * 1000
    assert least <= len(long) / tokens_of(long) <= most


@given(any_text())
def test_any_text_can_be_weighed(text):
    assert tokens_of(text) >= 0
