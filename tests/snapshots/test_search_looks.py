"""How the search screen looks."""

from tests.waiting import until


async def test_a_search(world, same_picture):
    w = world()
    await w.session(
        "Where does the index live?", "The index lives beside the journals.", name="Index"
    )
    await w.session(
        "会話の索引 index", "索引はここにあります。", name="日本語", scope="project:/home/u/farm"
    )
    w.store.archive(await w.session("An index of plants", "Ferns first.", name="Garden"))
    async with w.running() as (app, pilot):
        await pilot.press("ctrl+f", *"index")
        await until(lambda: getattr(app.screen, "results_text", None) == "index")
        await until(lambda: any("index" in line for line in app.screen.preview.visible_text()))
        app.screen.line.cursor_blink = False
        await pilot.pause()
        same_picture(app, "search")


async def test_a_search_that_finds_nothing(world, same_picture):
    async with world().running(size=(80, 24)) as (app, pilot):
        await pilot.press("ctrl+f", *"nowhere")
        await until(lambda: getattr(app.screen, "results_text", None) == "nowhere")
        app.screen.line.cursor_blink = False
        await pilot.pause()
        same_picture(app, "search_nothing")
