"""Slow, obvious re-implementations of what the engine does, and measurements of another simulator, to hold it against.

None of them reads the engine; `booksim` runs it, to compare.
"""
