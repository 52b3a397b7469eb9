"""pg_cron as a program: a PostgreSQL server of its own with the extension; see ../README.md for how it is called.

PEER_BIN is the folder of the server's programs, PEER_USER the user that runs them, empty if that is us.
"""

import datetime
import os
import socket
import subprocess
import sys
import time

AT, FOLDER, NOTES = os.environ["PEER_AT"], os.environ["PEER_FOLDER"], os.environ["PEER_NOTES"]
BIN, USER = os.environ["PEER_BIN"], os.environ["PEER_USER"]
DATA, PORT = f"{FOLDER}/data", f"{FOLDER}/port"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": FOLDER,
    "shared_preload_libraries": "pg_cron",
    "cron.database_name": "postgres",
    # Jobs over background workers need no password; 32 at once is the extension's own default.
    "cron.use_background_workers": "on",
    "max_worker_processes": "40",
}


def words(program, *rest):
    before = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups", "--"] if USER else []
    return [*before, f"{BIN}/{program}", *rest]


def server():
    with open(PORT) as file:
        port = file.read()
    settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
    return words("postgres", "-D", DATA, "-p", port, *settings), port


def psql(port, sql):
    line = words("psql", "-h", FOLDER, "-p", port, "-U", "postgres", "-X", "-q", "-v", "ON_ERROR_STOP=1")
    return subprocess.run([*line, "-f", "-"], input=sql, text=True, capture_output=True, check=False)


def wait(port):
    for _ in range(600):
        if psql(port, "SELECT 1").returncode == 0:
            return
        time.sleep(0.1)
    sys.exit("the server does not answer")


def setup():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        free = it.getsockname()[1]
    with open(PORT, "w") as file:
        file.write(str(free))
    open(NOTES, "a").close()
    if USER:
        subprocess.run(["chown", "-R", f"{USER}:", FOLDER], check=True)
    made = words("initdb", "-D", DATA, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--no-locale")
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    line, port = server()
    with open(f"{FOLDER}/log", "a") as log, subprocess.Popen(line, stdout=log, stderr=log) as it:
        wait(port)
        at = datetime.datetime.fromtimestamp(int(AT), datetime.timezone.utc)
        # A plain append to a file, as the handlers of the others do it.
        job = "SELECT pg_file_write(%s, format(E''%%s %%s\\n'', {}, (extract(epoch FROM clock_timestamp()) * 1e6)::bigint), true)"
        job = job % f"''{NOTES}''"
        lines = [
            f"SELECT cron.schedule('one-{number}', '{at.minute} {at.hour} * * *', '{job.format(number)}');"
            for number in range(int(os.environ["PEER_N"]))
        ]
        done = psql(port, "CREATE EXTENSION pg_cron; CREATE EXTENSION adminpack; BEGIN;" + "\n".join(lines) + "COMMIT;")
        it.terminate()
    if done.returncode:
        sys.exit(done.stderr)


def work():
    line, port = server()
    log = open(f"{FOLDER}/log", "a")
    # The server takes the place of this process: whoever kills it kills the server.
    if os.fork() == 0:
        wait(port)
        print("ready", flush=True)
        os._exit(0)
    os.dup2(log.fileno(), 2)
    os.execvp(line[0], line)


setup() if sys.argv[2] == "setup" else work()
