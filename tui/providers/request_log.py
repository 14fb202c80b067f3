"""The debug log's entries about requests to models: places, sizes and times."""

import asyncio
import logging
import time
from collections.abc import Generator
from contextlib import contextmanager
from urllib.parse import urlsplit

from tui.logs import error_name
from tui.providers.catalog import ModelChoice
from tui.providers.transport import Reply

_log = logging.getLogger(__name__)


@contextmanager
def logged(choice: ModelChoice, attempt: int, reply: Reply) -> Generator[None]:
    """Log the beginning and the end of one attempt to get an answer."""
    address = urlsplit(choice.base_url)
    through = f" through {reply.route.proxy}" if reply.route.proxy else ""
    place = f"{choice.provider} at {address.hostname}:{address.port or address.scheme}{through}"
    _log.info("request to %s: attempt %d begins", place, attempt)
    begun = time.perf_counter()
    end = "complete"
    try:
        yield
    except BaseException as error:
        end = _end(error, reply)
        raise
    finally:
        _log.info(
            "request to %s%s: attempt %d, status %s, first byte %s, %d bytes, %.2f s, %s",
            place,
            # What the address itself has may be a secret.
            reply.path.removeprefix(address.path.rstrip("/")),
            attempt,
            reply.status or "none",
            f"{reply.first_at - begun:.2f} s" if reply.first_at else "none",
            reply.length,
            time.perf_counter() - begun,
            end,
        )


def _end(error: BaseException, reply: Reply) -> str:
    if isinstance(error, GeneratorExit) and reply.is_done:
        return "complete"
    stopped = isinstance(error, GeneratorExit | asyncio.CancelledError)
    return "stopped" if stopped else error_name(error)
