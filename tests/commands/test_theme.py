"""``/theme``, with its texts to the letter."""


async def test_without_a_name_it_says_what_is_shown_and_what_there_is(commands):
    assert await commands("/theme") == "Theme: dark\nThere are: dark, light"


async def test_a_name_is_chosen(commands):
    assert await commands("/theme light") == "Theme: light"
    assert commands.themes.current == "light"


async def test_an_unknown_name_changes_nothing(commands):
    assert await commands("/theme mauve") == "Unknown theme: mauve"
    assert commands.themes.current == "dark"
