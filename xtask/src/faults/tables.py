"""Reads the tables of a ledger in one transaction: a SQLite file or a PostgreSQL server, sharing no code with the program."""

import csv
import io
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time

SERVER_WAIT_S = 60
SETTLE_S = 0.01


class Sqlite:
    """A file, opened for reading only, so that the process that comes next recovers it by itself."""

    name = "sqlite"

    def __init__(self, path):
        self.path = path

    def wait(self):
        """A killed process has nothing running any more."""

    def batch_id(self, batch):
        return batch

    def read(self, queries, alteration=()):
        if not alteration:
            return self.answers(self.path, "ro", queries, [])
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "copy.db")
            for ending in ("", "-wal"):
                if os.path.exists(self.path + ending):
                    shutil.copy(self.path + ending, copy + ending)
            return self.answers(copy, "rw", queries, alteration)

    def answers(self, path, mode, queries, alteration):
        db = sqlite3.connect(f"file:{path}?mode={mode}", uri=True, isolation_level=None)
        try:
            db.execute("BEGIN")
            changed = sum(db.execute(statement).rowcount for statement in alteration)
            if alteration and not changed:
                raise SystemExit(f"error: nothing to alter for {alteration}")
            return [[list(row) for row in db.execute(query)] for query in queries]
        finally:
            db.close()


class Postgres:
    """A server, through psql: one transaction for all questions."""

    name = "postgres"

    def __init__(self, url):
        self.url = url

    def wait(self):
        """The server may still be at work for a process that is gone."""
        busy = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'punctual' AND datname = current_database()"
        until = time.monotonic() + SERVER_WAIT_S
        while self.read([busy])[0][0][0] != 0:
            if time.monotonic() > until:
                raise SystemExit("error: the server still works for a process that was killed")
            time.sleep(SETTLE_S)

    def batch_id(self, batch):
        return "-".join([batch[:8], batch[8:12], batch[12:16], batch[16:20], batch[20:]])

    def read(self, queries, alteration=()):
        mark = "----8<----"
        script = ["BEGIN ISOLATION LEVEL REPEATABLE READ;", *(f"{statement};" for statement in alteration)]
        for query in queries:
            script += [f"COPY ({query}) TO STDOUT WITH (FORMAT csv);", f"\\echo {mark}"]
        script.append("ROLLBACK;")
        words = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.url]
        done = subprocess.run(words, input="\n".join(script), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"error: psql: {done.stderr}")
        parts = done.stdout.split(mark + "\n")
        return [[[value(cell) for cell in row] for row in csv.reader(io.StringIO(part))] for part in parts[:-1]]


def value(cell):
    if cell == "":
        return None
    return int(cell) if cell.lstrip("-").isdigit() and len(cell) <= 18 else cell


def database(place):
    return Postgres(place) if place.startswith("postgres://") else Sqlite(place)
