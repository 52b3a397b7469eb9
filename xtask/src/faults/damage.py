"""Overwrites one page of a SQLite file that nobody has open: the first page of a table, or of the file.

usage: damage.py FILE TABLE|header
"""

import sqlite3
import sys


def place_of(path, table):
    """Where the page begins, and how long pages are. What is still in the log goes into the file first."""
    line = sqlite3.connect(path, isolation_level=None)
    busy, _, _ = line.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        sys.exit(f"{path} is in use")
    (size,) = line.execute("PRAGMA page_size").fetchone()
    if table == "header":
        return 0, size
    (root,) = line.execute("SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?", (table,)).fetchone()
    line.close()
    return (root - 1) * size, size


def main():
    path, table = sys.argv[1:]
    start, size = place_of(path, table)
    with open(path, "r+b") as file:
        file.seek(start)
        file.write(b"\xaa" * size)


main()
