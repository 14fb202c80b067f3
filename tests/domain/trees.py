"""What versions are, in a few lines: each message and the one that it follows."""


class Tree:
    """Messages in the order in which they were said."""

    def __init__(self):
        self.said, self.follows = [], {}

    def say(self, message_id, after):
        self.follows[message_id] = (self.said or [""])[-1] if after is None else after
        self.said.append(message_id)

    def chain(self, message_id):
        return [*self.chain(self.follows[message_id]), message_id] if message_id else []

    @property
    def live(self):
        return self.chain(self.said[-1]) if self.said else []

    def versions(self, message_id):
        return tuple(e for e in self.said if self.follows[e] == self.follows[message_id])
