from types import SimpleNamespace

from tests.app.controllers.stand_ins import Chat, Clock, Session
from tui.app.controllers.turn_timer import TurnTimer
from tui.engine.sessions.activity import Activity


class Program:
    """The application's timer, and the session on screen."""

    def __init__(self):
        self.ticks = None
        self.painted = 0
        self.current = None

    def set_interval(self, _, tick):
        self.ticks = tick
        return SimpleNamespace(stop=self.stop)

    def stop(self):
        self.ticks = None

    def show_status(self):
        self.painted += 1


class World:
    """Two sessions that may answer, the first on screen."""

    def __init__(self):
        self.program, self.chat, self.clock = Program(), Chat(), Clock()
        self.here, self.elsewhere = self.session("here"), self.session("elsewhere")
        self.program.current = self.here
        program = self.program
        self.timer = TurnTimer(program, self.chat, program, program, self.clock)

    def session(self, session_id):
        session = Session(session_id)
        session.activity = Activity()
        session.activity.begin_answer()
        session.opened = SimpleNamespace(arriving=f"answer-{session_id}")
        return session

    def tick(self, seconds):
        self.clock.seconds = seconds
        self.program.ticks()


def test_the_seconds_of_all_answers_are_counted_and_those_on_screen_shown():
    world = World()
    world.timer.begin(world.here)
    world.clock.seconds = 2.0
    world.timer.begin(world.elsewhere)
    world.tick(5.4)
    assert world.here.activity.answering_for == 5
    assert world.elsewhere.activity.answering_for == 3
    assert world.chat.shown == [("answer-here", 5)]
    assert world.program.painted == 1


def test_an_answer_elsewhere_is_not_shown():
    world = World()
    world.timer.begin(world.elsewhere)
    world.tick(1.0)
    assert world.chat.shown == []
    assert world.program.painted == 0


def test_before_the_first_record_of_an_answer_only_the_status_is_painted():
    world = World()
    world.here.opened.arriving = None
    world.timer.begin(world.here)
    world.tick(1.0)
    assert world.chat.shown == []
    assert world.program.painted == 1


def test_the_timer_runs_only_while_there_is_an_answer():
    world = World()
    world.timer.begin(world.here)
    world.timer.begin(world.elsewhere)
    world.timer.end(world.here)
    assert world.program.ticks is not None
    world.timer.end(world.elsewhere)
    assert world.program.ticks is None
    world.timer.end(world.elsewhere)
    world.timer.begin(world.here)
    assert world.program.ticks is not None
