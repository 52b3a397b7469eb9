"""Which ticks a schedule has, worked out from its name alone, by walking the seconds or the minutes of a zone's wall.

`p-5-3-00042` ticks at each second that leaves 3 when divided by 5. `z-Europe.Berlin-30-2` ticks at 02:30 in Berlin,
`z-Europe.Berlin-0-x` at each full hour, `z-Europe.Berlin-q15-x` at each quarter. Words after them change what clock changes
do: `gapskip`, `foldlast`, `foldboth`.
"""

import collections
import datetime
import functools
import zoneinfo

MINUTE_S = 60
# A gap that is longer than this is not made up.
GAP_MAX_S = 3 * 3600
UTC = datetime.timezone.utc

Name = collections.namedtuple("Name", "kind words traits")


def name_of(text):
    """The kind of a schedule, the two words that say when it ticks, and its traits."""
    kind, first, second, third, *rest = text.split("-")
    if kind == "z":
        return Name(kind, (first, second, third), frozenset(rest))
    return Name(kind, (int(first), int(second)), frozenset(rest))


def ticks(text, begin, end):
    """The ticks from `begin` to `end`, both included."""
    name = name_of(text)
    if name.kind == "z":
        return [tick for tick in nights(text, begin // 86400 - 2, end // 86400 + 2) if begin <= tick <= end]
    period, phase = name.words
    return range(begin + (phase - begin) % period, end + 1, period)


@functools.lru_cache(maxsize=None)
def nights(text, first_day, last_day):
    """All ticks of a schedule in a zone between two days since 1970."""
    _, (zone, minute, hour), traits = name_of(text)
    zone = zoneinfo.ZoneInfo(zone.replace(".", "/"))
    minutes = set(range(0, 60, int(minute[1:]))) if minute.startswith("q") else {int(minute)}
    if hour == "x":
        return elapsed(zone, minutes, first_day * 86400, last_day * 86400)
    return wall(zone, minutes, int(hour), traits, first_day * 86400, last_day * 86400)


def local(zone, instant):
    return datetime.datetime.fromtimestamp(instant, zone)


def elapsed(zone, minutes, begin, end):
    """It follows the real clock: each minute that there is, as often as it is there."""
    return [at for at in range(begin, end, MINUTE_S) if local(zone, at).minute in minutes and local(zone, at).second == 0]


def wall(zone, minutes, hour, traits, begin, end):
    """Each local time once: the first of two, and right after the gap if there is none."""
    shown = collections.defaultdict(list)
    found = set()
    before = None
    for at in range(begin, end, MINUTE_S):
        now = local(zone, at).replace(tzinfo=None)
        shown[now].append(at)
        skipped = (now - before).total_seconds() - MINUTE_S if before else 0
        if 0 < skipped <= GAP_MAX_S and "gapskip" not in traits:
            lost = (before + datetime.timedelta(minutes=step) for step in range(1, int(skipped) // MINUTE_S + 1))
            if any(one.hour == hour and one.minute in minutes for one in lost):
                found.add(at)
        before = now
    for now, instants in shown.items():
        if now.hour == hour and now.minute in minutes:
            chosen = instants[-1:] if "foldlast" in traits else instants if "foldboth" in traits else instants[:1]
            found.update(chosen)
    return sorted(found)
