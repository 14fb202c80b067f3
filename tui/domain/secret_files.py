"""The names of files that hold secrets: the user is asked before one is sent to a model."""

from fnmatch import fnmatchcase
from pathlib import PurePath

_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", "gcloud"})
_NAMES = frozenset(
    {
        *(".env", ".envrc", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf"),
        *(".git-credentials", ".htpasswd", ".vault-token", ".dockercfg", ".bash_history"),
        *("credentials", "credentials.json", "secrets.json", "shadow", "connections.toml"),
    }
)
_PATTERNS = (
    *(".env.*", "*.env", "id_*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore"),
    *("*.kdbx", "*.ppk", "*.asc", "*.gpg", "secrets.*"),
)


def holds_secrets(path: PurePath) -> bool:
    """Tell by its names whether a file or folder holds secrets, such as ``~/.ssh/id_rsa``."""
    parts = [part.casefold() for part in path.parts]
    name = parts[-1] if parts else ""
    is_ours = parts[-3:-1] == ["sibyl", "keys"] or parts[-2:] == ["sibyl", "config.toml"]
    if is_ours or not _FOLDERS.isdisjoint(parts):
        return True
    return name in _NAMES or any(fnmatchcase(name, pattern) for pattern in _PATTERNS)
