"""Previews of sessions: a few of their messages, read without a lease."""

from tui.domain.journal.message import Message
from tui.domain.search.query import parse
from tui.domain.search.search_results import Preview, preview
from tui.errors import StorageError
from tui.storage.protocol import JournalReader

_AROUND = 6


def preview_of(
    reader: JournalReader, session_id: str, message_id: str | None = None, query: str = ""
) -> Preview:
    """The messages around one, or the last ones; the words of ``query`` are marked.

    What cannot be read is a preview that says why. Blocks on the disk.
    """
    try:
        journal = reader.journal(session_id)
        if message_id is None:
            entries = journal.tail(2 * _AROUND).session.entries
        else:
            entries = journal.around(message_id, _AROUND, _AROUND).entries
    except StorageError as error:
        return Preview(message_id, error=str(error))
    messages = [entry for entry in entries if isinstance(entry, Message)]
    return preview(parse(query), message_id, messages)
