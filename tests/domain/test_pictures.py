import pytest

from tui.domain.pictures import media_type_of


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a\x01", "image/gif"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
def test_a_picture_is_known_by_its_bytes(data, kind):
    assert media_type_of(data) == kind


@pytest.mark.parametrize("data", [b"", b"RIFF\x24\0\0\0WAVE", b"\x89PNG", b"GIF", b"BM", b"<svg>"])
def test_other_bytes_are_no_picture(data):
    assert media_type_of(data) is None
