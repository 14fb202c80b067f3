"""Stand-ins for the screen and the workspace: controllers are tested without a terminal."""

from types import SimpleNamespace

from tui.domain.views.shown_session import SessionStatus

_SHARED = "app", "queue", "chat", "parts", "workspace", "presenter", "session_list", "shell", "do"


def shared(**parts):
    """The parts that controllers have in common, as far as a test has them."""
    return [parts.get(name) for name in _SHARED]


class Chat:
    """A chat screen that keeps what it is given."""

    def __init__(self):
        self.shown = []
        self.texts, self.costs, self.thoughts = [], [], []
        self.conversation = self

    def put(self, entry):
        self.shown.append(entry)

    def add_text(self, message_id, text, model=None):
        self.texts.append(text)

    def show_cost(self, message_id, cost):
        self.costs.append(cost)

    def add_thinking(self, message_id, text):
        self.thoughts.append(text)

    def end_thinking(self, message_id, seconds):
        self.thoughts.append(seconds)

    def show_activity(self, activity):
        self.shown.append(activity)

    def show_prompt(self, view):
        pass

    def show_changes(self, view):
        pass

    def show_rows(self, rows, now):
        self.shown.append((rows, now))


class Session:
    """A loaded session as far as controllers look at it."""

    def __init__(self, session_id="session-1", window=1000):
        self.id = session_id
        self.model = SimpleNamespace(name="fake:model", context_window=window)
        self.messages = 2
        self.latest = ()

    def status(self):
        return SessionStatus(self.id, "Label", self.messages, self.model.name, "project:/shop")

    def label(self):
        return "Label"


class Clock:
    """Seconds that move on only when a test says so."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds
