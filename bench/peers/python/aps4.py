"""APScheduler 4, a pre-release, as a program; see ../README.md for how it is called."""

import asyncio
import datetime
import os
import sys
import time

from apscheduler import AsyncScheduler
from apscheduler.datastores.sqlalchemy import SQLAlchemyDataStore
from apscheduler.triggers.cron import CronTrigger
from sqlalchemy.ext.asyncio import create_async_engine

AT = os.environ["PEER_AT"]
NOTES = os.open(os.environ["PEER_NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)


async def note(number):
    os.write(NOTES, f"{number} {time.time_ns() // 1000}\n".encode())


def trigger():
    if AT == "second":
        return CronTrigger(second="*", timezone="UTC")
    at = datetime.datetime.fromtimestamp(int(AT), datetime.timezone.utc)
    return CronTrigger(hour=at.hour, minute=at.minute, second=at.second, timezone="UTC")


async def main():
    engine = create_async_engine(f"sqlite+aiosqlite:///{os.environ['PEER_FOLDER']}/aps4.db")
    async with AsyncScheduler(SQLAlchemyDataStore(engine)) as it:
        if sys.argv[2] == "setup":
            for number in range(int(os.environ["PEER_N"])):
                await it.add_schedule(note, trigger(), args=[number], id=f"one-{number}")
            return
        await it.start_in_background()
        print("ready", flush=True)
        await asyncio.Event().wait()


# A stored schedule names its function by the module, which is another when it is run as a program.
if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(__file__))
    import aps4

    asyncio.run(aps4.main())
