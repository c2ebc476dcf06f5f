# SPDX-License-Identifier: Apache-2.0
"""A real tritond in a temporary folder, and triton-client to talk to it."""
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request


_given_ports = set()


def free_port():
    """Below those that the system gives to connections: one of these could take it before the daemon does. Another one each time."""
    while True:
        port = random.randrange(12000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in _given_ports:
            _given_ports.add(port)
            return port


def children_of(pid):
    """The process ids of the direct children of `pid`."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        found += [int(word) for word in task.read_text().split()]
    return found


def is_running(pid):
    """Whether the process exists and is no zombie."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def assembler_program():
    """The first `ptxas` that is a program: workers refuse a script, because what it runs is not known."""
    folders = [*os.environ.get("PATH", "").split(os.pathsep), "/usr/local/cuda/bin"]
    for path in (pathlib.Path(folder, "ptxas") for folder in folders):
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            return path
    return None


def wait_until(condition, seconds, what):
    """Asks more and more seldom, as a condition may start a program."""
    deadline, pause = time.monotonic() + seconds, 0.02
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(pause)
        pause = min(1.5 * pause, 0.2)


class Daemon:
    """One data folder, over which the daemon may be started and stopped several times. Use as a context manager."""

    def __init__(self, binaries, address=None, worker=None, arguments=()):
        self.binaries = pathlib.Path(binaries)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tritond-e2e-"))
        self.address = address or f"127.0.0.1:{free_port()}"
        self.http = f"127.0.0.1:{free_port()}"
        self.worker = worker  # another worker program, such as a fake one
        self.arguments = list(arguments)  # more of the daemon's command line
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, workers):
        command = [str(self.binaries / "tritond"), "--data-dir", str(self.folder / "data"), "--listen", self.address, "--http",
                   self.http, "--workers", str(workers), *self.arguments]
        return command + (["--worker-binary", str(self.worker)] if self.worker else [])

    def start(self, workers=1, environment=None):
        log = open(self.folder / "tritond.log", "a", encoding="utf-8")
        with log:
            self.process = subprocess.Popen(self.command(workers), stdout=log, stderr=log, start_new_session=True,
                                            env={**os.environ, **(environment or {})})
        done = self.client("--wait", "30", "stats")
        if done.returncode != 0:
            raise AssertionError(f"the daemon does not answer: {done.stderr}\n{self.log()}")
        if workers > 0:
            wait_until(lambda: self.get("/readyz")[0] == 200, 30, f"a worker attaches\n{self.log()}")
        return self

    def log(self):
        return (self.folder / "tritond.log").read_text(encoding="utf-8")

    def trust(self, other):
        """Takes results that `other` signed. Before this daemon starts; `other` has started."""
        tritond, keys = str(self.binaries / "tritond"), self.folder / "data" / "trusted.keys"
        keys.parent.mkdir(exist_ok=True)
        shown = subprocess.run([tritond, "keys", "show", str(other.folder / "data" / "signing.key")], text=True, check=True,
                               stdout=subprocess.PIPE).stdout
        subprocess.run([tritond, "keys", "trust", str(keys), shown.split()[0], "--name", "other"], check=True, stdout=subprocess.DEVNULL)

    def stop(self):
        """SIGTERM; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)

    def kill(self):
        """SIGKILL for the daemon alone; its workers must find out by themselves."""
        self.process.kill()
        self.process.wait()

    def client_command(self, *words):
        """The command line of triton-client against this daemon."""
        return [str(self.binaries / "triton-client"), "--server", self.address] + [str(word) for word in words]

    def client(self, *words, **kwargs):
        """Runs triton-client against this daemon."""
        return subprocess.run(self.client_command(*words), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                              check=False, **kwargs)

    def compile(self, path, target, *words):
        """(exit status, the JSON line) of one compile."""
        done = self.client("compile", path, "--target", target, "--json", *words)
        if not done.stdout.strip():
            raise AssertionError(f"no JSON: exit {done.returncode}, {done.stderr}\n{self.log()}")
        return done.returncode, json.loads(done.stdout)

    def stats(self):
        return json.loads(self.client("stats", "--json").stdout)

    def get(self, path):
        """(status, body) of a page of the HTTP port; 0 and why when nobody answers (yet: it listens after the rest)."""
        try:
            with urllib.request.urlopen(f"http://{self.http}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except urllib.error.URLError as error:
            return 0, str(error.reason)

    def workers(self):
        """Process ids of the daemon's worker processes."""
        return [pid for pid in children_of(self.process.pid) if is_running(pid)]
