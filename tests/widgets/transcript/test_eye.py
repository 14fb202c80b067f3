"""The row under the reader's eye, on a real screen: what is painted there stays."""

import random

import pytest

from tests.visible_text import visible_text
from tests.waiting import until
from tests.widgets.transcript.conftest import answered, asked, calling, numbered, result
from tui.domain.journal.records import Summary

LOREM = "Some words of an answer that go on for a while so that they take a few rows. "


def entry(chance, number):
    text = LOREM * chance.randint(1, 9)
    made = [
        lambda: asked(text, f"e{number}"),
        lambda: answered(f"{text}\n\n```py\nx = {number}\n```\n\n- {text}\n- b", f"e{number}"),
        lambda: calling(f"e{number}", arguments={"text": text}),
        lambda: result(f"{text}\n" * 5, f"e{number}"),
        lambda: Summary(text, "x"),
    ]
    return chance.choice(made)()


def happenings(chance, transcript, numbers):
    def fold():
        items = [i for i in transcript.conversation.layout if i.foldable]
        top = transcript.conversation.seen[0].spot.item
        if items := [item for item in items if item is not top]:
            transcript.conversation.fold(chance.choice(items))
            transcript._draw()

    return {
        "put": lambda: transcript.conversation.put(entry(chance, next(numbers))),
        "prepend": lambda: transcript.conversation.prepend(
            [entry(chance, next(numbers)) for _ in range(chance.randint(1, 20))], earlier=True
        ),
        "stream": lambda: transcript.conversation.add_text(
            "stream", LOREM + "\n\n" * chance.randint(0, 1)
        ),
        "fold": fold,
        "queue": lambda: transcript.conversation.show_queued([LOREM] * chance.randint(0, 2)),
    }


async def resize(app, pilot, chance):
    width, height = chance.randint(40, 100), chance.randint(15, 40)
    await pilot.resize_terminal(width, height)
    await until(lambda: app.transcript.size == (width, height - 3))
    await pilot.pause()


@pytest.mark.full
@pytest.mark.parametrize("seed", range(6))
async def test_the_row_at_the_top_of_the_screen_stays(opened, seed):
    chance = random.Random(seed)
    numbers = iter(range(10_000))
    shown = [entry(chance, next(numbers)) for _ in range(60)]
    async with opened(*shown, earlier=True) as (app, pilot):
        transcript = app.transcript
        await pilot.press("pageup", "pageup", "up")
        for _ in range(60):
            assert not transcript.conversation.following
            row = transcript.conversation.seen[0]
            before = visible_text(transcript)[0]
            what = chance.choice(["put", "prepend", "stream", "fold", "queue", "resize", "move"])
            if what == "resize":
                await resize(app, pilot, chance)
                assert transcript.conversation.seen[0].spot.item is row.spot.item
                assert transcript.conversation.seen[0].spot.block == row.spot.block
            elif what == "move":
                transcript.action_move(-chance.randint(1, 5))
            else:
                happenings(chance, transcript, numbers)[what]()
                if what == "stream":
                    await until(lambda: transcript._timer is None)
                assert visible_text(transcript)[0] == before
            assert transcript.scroll_y == transcript.conversation.reader.rows_above()


async def test_what_was_guessed_wrong_above_moves_nothing(opened):
    """Blank lines and long words are nothing that a guess from afar gets right."""
    odd = [answered("\n\n".join("a" * n for n in range(1, 40)), f"odd{n}") for n in range(30)]
    async with opened(*odd, *numbered(40)) as (app, pilot):
        await pilot.press("pageup")
        before, scrolled = visible_text(app.transcript), app.transcript.scroll_y
        conversation = app.conversation
        for key in ("odd3", "odd17", "odd29"):
            item = conversation.items[key]
            for block in range(len(item.blocks())):
                conversation._measure(item, block)
        app.transcript._draw()
        assert visible_text(app.transcript) == before
        assert app.transcript.scroll_y != scrolled


async def test_every_row_passes_once_on_the_way_up(opened):
    texts = [f"word{n} " * (n % 50 + 1) for n in range(60)]
    shown = [answered(f"{text}\n\n- {text}", f"a{n}") for n, text in enumerate(texts)]
    async with opened(*shown) as (app, _):
        transcript = app.transcript
        seen = visible_text(transcript)
        for _ in range(5000):
            before = transcript.scroll_y
            transcript.action_move(-1)
            if transcript.conversation.reader.rows_above() == 0 and before == 0:
                break
            seen.insert(0, visible_text(transcript)[0])
        words = " ".join(seen).split()
        expected = ["●", "answer", *" ".join(f"{text} • {text}" for text in texts).split()]
        assert words == expected
