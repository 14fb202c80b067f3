"""The real program in one minute of one day, so that each film of it is the same.

python -m tests.picture.still_clock [ARGUMENT...]
"""

import itertools
import sys
import time
from datetime import timedelta
from unittest.mock import patch

from tests.picture.conversations import NOW
from tui.domain import timestamps

if __name__ == "__main__":
    sys.argv[0] = "sibyl-tui"
    began = time.monotonic()
    # Before any module takes the function by its name.
    timestamps.utc_now = lambda: NOW + timedelta(seconds=min(time.monotonic() - began, 59))
    # The default of the stopwatch that counts the seconds of an answer.
    with patch("time.monotonic", lambda: 0.0):
        import tui.app.controllers.controller  # noqa: F401
    from tui.storage import file_holding

    numbers = itertools.count(1)
    new_session_id = file_holding.new_session_id
    file_holding.new_session_id = lambda now, _: new_session_id(now, next(numbers))
    from tui.__main__ import main

    main()
