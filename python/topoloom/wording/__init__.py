"""Words of messages and reports."""


def counted(number: int, one: str, several: str | None = None) -> str:
    """Return a number of things in words.

    Args:
        number: The number of things.
        one: The word and the verb for one thing, unchecked.
        several: Those for several; unless given, the word for one with an s.

    >>> counted(1, "point is", "points are"), counted(2, "point")
    ('1 point is', '2 points')
    """
    return f"{number:,} {one if number == 1 else several or one + 's'}"
