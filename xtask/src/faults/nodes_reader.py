"""Judges the ledger that several nodes on one PostgreSQL have left, sharing no code with the program.

usage: nodes_reader.py judge URL NOTES THROUGH
       nodes_reader.py self-test URL NOTES THROUGH

It knows the tables and, from a schedule's name, its ticks: `m-5-3-00042` ticks at each second that leaves 3 when divided
by 5, and writes a message; one that begins with `w` calls the web, one with `p` starts a program. Each of its ticks from
its creation up to THROUGH must have exactly one row, or be in exactly one range, and be closed: run, or not run with a
reason. NOTES has a line of JSON for each thing that happened to a node: what, when, its shards, the runs it had in flight.
Prints one line of JSON. `self-test` alters a row of each kind, each time undone, and fails if one goes unnoticed.
"""

import collections
import csv
import io
import json
import subprocess
import sys

SCHEDULES = "SELECT key, name, created_at FROM schedules"
RUNS = """
SELECT key, schedule, scheduled_for, status, reason, attempt, shard, fire_at, enqueued_at, completed_at
FROM runs WHERE origin = 'tick'
"""
RANGES = "SELECT schedule, first, last, count, reason FROM run_ranges"
MESSAGES = "SELECT run, count(*) FROM outbox GROUP BY run"
UNTOLD = """
SELECT r.key, r.attempt, count(a.number) FROM runs r LEFT JOIN attempts a ON a.run = r.key AND a.number < r.attempt
WHERE r.attempt > 1 GROUP BY r.key, r.attempt HAVING count(a.number) <> r.attempt - 1
"""
CLOSED = {"success", "failed", "cancelled", "skipped", "missed"}
# A tick that was due this long before a node was lost, or after it, may have been its own.
BEFORE_S, AFTER_S = 2, 10
# When the ticks of the start are over.
FIRST_S = 10
# What a node wrote before it was stopped may be committed a moment later.
STOPPED_LATE_US = 1_000_000

Run = collections.namedtuple("Run", "key schedule tick status reason attempt shard fire_at enqueued_at completed_at")


def read(url, queries, alteration=None):
    mark = "----8<----"
    script = ["BEGIN ISOLATION LEVEL REPEATABLE READ;", *([f"{alteration};"] if alteration else [])]
    for query in queries:
        script += [f"COPY ({query}) TO STDOUT WITH (FORMAT csv);", f"\\echo {mark}"]
    script.append("ROLLBACK;")
    words = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url]
    done = subprocess.run(words, input="\n".join(script), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"error: psql: {done.stderr}")
    parts = done.stdout.split(mark + "\n")
    return [[[value(cell) for cell in row] for row in csv.reader(io.StringIO(part))] for part in parts[:-1]]


def value(cell):
    if cell == "":
        return None
    return int(cell) if cell.lstrip("-").isdigit() else cell


class Judge:
    def __init__(self, notes, through):
        self.notes, self.through = notes, through
        self.problems, self.ends = [], collections.Counter()
        self.ticks = self.lost = self.doubled = self.open = self.stale_counted = 0

    def say(self, text):
        self.problems.append(text)

    def judge(self, url, alteration=None):
        schedules, runs, ranges, messages, untold = read(url, [SCHEDULES, RUNS, RANGES, MESSAGES, UNTOLD], alteration)
        self.names = {key: name for key, name, _ in schedules}
        self.begun = max((made for _, _, made in schedules), default=0) // 1_000_000
        self.runs = [Run(*row) for row in runs]
        rows, covered = collections.defaultdict(list), collections.defaultdict(list)
        for run in self.runs:
            rows[run.schedule].append(run)
        for schedule, first, last, count, reason in ranges:
            covered[schedule].append((first, last, count, reason))
        for key, name, created_at in schedules:
            self.judge_schedule(name, created_at, rows[key], covered[key])
        self.judge_messages({run: count for run, count in messages})
        for run, attempt, told in untold:
            self.say(f"run {run} is at attempt {attempt} and has {told} earlier ones")
        self.events = [self.judge_event(note) for note in self.notes]

    def judge_schedule(self, name, created_at, runs, ranges):
        _, period, phase, _ = name.split("-")
        period, phase = int(period), int(phase)
        found = collections.Counter(run.tick for run in runs)
        for first, last, count, reason in ranges:
            stands_for = [tick for tick in range(first, last + 1) if tick % period == phase]
            if len(stands_for) != count or not reason:
                self.say(f"{name}: the range {first}..{last} says {count} ticks, reason {reason}")
            found.update(stands_for)
            self.ends[f"range {reason}"] += len(stands_for)
        # A schedule of a file may tick in the very second in which it is made.
        made = created_at // 1_000_000
        begin = made if made in found else made + 1
        begin += (phase - begin) % period
        for tick in range(begin, self.through + 1, period):
            self.ticks += 1
            count = found.pop(tick, 0)
            if count == 0:
                self.lost += 1
                self.say(f"{name}: no entry for {tick}")
            elif count > 1:
                self.doubled += 1
                self.say(f"{name}: {count} entries for {tick}")
        for tick, count in found.items():
            # What is planned beyond the end is no matter, as long as it is there once and where a tick is.
            if count > 1 or tick <= self.through or tick % period != phase:
                self.doubled += 1
                self.say(f"{name}: {count} entries for {tick}, where none or one belongs")
        for run in runs:
            if run.tick <= self.through:
                self.judge_end(name, run)

    def judge_end(self, name, run):
        if run.status not in CLOSED:
            self.open += 1
            self.say(f"{name} at {run.tick}: still {run.status}")
        elif run.status == "success":
            self.ends["success"] += 1
        else:
            self.ends[f"{run.status} {run.reason}"] += 1
            if not run.reason:
                self.say(f"{name} at {run.tick}: {run.status} without a reason")
        if run.enqueued_at is not None and run.enqueued_at < run.tick * 1_000_000:
            self.say(f"{name} at {run.tick}: admitted {run.tick * 1_000_000 - run.enqueued_at} us early")

    def judge_messages(self, messages):
        for run in self.runs:
            count = messages.pop(run.key, 0)
            if self.names[run.schedule].startswith("m") and count != (1 if run.attempt > 0 else 0):
                self.say(f"run {run.key} is {run.status} at attempt {run.attempt} and wrote {count} messages")
        for run, count in messages.items():
            self.say(f"{count} messages are of run {run}, which is not there")

    def judge_event(self, note):
        """How late the ticks were that a lost node should have admitted, and whether what it said later counted."""
        at, shards, held = note["at"], set(note.get("shards", ())), note.get("held", ())
        worst = 0
        for run in self.runs:
            near = at - BEFORE_S <= run.tick <= at + AFTER_S
            # A run that was repeated shows when it was admitted last.
            if near and run.shard in shards and run.attempt == 1 and run.enqueued_at is not None:
                worst = max(worst, run.enqueued_at - run.fire_at)
        counted = 0
        if note["event"] == "stop":
            known = {run.key: run for run in self.runs}
            for one in held:
                key, attempt = one["run"], one["attempt"]
                run = known.get(key)
                is_other = run is None or self.names[run.schedule].startswith("m")
                if not is_other and run.attempt == attempt and (run.completed_at or 0) > at * 1_000_000 + STOPPED_LATE_US:
                    counted += 1
                    self.say(f"run {key}: what the stopped node said of it counted")
        self.stale_counted += counted
        return {"event": note["event"], "late_ms": round(worst / 1_000, 1), "held": len(held)}

    def lateness(self):
        """Of all ticks but the first, which are due while the schedules are still being made."""
        late = sorted(
            run.enqueued_at - run.fire_at
            for run in self.runs
            if self.begun + FIRST_S < run.tick <= self.through and run.attempt == 1 and run.enqueued_at is not None
        )
        if not late:
            return {}
        part = lambda share: round(late[min(len(late) - 1, int(len(late) * share))] / 1_000, 1)
        return {"p50_ms": part(0.5), "p99_ms": part(0.99), "max_ms": round(late[-1] / 1_000, 1)}

    def summary(self):
        return {
            "problems": self.problems[:20],
            "count": len(self.problems),
            "ticks": self.ticks,
            "lost": self.lost,
            "doubled": self.doubled,
            "open": self.open,
            "stale_counted": self.stale_counted,
            "ends": dict(self.ends),
            "lateness": self.lateness(),
            "events": self.events,
        }


def alterations(judge):
    """A row of each kind, altered."""
    # Of a schedule that does not tick each second, so that there is room for a row where no tick is, and later than the
    # second in which the schedules were made, in which a tick may be or not.
    is_apart = lambda run: int(judge.names[run.schedule].split("-")[1]) > 1
    done = (run for run in judge.runs if run.status == "success" and judge.begun < run.tick <= judge.through)
    ended = next(run for run in done if is_apart(run))
    kind = lambda letter: (run for run in judge.runs if judge.names[run.schedule].startswith(letter) and run.attempt > 0)
    columns = "org, schedule, origin, nonce, shard, fire_at, look_at, status, reason, detail, version, tz, attempt"
    yield "a run that vanished", f"DELETE FROM runs WHERE key = {ended.key}"
    yield "a tick twice", f"INSERT INTO runs (scheduled_for, {columns}) SELECT scheduled_for, {columns.replace('nonce', chr(39) + 'again' + chr(39))} FROM runs WHERE key = {ended.key}"
    yield "a row where no tick is", f"INSERT INTO runs (scheduled_for, {columns}) SELECT scheduled_for + 1, {columns} FROM runs WHERE key = {ended.key}"
    yield "a run that did not end", f"UPDATE runs SET status = 'running' WHERE key = {ended.key}"
    yield "a failure without a reason", f"UPDATE runs SET status = 'failed', reason = NULL WHERE key = {ended.key}"
    yield "an admission before its time", f"UPDATE runs SET enqueued_at = scheduled_for * 1000000 - 1 WHERE key = {ended.key}"
    yield "a range over a row", f"INSERT INTO run_ranges (schedule, first, last, org, count, status, reason, detail, version, recorded_at) SELECT schedule, scheduled_for, scheduled_for, org, 1, 'missed', 'late', '', 1, 0 FROM runs WHERE key = {ended.key}"
    yield "an attempt that nobody told of", f"UPDATE runs SET attempt = attempt + 2 WHERE key = {ended.key}"
    message = next(kind("m"), None)
    if message:
        yield "a message that vanished", f"DELETE FROM outbox WHERE run = {message.key}"
        yield "a message twice", f"INSERT INTO outbox (org, run, attempt, message_id, body, at) SELECT org, run, attempt + 1, message_id, body, at FROM outbox WHERE run = {message.key}"


def self_test(url, notes, through):
    judge = Judge(notes, through)
    judge.judge(url)
    unnoticed = ["the ledger was not sound before"] if judge.problems else []
    count = 0
    for name, statement in alterations(judge):
        count += 1
        altered = Judge(notes, through)
        altered.judge(url, statement)
        if not altered.problems:
            unnoticed.append(f"{name}: nothing was noticed")
    print(json.dumps({"problems": unnoticed, "count": len(unnoticed), "alterations": count}))
    return 1 if unnoticed else 0


def main(command, url, notes_file, through):
    with open(notes_file, encoding="utf-8") as lines:
        notes = [json.loads(line) for line in lines]
    if command == "self-test":
        return self_test(url, notes, int(through))
    judge = Judge(notes, int(through))
    judge.judge(url)
    print(json.dumps(judge.summary()))
    return 1 if judge.problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
