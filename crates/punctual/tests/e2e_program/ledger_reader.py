"""Reads the tables of a ledger of per-second schedules and judges them, sharing no code with the program.

usage: ledger_reader.py DATABASE NOTES THROUGH

NOTES holds an idempotency key and the number of an attempt per line, written by each program that was started. For
every schedule, each second after its creation and up to THROUGH must have exactly one entry or be covered by exactly
one range; an entry that did not run must have a reason; an attempt may have been noted once at most, none beyond those
that the entry counts, and the last one exactly once if its run succeeded.
"""

import collections
import hashlib
import sqlite3
import sys

RAN = {"success", "failed"}
DID_NOT_RUN = {"missed", "skipped"}


def key_of(schedule_id, tick):
    return hashlib.sha256(f"{schedule_id}:{tick}".encode()).hexdigest()


def judge_schedule(db, schedule, through, notes, totals):
    key, schedule_id, created_at = schedule
    entries = collections.defaultdict(list)
    rows = db.execute("SELECT scheduled_for, status, reason, attempt FROM runs WHERE schedule = ?", (key,))
    for tick, status, reason, attempts in rows:
        entries[tick].append((status, reason, attempts))
    for first, last, count, reason in db.execute(
        "SELECT first, last, count, reason FROM run_ranges WHERE schedule = ?", (key,)
    ):
        if count != last - first + 1:
            yield f"{schedule_id}: the range {first}..{last} says {count} ticks"
        for tick in range(first, last + 1):
            entries[tick].append(("missed", reason, 0))
    for tick in range(created_at // 1_000_000 + 1, through + 1):
        found = entries.get(tick, [])
        if len(found) != 1:
            yield f"{schedule_id} at {tick}: {len(found)} entries: {found}"
            continue
        status, reason, attempts = found[0]
        totals[f"{status} {reason}" if reason else status] += 1
        totals["repeated in doubt"] += max(attempts - 1, 0)
        started = notes.get(key_of(schedule_id, tick), collections.Counter())
        if status not in RAN | DID_NOT_RUN:
            yield f"{schedule_id} at {tick}: still {status}"
        if status != "success" and not reason:
            yield f"{schedule_id} at {tick}: {status} without a reason"
        for attempt, times in started.items():
            if times > 1:
                yield f"{schedule_id} at {tick}: attempt {attempt} started {times} times"
            if attempt > attempts:
                yield f"{schedule_id} at {tick}: attempt {attempt} of {attempts} was started"
        if status == "success" and started[attempts] != 1:
            yield f"{schedule_id} at {tick}: a success whose attempt {attempts} started {started[attempts]} times"
        if status in DID_NOT_RUN and started:
            yield f"{schedule_id} at {tick}: {status}, but it was started"


def main(database, notes_file, through):
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    with open(notes_file, encoding="ascii") as lines:
        notes = collections.defaultdict(collections.Counter)
        for line in lines:
            key, attempt = line.split()
            notes[key][int(attempt)] += 1
    totals = collections.Counter()
    schedules = db.execute("SELECT key, id, created_at FROM schedules").fetchall()
    problems = [
        problem
        for schedule in schedules
        for problem in judge_schedule(db, schedule, through, notes, totals)
    ]
    known = {
        key_of(schedule_id, tick)
        for schedule_id, tick in db.execute(
            "SELECT s.id, r.scheduled_for FROM runs AS r JOIN schedules AS s ON s.key = r.schedule"
        )
    }
    problems += [f"{key} was started and has no entry" for key in notes if key not in known]
    repeated = totals.pop("repeated in doubt", 0)
    starts = sum(sum(attempts.values()) for attempts in notes.values())
    print(f"{len(schedules)} schedules, {sum(totals.values())} ticks, {starts} starts, {repeated} attempts repeated in doubt")
    for what, count in sorted(totals.items()):
        print(f"  {count:8} {what}")
    nodes = db.execute("SELECT count(*) FROM nodes").fetchone()[0]
    print(f"  {nodes:8} times a server started")
    print(f"  {len(problems):8} problems")
    for problem in problems[:20]:
        print(f"    {problem}")
    return 1 if problems or not totals else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
