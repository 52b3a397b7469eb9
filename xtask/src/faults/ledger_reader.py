"""Judges the ledger that the program has left or is at work on, sharing no code with it.

usage: ledger_reader.py judge DATABASE QUESTION
       ledger_reader.py self-test DATABASE QUESTION

DATABASE is a path (SQLite) or a URL (PostgreSQL, read through psql). It knows the tables and, from a schedule's name, its
ticks (see `ticks.py`): the first letter says what it does (`m` writes a message, `w` calls the web, `p` starts a program, `q`
waits for a worker), words at the end name its policies (`allow`, `lane`, `guard`, `once`). QUESTION is JSON:

- `through`: each tick from the creation of its schedule up to this second must be closed, run or not run with a reason.
  Without it everything up to each schedule's cursor must be there, in whatever state;
- `starts`: a file in which each program and the web receiver noted an idempotency key and the number of an attempt;
- `events`: a file with a line of JSON for each thing that happened to a node: what, when, its shards, its runs in flight;
- `refused`: reasons that must not occur.

Each tick must have exactly one row, or be in exactly one range; lanes, guards, places and counters must be those of the
rows; no attempt may have been started twice, nor one that the ledger does not have. Prints one line of JSON. `self-test`
alters a row of each kind, each time undone, and fails if one goes unnoticed.
"""

import collections
import hashlib
import json
import sys

import tables
import ticks

SCHEDULES = """
SELECT d.key, d.id, d.name, d.org, d.created_at, s.status, s.planned_through, s.active_run, s.admitted, s.success_count,
       s.spent_at
FROM schedules d LEFT JOIN schedule_state s ON s.schedule = d.key WHERE d.deleted_at IS NULL
"""
RUNS = """
SELECT key, schedule, org, scheduled_for, status, reason, attempt, shard, fire_at, enqueued_at, completed_at
FROM runs WHERE origin = 'tick'
"""
RANGES = "SELECT schedule, first, last, count, reason, counts FROM run_ranges"
MESSAGES = "SELECT run, attempt, count(*) FROM outbox GROUP BY run, attempt"
PLACES = "SELECT count(*), count(position), count(DISTINCT position), max(position) - min(position) + 1 FROM outbox"
SEALS = "SELECT org, count(*), max(position) - min(position) + 1 FROM audit_seals GROUP BY org"
UNTOLD = """
SELECT r.key, r.attempt, count(a.number) FROM runs r LEFT JOIN attempts a ON a.run = r.key AND a.number < r.attempt
WHERE r.attempt > 1 GROUP BY r.key, r.attempt HAVING count(a.number) <> r.attempt - 1
"""
GUARDS = "SELECT org, key, run FROM guards"
LANES = "SELECT org, key, run FROM lanes"
USE = "SELECT u.org, u.in_flight FROM org_use u WHERE EXISTS (SELECT 1 FROM limits l WHERE l.org = u.org)"
SHEETS = "SELECT at, starts FROM sheets ORDER BY key"
SOUND = "PRAGMA quick_check"
QUERIES = [SCHEDULES, RUNS, RANGES, MESSAGES, PLACES, SEALS, UNTOLD, GUARDS, LANES, USE]
# A start on a sheet: run, schedule, tick, deadline, trace, parent, and whether it takes the lane of its schedule.
ENTRY = 57

CLOSED = {"success", "failed", "cancelled", "skipped", "missed"}
UNSTARTED = {"skipped", "missed", "scheduled"}
IN_FLIGHT = {"enqueued", "running"}
# A tick that was due this long before a node was lost, or after it, may have been its own.
BEFORE_S, AFTER_S = 2, 10
# When the ticks of the start are over.
FIRST_S = 10
# What a node wrote before it was stopped may be committed a moment later.
STOPPED_LATE_US = 1_000_000


class Run:
    fields = "key schedule org tick status reason attempt shard fire_at enqueued_at completed_at".split()

    def __init__(self, row):
        for field, cell in zip(self.fields, row):
            setattr(self, field, cell)


class Schedule:
    fields = "key id name org created_at status planned_through active_run admitted successes spent_at".split()

    def __init__(self, row):
        for field, cell in zip(self.fields, row):
            setattr(self, field, cell)
        self.kind, _, self.traits = ticks.name_of(self.name)
        self.made = self.created_at // 1_000_000

    def idempotency_key(self, tick):
        return hashlib.sha256(f"{self.id}:{tick}".encode()).hexdigest()


class Judge:
    def __init__(self, question):
        self.through = question.get("through")
        self.starts_file = question.get("starts")
        self.refused = set(question.get("refused", ()))
        self.notes = []
        if question.get("events"):
            with open(question["events"], encoding="utf-8") as lines:
                self.notes = [json.loads(line) for line in lines]
        self.problems, self.ends = [], collections.Counter()
        self.ticks = self.lost = self.doubled = self.open = self.stale_counted = self.repeated = 0

    def say(self, text):
        self.problems.append(text)

    def judge(self, database, alteration=()):
        self.is_file = database.name == "sqlite"
        # What was started before the tables are read must be in them; what they say has succeeded was started by then.
        before = self.read_starts()
        answers = database.read(QUERIES + ([SHEETS, SOUND] if self.is_file else []), alteration)
        after = self.read_starts()
        schedules, runs, ranges, messages, places, seals, untold, guards, lanes, use = answers[: len(QUERIES)]
        self.schedules = {row[0]: Schedule(row) for row in schedules}
        self.runs = {row[0]: Run(row) for row in runs if row[1] in self.schedules}
        if self.is_file:
            self.unfold(answers[len(QUERIES)])
            if answers[-1] != [["ok"]]:
                self.say(f"the file is damaged: {answers[-1]}")
        self.begun = max((one.made for one in self.schedules.values()), default=0)
        rows, self.covered = collections.defaultdict(list), collections.defaultdict(list)
        for run in self.runs.values():
            rows[run.schedule].append(run)
        for schedule, *stretch in ranges:
            self.covered[schedule].append(stretch)
        for key, schedule in self.schedules.items():
            self.judge_schedule(schedule, rows[key], self.covered[key])
        self.judge_claims(guards, lanes, use)
        self.judge_messages(messages, places[0])
        for org, count, reach in seals:
            if count != reach:
                self.say(f"org {org} has {count} seals at {reach} places")
        for run, attempt, told in untold:
            self.say(f"run {run} is at attempt {attempt} and has {told} earlier ones")
        if self.starts_file:
            self.judge_starts(before, after)
        self.events = [self.judge_event(note) for note in self.notes]

    def unfold(self, sheets):
        """Starts that are committed and not in their rows yet, as a kill leaves them."""
        number = lambda entry, at: int.from_bytes(entry[at : at + 8], "little", signed=True)
        for at, starts in sheets:
            for place in range(0, len(starts), ENTRY):
                entry = starts[place : place + ENTRY]
                run, schedule = self.runs.get(number(entry, 0)), self.schedules.get(number(entry, 8))
                if run is None or schedule is None or run.status != "scheduled":
                    self.say(f"a sheet starts run {number(entry, 0)}, which is {run and run.status}")
                    continue
                run.status, run.attempt, run.enqueued_at = "enqueued", 1, at
                schedule.admitted += 1
                if entry[56] == 1:
                    schedule.active_run = run.key

    def judge_schedule(self, schedule, runs, ranges):
        name = schedule.name
        if schedule.status is None:
            return self.say(f"{name} has no state")
        found = collections.Counter(run.tick for run in runs)
        digested = collections.Counter()
        for first, last, count, reason, counts in ranges:
            stands_for = ticks.ticks(name, first, last)
            if len(stands_for) != count or not reason:
                self.say(f"{name}: the range {first}..{last} says {count} ticks, reason {reason}")
            found.update(stands_for)
            if counts:
                digested.update(json.loads(counts))
            else:
                self.ends[f"range {reason}"] += len(stands_for)
        if ranges and sum(digested.values()) != sum(row[2] for row in ranges if row[4]):
            self.say(f"{name}: its digests count {dict(digested)}")
        for status, count in digested.items():
            self.ends[f"digest {status}"] += count
        self.judge_ticks(schedule, runs, found)
        for run in runs:
            self.judge_run(schedule, run)
        self.judge_counters(schedule, runs, digested)

    def judge_ticks(self, schedule, runs, found):
        name = schedule.name
        until = self.through
        if until is None:
            # Up to the cursor; of what is not armed any more, what is there must be without a hole.
            is_armed = schedule.status == "active" and schedule.spent_at is None
            until = schedule.planned_through // 1_000_000 if is_armed else max(found, default=schedule.made)
        # A schedule of a file may tick in the very second in which it is made.
        begin = schedule.made if schedule.made in found else schedule.made + 1
        for tick in ticks.ticks(name, begin, until):
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
            is_ahead = self.through is not None and tick > until and tick in ticks.ticks(name, tick, tick)
            if count > 1 or not is_ahead:
                self.doubled += 1
                self.say(f"{name}: {count} entries for {tick}, where none or one belongs")

    def judge_run(self, schedule, run):
        name = schedule.name
        if run.status not in CLOSED:
            if self.through is not None and run.tick <= self.through:
                self.open += 1
                self.say(f"{name} at {run.tick}: still {run.status}")
        elif run.status == "success":
            self.ends["success"] += 1
        else:
            self.ends[f"{run.status} {run.reason}"] += 1
            if not run.reason or run.reason in self.refused:
                self.say(f"{name} at {run.tick}: {run.status} with the reason {run.reason}")
        # A later attempt hangs on the end of the one before, by a clock that may have been set back meanwhile.
        if run.attempt == 1 and run.enqueued_at is not None and run.enqueued_at < run.tick * 1_000_000:
            self.say(f"{name} at {run.tick}: admitted {run.tick * 1_000_000 - run.enqueued_at} us early")

    def judge_counters(self, schedule, runs, digested):
        won = sum(run.status == "success" for run in runs) + digested["success"]
        if schedule.successes != won:
            self.say(f"{schedule.name}: {schedule.successes} successes counted, {won} in the ledger")
        started = sum(run.attempt > 0 for run in runs)
        if not digested and schedule.admitted != started:
            self.say(f"{schedule.name}: {schedule.admitted} admissions counted, {started} in the ledger")

    def judge_claims(self, guards, lanes, use):
        held = {"guard": {(org, key): run for org, key, run in guards}, "lane": {(org, key): run for org, key, run in lanes}}
        wanted = {"guard": {}, "lane": {}}
        flying, in_orgs = collections.defaultdict(list), collections.Counter()
        for run in self.runs.values():
            if run.status not in IN_FLIGHT:
                continue
            schedule = self.schedules[run.schedule]
            flying[run.schedule].append(run.key)
            in_orgs[run.org] += 1
            for kind in schedule.traits & wanted.keys():
                if (run.org, kind) in wanted[kind]:
                    self.say(f"runs {wanted[kind][run.org, kind]} and {run.key} are both in flight with a {kind}")
                wanted[kind][run.org, kind] = run.key
        for kind in held:
            if held[kind] != wanted[kind]:
                self.say(f"{kind}s are held as {held[kind]}, the runs in flight say {wanted[kind]}")
        for key, schedule in self.schedules.items():
            is_exclusive, runs = not schedule.traits & {"allow", "lane"}, flying.get(key, [])
            if is_exclusive and len(runs) > 1:
                self.say(f"{schedule.name}: {runs} are in flight together")
            if schedule.active_run != (runs[0] if is_exclusive and runs else None):
                self.say(f"{schedule.name}: its lane is held by {schedule.active_run}, in flight are {runs}")
        for org, in_flight in use:
            if in_flight != in_orgs[org]:
                self.say(f"org {org} counts {in_flight} runs in flight, there are {in_orgs[org]}")

    def judge_messages(self, messages, places):
        written = collections.defaultdict(collections.Counter)
        for run, attempt, count in messages:
            written[run][attempt] += count
        for run in self.runs.values():
            counts = written.pop(run.key, {})
            if self.schedules[run.schedule].kind != "m":
                continue
            # A message is written by the admission, once, however often its run is taken up.
            if sum(counts.values()) != (1 if run.attempt > 0 else 0):
                self.say(f"run {run.key} is {run.status} at attempt {run.attempt} and wrote {dict(counts)} messages")
        if written and not any(row[4] for stretch in self.covered.values() for row in stretch):
            self.say(f"messages are of runs which are not there: {list(written)[:5]}")
        _, placed, distinct, reach = places
        # A server counts places on when a transaction that took some is undone.
        if placed != distinct or (self.is_file and placed and placed != reach):
            self.say(f"{placed} messages have {distinct} places of {reach}")

    def read_starts(self):
        started = collections.defaultdict(collections.Counter)
        if self.starts_file:
            with open(self.starts_file, encoding="ascii") as lines:
                for line in lines:
                    if line.endswith("\n"):
                        key, attempt = line.split()
                        started[key][int(attempt)] += 1
        return started

    def judge_starts(self, before, after):
        self.starts = sum(sum(attempts.values()) for attempts in after.values())
        for run in self.runs.values():
            schedule = self.schedules[run.schedule]
            if schedule.kind not in "pwqz":
                continue
            key, what = schedule.idempotency_key(run.tick), f"{schedule.name} at {run.tick}"
            early, started = before.pop(key, collections.Counter()), after.pop(key, collections.Counter())
            if any(attempt > run.attempt for attempt in early) or (early and run.status in UNSTARTED):
                self.say(f"{what}: {run.status} at attempt {run.attempt}, but started as {dict(early)}")
            if run.status == "success" and not started[run.attempt]:
                # An earlier attempt that was in doubt may have been the one that succeeded.
                if not started or run.attempt == 1:
                    self.say(f"{what}: a success at attempt {run.attempt} that was started as {dict(started)}")
            self.judge_attempts(schedule, run.tick, started)
        for key, schedule in self.schedules.items():
            for first, last, _, _, counts in self.covered[key]:
                for tick in ticks.ticks(schedule.name, first, last):
                    before.pop(schedule.idempotency_key(tick), None)
                    started = after.pop(schedule.idempotency_key(tick), collections.Counter())
                    self.judge_attempts(schedule, tick, started)
                    if started and not counts:
                        self.say(f"{schedule.name} at {tick}: in a range, but started")
        for key in before:
            self.say(f"{key} was started and has no entry")

    def judge_attempts(self, schedule, tick, started):
        self.repeated += max(sum(started.values()) - 1, 0)
        for attempt, times in started.items():
            if times > 1:
                self.say(f"{schedule.name} at {tick}: attempt {attempt} was started {times} times")
        if "once" in schedule.traits and sum(started.values()) > 1:
            self.say(f"{schedule.name} at {tick}: at most once, and started as {dict(started)}")

    def judge_event(self, note):
        """How late the ticks were that a lost node should have admitted, and whether what it said later counted."""
        at, shards, held = note["at"], set(note.get("shards", ())), note.get("held", ())
        worst = 0
        for run in self.runs.values():
            near = at - BEFORE_S <= run.tick <= at + AFTER_S
            # A run that was repeated shows when it was admitted last.
            if near and run.shard in shards and run.attempt == 1 and run.enqueued_at is not None:
                worst = max(worst, run.enqueued_at - run.fire_at)
        counted = 0
        if note["event"] == "stop":
            for one in held:
                key, attempt = one["run"], one["attempt"]
                run = self.runs.get(key)
                is_other = run is None or self.schedules[run.schedule].kind == "m"
                if not is_other and run.attempt == attempt and (run.completed_at or 0) > at * 1_000_000 + STOPPED_LATE_US:
                    counted += 1
                    self.say(f"run {key}: what the stopped node said of it counted")
        self.stale_counted += counted
        return {"event": note["event"], "late_ms": round(worst / 1_000, 1), "held": len(held)}

    def lateness(self):
        """Of all ticks but the first, which are due while the schedules are still being made."""
        until = self.through if self.through is not None else float("inf")
        late = sorted(
            run.enqueued_at - run.fire_at
            for run in self.runs.values()
            if self.begun + FIRST_S < run.tick <= until and run.attempt == 1 and run.enqueued_at is not None
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
            "starts": getattr(self, "starts", 0),
            "repeated": self.repeated,
            "stale_counted": self.stale_counted,
            "ends": dict(self.ends),
            "lateness": self.lateness(),
            "events": self.events,
        }


def alterations(judge):
    """A row of each kind, altered."""
    # Of a schedule that does not tick each second, so that there is room for a row where no tick is, and later than the
    # second in which the schedules were made, in which a tick may be or not.
    until = judge.through if judge.through is not None else float("inf")
    name_of = lambda run: ticks.name_of(judge.schedules[run.schedule].name)
    is_apart = lambda run: name_of(run).kind == "z" or name_of(run).words[0] > 1
    done = [run for run in judge.runs.values() if run.status == "success" and judge.begun < run.tick <= until]
    ended = next(run for run in done if is_apart(run))
    columns = "org, schedule, origin, nonce, shard, fire_at, look_at, status, reason, detail, version, tz, attempt"
    copied = lambda tick, nonce: f"INSERT INTO runs (scheduled_for, {columns}) SELECT {tick}, {columns.replace('nonce', nonce)} FROM runs WHERE key = {ended.key}"
    yield "a run that vanished", f"DELETE FROM runs WHERE key = {ended.key}"
    yield "a tick twice", copied("scheduled_for", "'again'")
    yield "a row where no tick is", copied("scheduled_for + 1", "nonce")
    yield "a run that did not end", f"UPDATE runs SET status = 'running' WHERE key = {ended.key}"
    yield "a failure without a reason", f"UPDATE runs SET status = 'failed', reason = NULL WHERE key = {ended.key}"
    yield "an admission before its time", f"UPDATE runs SET attempt = 1, enqueued_at = scheduled_for * 1000000 - 1 WHERE key = {ended.key}"
    yield "a range over a row", f"INSERT INTO run_ranges (schedule, first, last, org, count, status, reason, detail, version, recorded_at) SELECT schedule, scheduled_for, scheduled_for, org, 1, 'missed', 'late', '', 1, 0 FROM runs WHERE key = {ended.key}"
    yield "an attempt that nobody told of", f"UPDATE runs SET attempt = attempt + 2 WHERE key = {ended.key}"
    yield "a lane held by a run that ended", f"UPDATE schedule_state SET active_run = {ended.key} WHERE schedule = {ended.schedule}"
    yield "a guard held by a run that ended", f"INSERT INTO guards (org, key, run) VALUES ({ended.org}, 'another', {ended.key})"
    yield "a shared lane held by a run that ended", f"INSERT INTO lanes (org, key, run) VALUES ({ended.org}, 'another', {ended.key})"
    yield "a wrong count of successes", f"UPDATE schedule_state SET success_count = success_count + 1 WHERE schedule = {ended.schedule}"
    yield "a state that vanished", f"DELETE FROM schedule_state WHERE schedule = {ended.schedule}"
    if judge.through is None:
        yield "a cursor that ran ahead", f"UPDATE schedule_state SET planned_through = planned_through + 60000000 WHERE schedule = {ended.schedule}"
        yield "a cursor that went back", f"UPDATE schedule_state SET planned_through = planned_through - 60000000 WHERE schedule = {ended.schedule}"
    undigested = next((run for run in done if not judge.covered[run.schedule]), None)
    if undigested:
        yield "a wrong count of admissions", f"UPDATE schedule_state SET admitted = admitted + 1 WHERE schedule = {undigested.schedule}"
    message = next((run for run in done if name_of(run).kind == "m"), None)
    if message:
        yield "a message that vanished", f"DELETE FROM outbox WHERE run = {message.key}"
        yield "a message twice", f"INSERT INTO outbox (org, run, attempt, message_id, body, at) SELECT org, run, attempt + 1, message_id, body, at FROM outbox WHERE run = {message.key}"
        if judge.is_file:
            yield "a place that was left out", f"UPDATE outbox SET position = position + 1000000 WHERE run = {message.key}"
    yield "a seal that was left out", "UPDATE audit_seals SET position = position + 1000000 WHERE position = (SELECT max(position) FROM audit_seals) AND org = (SELECT min(org) FROM audit_seals WHERE position = (SELECT max(position) FROM audit_seals))"
    if judge.starts_file and (started := next((run for run in done if name_of(run).kind in "pw" and run.attempt == 1), None)):
        yield "a start of a run that was skipped", f"UPDATE runs SET status = 'skipped', reason = 'overlap', attempt = 0 WHERE key = {started.key}"
        unstarted = next((run for run in judge.runs.values() if run.status in ("skipped", "scheduled") and name_of(run).kind in "pw"), None)
        if unstarted:
            yield "a success that was never started", f"UPDATE runs SET status = 'success', reason = NULL, attempt = 1 WHERE key = {unstarted.key}"


def self_test(database, question):
    judge = Judge(question)
    judge.judge(database)
    unnoticed = ["the ledger was not sound before"] if judge.problems else []
    count = 0
    for name, statement in alterations(judge):
        count += 1
        altered = Judge(question)
        altered.judge(database, [statement])
        if not altered.problems:
            unnoticed.append(f"{name}: nothing was noticed")
    # Of what the receivers noted, a line twice.
    if judge.starts_file:
        count += 1
        doubled = Judge(question)
        doubled.read_starts = lambda: {key: collections.Counter({one: 2 for one in attempts}) for key, attempts in judge.read_starts().items()}
        doubled.judge(database)
        if not doubled.problems:
            unnoticed.append("a start twice: nothing was noticed")
    print(json.dumps({"problems": unnoticed, "count": len(unnoticed), "alterations": count}))
    return 1 if unnoticed else 0


def main(command, place, question):
    database, question = tables.database(place), json.loads(question)
    if command == "self-test":
        return self_test(database, question)
    judge = Judge(question)
    judge.judge(database)
    print(json.dumps(judge.summary()))
    return 1 if judge.problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
