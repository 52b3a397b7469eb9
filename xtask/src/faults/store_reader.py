"""Reads the tables behind a store that was killed and judges them against the notes of the killed process.

usage: store_reader.py judge DATABASE NOTES...
       store_reader.py self-test DATABASE NOTES...

DATABASE is a path (SQLite) or a URL (PostgreSQL, read through psql). Shares no code with the program: it knows the
tables, and from a schedule's name its period and its kind (`p10-guard-000042`). Prints one line of JSON; `problems` is
what must be empty. `self-test` alters a row of each kind, each time undone, and fails if one alteration goes unnoticed.
"""

import collections
import json
import sys

import tables

IN_FLIGHT = ("enqueued", "running")
EXCLUSIVE = {"skip", "queue", "max", "retry", "cancel"}
ENDED = {"success", "failed", "cancelled", "skipped", "missed"}
RUNS_MAX = 25
CHUNK = 5_000

SCHEDULES = """
SELECT d.key, d.name, d.org, d.created_at, s.status, s.planned_through, s.active_run, s.admitted, s.run_count,
       s.success_count, s.failure_count, s.spent_at,
       (SELECT count(*) FROM audit_events e WHERE e.schedule = d.key AND e.kind = 'schedule.created')
FROM schedules d LEFT JOIN schedule_state s ON s.schedule = d.key
"""
TICKS = """
SELECT schedule, count(*), min(scheduled_for), max(scheduled_for), count(DISTINCT scheduled_for),
       sum(scheduled_for % 5), sum(scheduled_for % 10), sum(scheduled_for % 20),
       sum(CASE WHEN status = 'success' THEN 1 ELSE 0 END),
       sum(CASE WHEN status = 'failed' AND reason <> 'superseded' THEN 1 ELSE 0 END),
       sum(CASE WHEN status = 'cancelled' THEN 1 ELSE 0 END),
       sum(CASE WHEN attempt > 0 THEN 1 ELSE 0 END)
FROM runs WHERE origin = 'tick' GROUP BY schedule
"""
FLIGHTS = "SELECT key, schedule, org FROM runs WHERE status IN ('enqueued', 'running')"
RANGES = "SELECT schedule, first, last, count FROM run_ranges"
COVERED_TWICE = """
SELECT r.key FROM run_ranges g JOIN runs r ON r.schedule = g.schedule AND r.scheduled_for BETWEEN g.first AND g.last
WHERE r.origin = 'tick'
"""
UNTOLD = """
SELECT r.key, r.attempt, count(a.number) FROM runs r LEFT JOIN attempts a ON a.run = r.key AND a.number < r.attempt
WHERE r.attempt > 1 GROUP BY r.key, r.attempt HAVING count(a.number) <> r.attempt - 1
"""
GUARDS = "SELECT org, key, run FROM guards"
LANES = "SELECT org, key, run FROM lanes"
USE = "SELECT u.org, u.in_flight FROM org_use u WHERE EXISTS (SELECT 1 FROM limits l WHERE l.org = u.org)"


class Notes:
    """What the killed process asked and what it was told."""

    def __init__(self, files):
        self.acked, self.open, self.fails = [], [], []
        self.submits = self.busy_us = self.commits = self.last_now = 0
        for file in files:
            self.add(file)

    def add(self, file):
        asked, commits, times = {}, 0, []
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                if not line.endswith("\n"):
                    continue
                word, number, micros, rest = line.rstrip("\n").split(" ", 3)
                times.append(int(micros))
                if word == "submit":
                    kind, batch, now, body = rest.split(" ", 3)
                    asked[number] = (kind, batch)
                    self.submits += 1
                    self.last_now = max(self.last_now, int(now))
                elif word == "ack":
                    count, body = rest.split(" ", 1)
                    commits = max(commits, int(count))
                    self.acked.append((*asked.pop(number), json.loads(body)))
                else:
                    self.fails.append(rest)
                    asked.pop(number)
        self.open += asked.values()
        self.commits += commits
        self.busy_us += max(times) - min(times) if times else 0


class Judge:
    def __init__(self, notes):
        self.notes, self.problems = notes, []

    def say(self, text):
        self.problems.append(text)

    def judge(self, database, alteration=()):
        notes = self.notes
        runs = sorted({row[0] for kind, _, body in notes.acked if kind in ("admit", "settle", "settle-again", "mark") for row in body})
        ids = sorted({batch for kind, batch, _ in notes.acked if kind != "create"} | {batch for kind, batch in notes.open if kind != "create"})
        runs_asked = [f"SELECT key, status, attempt FROM runs WHERE key IN ({','.join(map(str, part))})" for part in chunks(runs)]
        ids_asked = [
            "SELECT id, count(*) FROM batches WHERE id IN (%s) GROUP BY id" % ",".join(f"'{database.batch_id(one)}'" for one in part)
            for part in chunks(ids)
        ]
        fixed = [SCHEDULES, TICKS, FLIGHTS, RANGES, COVERED_TWICE, UNTOLD, GUARDS, LANES, USE, "SELECT count(*) FROM runs"]
        answers = database.read(fixed + runs_asked + ids_asked, alteration)
        schedules, ticks, flights, ranges, twice, untold, guards, lanes, use, [[total]] = answers[: len(fixed)]
        rest = answers[len(fixed) :]
        self.rows = {key: (status, attempt) for part in rest[: len(runs_asked)] for key, status, attempt in part}
        self.batches = {one.replace("-", ""): count for part in rest[len(runs_asked) :] for one, count in part}
        self.schedules = {row[0]: row for row in schedules}
        self.total = total
        self.judge_ticks({row[0]: row[1:] for row in ticks}, ranges, twice)
        self.judge_claims(flights, guards, lanes, use)
        for run, attempt, told in untold:
            self.say(f"run {run} is at attempt {attempt} and has {told} earlier ones")
        self.judge_acks()

    def judge_ticks(self, ticks, ranges, twice):
        stretches = collections.defaultdict(list)
        for schedule, first, last, count in ranges:
            stretches[schedule].append((first, last, count))
        for (run,) in twice:
            self.say(f"run {run} is in a range as well")
        for key, row in self.schedules.items():
            _, name, _, created, status, through, _, admitted, ended, good, bad, spent, made = row
            if status is None:
                self.say(f"{name} has no state")
                continue
            if made != 1:
                self.say(f"{name} has {made} events of its creation")
            period = int(name[1 : name.index("-")])
            nothing = (0, None, None, 0, 0, 0, 0, 0, 0, 0, 0)
            count, first, last, distinct, by5, by10, by20, won, lost, ended_early, started = ticks.get(key, nothing)
            if count != distinct:
                self.say(f"{name}: {count} rows for {distinct} ticks")
            if {5: by5, 10: by10, 20: by20}[period] != 0:
                self.say(f"{name}: a row where there is no tick")
            since, until = created // 1_000_000, through // 1_000_000
            if status != "active" or spent is not None:
                # Nothing is armed any more: what is there must still be without a hole.
                until = max([last or since] + [end for _, end, _ in stretches[key]])
            for begin, end, stands_for in stretches[key]:
                if stands_for != end // period - (begin - 1) // period:
                    self.say(f"{name}: the range {begin}..{end} says {stands_for} ticks")
            covered = count + sum(stands_for for _, _, stands_for in stretches[key])
            expected = until // period - since // period
            if covered != expected:
                self.say(f"{name}: {covered} ticks in the ledger, {expected} up to the cursor")
            if count and (first <= since or last > until):
                self.say(f"{name}: rows from {first} to {last}, but it ticks from {since} to {until}")
            for what, counted, found in (
                ("admitted", admitted, started),
                ("successes", good, won),
                ("failures", bad, lost),
                ("ends", ended, won + lost + ended_early),
            ):
                if counted != found:
                    self.say(f"{name}: {counted} {what} counted, {found} in the ledger")
            if "-max-" in name and admitted > RUNS_MAX:
                self.say(f"{name}: admitted {admitted} times")

    def judge_claims(self, flights, guards, lanes, use):
        held = {"guard": {(org, key): run for org, key, run in guards}, "lane": {(org, key): run for org, key, run in lanes}}
        wanted = {"guard": {}, "lane": {}}
        flying, in_orgs = collections.defaultdict(list), collections.Counter()
        for run, schedule, org in flights:
            name = self.schedules[schedule][1]
            kind, number = name.split("-")[1], int(name.split("-")[2])
            flying[schedule].append(run)
            in_orgs[org] += 1
            if kind in wanted:
                claim = (org, f"shared-{number // 32 % 3}")
                if claim in wanted[kind]:
                    self.say(f"runs {wanted[kind][claim]} and {run} are both in flight with {kind} {claim}")
                wanted[kind][claim] = run
        for kind in held:
            if held[kind] != wanted[kind]:
                self.say(f"{kind}s are held as {held[kind]}, the runs in flight say {wanted[kind]}")
        for key, row in self.schedules.items():
            name, active, runs = row[1], row[6], flying.get(key, [])
            is_exclusive = name.split("-")[1] in EXCLUSIVE
            if is_exclusive and len(runs) > 1:
                self.say(f"{name}: {runs} are in flight together")
            if active != (runs[0] if is_exclusive and runs else None):
                self.say(f"{name}: its lane is held by {active}, in flight are {runs}")
        for org, in_flight in use:
            if in_flight != in_orgs[org]:
                self.say(f"org {org} counts {in_flight} runs in flight, there are {in_orgs[org]}")

    def judge_acks(self):
        by_number = {int(row[1].split("-")[2]): row for row in self.schedules.values()}
        if len(by_number) != len(self.schedules):
            self.say("a schedule was made twice")
        for kind, batch, body in self.notes.acked:
            if kind == "create":
                row = by_number.get(body["number"])
                if row is None or body.get("at", row[3] // 1_000_000) * 1_000_000 != row[3]:
                    self.say(f"schedule {body['number']} was acknowledged and is {row}")
                continue
            if self.batches.get(batch, 0) != 1:
                self.say(f"batch {batch} was acknowledged and is there {self.batches.get(batch, 0)} times")
            for told in body:
                self.judge_told(kind, told)

    def judge_told(self, kind, told):
        if kind == "plan":
            schedule, through = told
            state = self.schedules.get(schedule)
            if state is None or state[5] is None or state[5] < through:
                self.say(f"schedule {schedule} was planned through {through} and is {state}")
            return
        run, status, attempt = told[0], *self.rows.get(told[0], (None, 0))
        if status is None:
            self.say(f"run {run} was acknowledged ({kind}) and is not there")
        elif kind == "admit" and told[1] == "start":
            if attempt < told[2] or status in ("scheduled", "skipped", "missed"):
                self.say(f"run {run} was started as attempt {told[2]} and is {status}, attempt {attempt}")
        elif kind == "admit" and told[1] in ENDED and status != told[1]:
            self.say(f"run {run} was ended as {told[1]} and is {status}")
        elif kind in ("settle", "settle-again") and told[2] in ENDED and (status, attempt) != (told[2], told[1]):
            self.say(f"run {run} was settled as {told[2]} at attempt {told[1]} and is {status}, attempt {attempt}")
        elif kind in ("settle", "settle-again") and status in IN_FLIGHT and attempt <= told[1]:
            self.say(f"run {run} was settled at attempt {told[1]} and is {status}, attempt {attempt}")
        elif kind == "mark" and attempt < told[1]:
            self.say(f"run {run} was launched as attempt {told[1]} and is at {attempt}")


def chunks(keys):
    return [keys[at : at + CHUNK] for at in range(0, len(keys), CHUNK)]


def summary(judge):
    notes = judge.notes
    return {
        "problems": judge.problems[:20],
        "count": len(judge.problems),
        "acks": len(notes.acked),
        "submits": notes.submits,
        "unanswered": len(notes.open),
        "committed": sum(1 for kind, batch in notes.open if judge.batches.get(batch)),
        "repeated": sum(1 for kind, _, _ in notes.acked if kind.endswith("-again")),
        "fails": sorted(set(notes.fails))[:5],
        "busy_us": notes.busy_us,
        "commits": notes.commits,
        "last_now": notes.last_now,
        "runs": judge.total,
    }


def alterations(judge, database):
    """A row of each kind, altered."""
    ended = next(row[0] for kind, _, body in judge.notes.acked if kind == "settle" for row in body if row[2] == "success")
    batch = database.batch_id(next(batch for kind, batch, _ in judge.notes.acked if kind == "settle"))
    columns = "org, schedule, origin, nonce, shard, fire_at, look_at, status, reason, detail, version, tz, attempt"
    one = "(SELECT min(schedule) FROM schedule_state WHERE status = 'active' AND spent_at IS NULL)"
    state = f"UPDATE schedule_state SET %s WHERE schedule = {one}"
    yield "a run that vanished", f"DELETE FROM runs WHERE key = {ended}"
    yield "an end that was undone", f"UPDATE runs SET status = 'retrying' WHERE key = {ended}"
    yield "a run in flight without a claim", f"UPDATE runs SET status = 'running' WHERE key = {ended}"
    yield "a tick twice", f"INSERT INTO runs (scheduled_for, {columns}) SELECT scheduled_for, {columns.replace('nonce', chr(39) + 'again' + chr(39))} FROM runs WHERE key = {ended}"
    yield "a row where no tick is", f"INSERT INTO runs (scheduled_for, {columns}) SELECT scheduled_for + 1, {columns} FROM runs WHERE key = {ended}"
    yield "a hole", "DELETE FROM runs WHERE key = (SELECT min(key) FROM runs WHERE status = 'scheduled')"
    yield "a cursor that went back", state % "planned_through = planned_through - 60000000"
    yield "a cursor that ran ahead", state % "planned_through = planned_through + 60000000"
    yield "a range over rows", f"INSERT INTO run_ranges (schedule, first, last, org, count, status, reason, detail, version, recorded_at) SELECT schedule, scheduled_for, scheduled_for, org, 1, 'missed', 'late', '', 1, 0 FROM runs WHERE key = {ended}"
    yield "a lane that nobody holds", "UPDATE schedule_state SET active_run = NULL WHERE active_run IS NOT NULL"
    yield "a lane held by a run that ended", f"UPDATE schedule_state SET active_run = {ended} WHERE schedule = (SELECT min(schedule) FROM schedule_state WHERE active_run IS NULL)"
    yield "a guard held by a run that ended", f"INSERT INTO guards (org, key, run) VALUES (1, 'another', {ended})"
    yield "a shared lane held by a run that ended", f"INSERT INTO lanes (org, key, run) VALUES (1, 'another', {ended})"
    yield "a place too many", "UPDATE org_use SET in_flight = in_flight + 1"
    for counter in ("admitted", "run_count", "success_count", "failure_count"):
        yield f"a wrong {counter}", state % f"{counter} = {counter} + 1"
    yield "a batch that vanished", f"DELETE FROM batches WHERE id = '{batch}'"
    yield "a schedule made at another time", "UPDATE schedules SET created_at = created_at + 20000000 WHERE key = (SELECT min(key) FROM schedules)"
    yield "a state that vanished", f"DELETE FROM schedule_state WHERE schedule = {one}"
    yield "an attempt that vanished", "DELETE FROM attempts"
    yield "an event twice", "INSERT INTO audit_events (org, at, kind, schedule, detail) SELECT org, at, kind, schedule, detail FROM audit_events WHERE kind = 'schedule.created'"


def self_test(database, notes):
    judge = Judge(notes)
    judge.judge(database)
    unnoticed = ["the database was not clean before"] if judge.problems else []
    count = 0
    for name, statement in alterations(judge, database):
        count += 1
        altered = Judge(notes)
        altered.judge(database, [statement])
        if not altered.problems:
            unnoticed.append(f"{name}: nothing was noticed")
    print(json.dumps({"problems": unnoticed, "alterations": count}))
    return 1 if unnoticed else 0


def main(command, place, *files):
    database = tables.database(place)
    database.wait()
    notes = Notes(files)
    if command == "self-test":
        return self_test(database, notes)
    judge = Judge(notes)
    judge.judge(database)
    print(json.dumps(summary(judge)))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
