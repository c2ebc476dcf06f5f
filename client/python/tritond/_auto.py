# SPDX-License-Identifier: Apache-2.0
"""TRITOND_SERVER=auto: this user's own daemon on this machine, started by the first process that wants it.

However many processes ask at once, a file lock lets one of them start it. The daemon belongs to none of them: it ends when
nobody has asked for anything for a while, and the next kernel starts it again.
"""
from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import shutil
import subprocess
import tempfile
import time
import typing

from tritond._errors import NotServed

_START_SECONDS = 20.0  # for the daemon to listen and its first worker to be there
_POLL_SECONDS = 0.05


def folder() -> str:
    """Where the daemon's data, socket and log are; made when it is not there, for this user alone."""
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    path = os.path.join(caches, "tritond")
    os.makedirs(path, mode=0o700, exist_ok=True)
    return path


def address() -> str:
    """The daemon's address; the same in every process of the user. A socket's path has 107 bytes at most."""
    path = os.path.join(folder(), "daemon.sock")
    if len(path.encode()) > 100:
        path = os.path.join(_own_temporary_folder(), "daemon.sock")
    return f"unix:{path}"


def _own_temporary_folder() -> str:
    path = os.path.join(tempfile.gettempdir(), f"tritond-{os.getuid()}")
    os.makedirs(path, mode=0o700, exist_ok=True)
    found = os.lstat(path)
    if found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise NotServed("auto", f"{path} belongs to somebody else, or others may write there")
    return path


def _find_program() -> str:
    """The daemon of the package tritond-server, else that on PATH. NotServed when there is none."""
    with contextlib.suppress(ImportError):
        found = importlib.util.find_spec("tritond_server")
        for place in (found.submodule_search_locations or ()) if found else ():
            program = os.path.join(place, "bin", "tritond")
            if os.access(program, os.X_OK):
                return program
    program = shutil.which("tritond") or ""
    if not program:
        raise NotServed("auto", "there is no daemon to start: pip install tritond-server, or put tritond on PATH")
    return program


def _environment() -> dict[str, str]:
    """Of the daemon: not this package's variables; the assembler of Triton's own package where there is no other."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRITON")}
    roots = []
    for package, below in (("nvidia", "cu13"), ("triton", "backends/nvidia")):
        with contextlib.suppress(ImportError, ValueError):
            found = importlib.util.find_spec(package)
            roots += [os.path.join(place, below) for place in (found.submodule_search_locations or ())] if found else []
    roots = [root for root in roots if os.path.exists(os.path.join(root, "bin", "ptxas"))]
    if roots and "CUDA_HOME" not in environment and not shutil.which("ptxas"):
        environment["CUDA_HOME"] = roots[0]
    return environment


def start(is_ready: typing.Callable[[], bool]) -> None:
    """Returns when the daemon runs. `is_ready`: whether it answers and has a worker.

    NotServed when it cannot be started, or is not ready within 20 seconds.
    """
    deadline = time.monotonic() + _START_SECONDS
    with open(os.path.join(folder(), "start.lock"), "w", encoding="utf-8") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise NotServed("auto", "another process has been starting the daemon for too long") from None
                time.sleep(_POLL_SECONDS)
        if is_ready():
            return
        pid = _spawn()
        while not is_ready():
            if not os.path.exists(f"/proc/{pid}") or time.monotonic() > deadline:
                raise NotServed("auto", f"the daemon did not start: {_last_words()}")
            time.sleep(_POLL_SECONDS)


def _spawn() -> int:
    """Starts the daemon as nobody's child, so that nobody has to wait for it; its process id."""
    idle = os.environ.get("TRITOND_AUTO_IDLE", "1800")
    command = [_find_program(), "--data-dir", os.path.join(folder(), "data"), "--listen", address(), "--unix-socket-mode", "0600",
               "--http", "none", "--workers", str(min(os.cpu_count() or 1, 8)), "--exit-when-idle-seconds", idle]
    with open(os.path.join(folder(), "tritond.log"), "w", encoding="utf-8") as log:
        done = subprocess.run(["/bin/sh", "-c", '"$@" >&2 & echo $!', "sh", *command], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=log, env=_environment(), cwd="/", start_new_session=True,
                              check=False, text=True)
    return int(done.stdout)


def _last_words() -> str:
    with open(os.path.join(folder(), "tritond.log"), encoding="utf-8", errors="replace") as log:
        lines = log.read().strip().splitlines()
    return lines[-1] if lines else "it said nothing"
