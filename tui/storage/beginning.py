"""The beginning of a session that was not written to."""

import msgspec

from tui.domain.journal.records import VERSION, SessionHeader


class Beginning(msgspec.Struct, frozen=True):
    """The fields of a header, for a session that has no journal yet."""

    scope: str
    project_path: str
    model: str
    created_at: str
    forked_from: str | None
    imported_from: str | None

    def header(self, session_id: str, ordinal: int = 0) -> SessionHeader:
        """Make the header; the number 0 means none yet."""
        return SessionHeader(
            version=VERSION,
            id=session_id,
            created_at=self.created_at,
            scope=self.scope,
            ordinal=ordinal,
            project_path=self.project_path,
            model=self.model,
            forked_from=self.forked_from,
            imported_from=self.imported_from,
        )
