"""JPEG files as bytes: how to have a decoder stop early."""
from __future__ import annotations

__all__ = ['cut_off_below']

START, END, SCAN = b'\xff\xd8', b'\xff\xd9', 0xda
SEQUENTIAL_FRAMES = (0xc0, 0xc1)  # others come in several scans, each over the whole picture
# Colours are often stored at half the height, and each row of them is smoothed with the next.
MARGIN = 16


def cut_off_below(data: bytes, rows: int) -> bytes:
    """Return a JPEG file that claims to be less high, so that decoders stop early.

    The rows that are left have exactly the same pixels.

    Parameters
    ----------
    data : bytes
        The file.
    rows : int
        How many rows are needed.

    Returns
    -------
    bytes
        Some more rows than needed are left. The same file, where it is of a kind that cannot be
        cut off, is not complete, or would not get less high.
    """
    found = _frame(data)
    if found is None or not data.endswith(END):
        return data
    place, height = found
    rows += MARGIN
    if rows >= height:
        return data
    return b''.join((data[:place], rows.to_bytes(2, 'big'), data[place + 2:]))


def _frame(data: bytes) -> tuple[int, int] | None:
    """Return where the height stands, and what it is, of a picture stored in a single scan."""
    place = len(START)
    components = found = None
    while place + 4 <= len(data) and data[place] == 0xff:
        marker = data[place + 1]
        if marker == 0xff:  # padding
            place += 1
            continue
        length = int.from_bytes(data[place + 2:place + 4], 'big')
        if length < 2 or place + 10 > len(data):
            return None
        if marker in SEQUENTIAL_FRAMES:
            found = place + 5, int.from_bytes(data[place + 5:place + 7], 'big')
            components = data[place + 9]
        elif marker == SCAN:
            return found if data[place + 4] == components else None
        place += 2 + length
    return None
