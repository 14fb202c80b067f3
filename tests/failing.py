"""What stands in for a function that fails."""


def raiser(error):
    """A function of any arguments that raises this error."""

    def fail(*_, **__):
        raise error

    return fail
