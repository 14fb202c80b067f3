"""Contents that are compressed by zstd."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO

_WINDOW_BYTES = 64 * 1024 * 1024
_BLOCK = 1024 * 1024


def decompressed(stream: BinaryIO) -> Iterator[bytes]:
    """Decompress a stream block by block, as far as it is whole."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    limit: dict[int, int] = {
        zstd.DecompressionParameter.window_log_max: _WINDOW_BYTES.bit_length() - 1
    }
    with zstd.ZstdFile(stream, options=limit) as reader, suppress(zstd.ZstdError, EOFError):
        while block := reader.read1(_BLOCK):
            yield block
