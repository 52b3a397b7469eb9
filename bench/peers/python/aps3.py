"""APScheduler 3 as a program; see ../README.md for how it is called."""

import datetime
import os
import sys
import time

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger

AT, STORY = os.environ["PEER_AT"], os.environ["PEER_STORY"]
NOTES = os.open(os.environ["PEER_NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def note(number):
    os.write(NOTES, f"{number} {time.time_ns() // 1000}\n".encode())


def trigger():
    if AT == "second":
        return CronTrigger(second="*", timezone="UTC")
    at = datetime.datetime.fromtimestamp(int(AT), datetime.timezone.utc)
    return CronTrigger(hour=at.hour, minute=at.minute, second=at.second, timezone="UTC")


def scheduler():
    store = SQLAlchemyJobStore(url=f"sqlite:///{os.environ['PEER_FOLDER']}/aps3.db")
    # By default a job that is more than a second late does not run: half of a herd would not. Only the outage has that default.
    grace = {} if STORY == "outage" else {"misfire_grace_time": None}
    executors = {"default": ThreadPoolExecutor(10)}
    return BackgroundScheduler(jobstores={"default": store}, executors=executors, job_defaults=grace)


def main():
    it = scheduler()
    if sys.argv[2] == "setup":
        it.start(paused=True)
        for number in range(int(os.environ["PEER_N"])):
            it.add_job(note, trigger(), args=[number], id=f"one-{number}")
        it.shutdown()
        return
    it.start()
    print("ready", flush=True)
    while True:
        time.sleep(3600)


# A stored job names its function by the module, which is another when it is run as a program.
if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(__file__))
    import aps3

    aps3.main()
