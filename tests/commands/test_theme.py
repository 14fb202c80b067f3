"""``/theme``, with its texts to the letter."""


async def test_without_a_name_the_user_picks_one(commands):
    await commands("/theme")
    assert commands.calls == [("open", "themes")]


async def test_a_name_is_chosen(commands):
    assert await commands("/theme light") == "Theme: light"
    assert commands.themes.current == "light"


async def test_an_unknown_name_changes_nothing(commands):
    assert await commands("/theme mauve") == "Unknown theme: mauve"
    assert commands.themes.current == "dark"
