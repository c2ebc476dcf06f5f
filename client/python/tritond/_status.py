# SPDX-License-Identifier: Apache-2.0
"""Counts of this process: what the daemon gave, and what was compiled locally and why."""
from __future__ import annotations

import collections
import dataclasses
import logging
import os
import threading
import typing

_log = logging.getLogger("tritond")


@dataclasses.dataclass(frozen=True)
class Status:
    """One process as it is now. `local` counts kernels by reason; docs/python.md lists the reasons."""

    installed: bool
    servers: tuple[str, ...]
    hits: int
    compiled: int
    joined: int
    local: dict[str, int]
    resting: dict[str, float]  # servers that did not answer: seconds until they are tried again
    last_failure: str
    tuned: dict[str, int]  # searches of @triton.autotune: "measured" for all, "shared" by another, measured "alone"


class Counts:
    """Thread-safe. A forked child begins with none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Also after a fork, where another thread may have held the lock."""
        self._lock = threading.Lock()
        self._served: typing.Counter[str] = collections.Counter()
        self._local: typing.Counter[str] = collections.Counter()
        self._tuned: typing.Counter[str] = collections.Counter()
        self._last_failure = ""
        self._warned = False

    def add_served(self, how: str) -> None:
        with self._lock:
            self._served[how] += 1

    def add_tuned(self, how: str) -> None:
        with self._lock:
            self._tuned[how] += 1

    def tuned(self) -> dict[str, int]:
        """Searches by how they got their winner."""
        with self._lock:
            return dict(self._tuned)

    def add_local(self, kernel: str, reason: str, message: str, silent: bool, raised: bool = False) -> None:
        """Counts one local compile; tells people of the first that is not silent, unless an exception does (`raised`)."""
        with self._lock:
            self._local[reason] += 1
            if not silent:
                self._last_failure = f"{kernel}: {message}"
            warn = not silent and not raised and not self._warned
            self._warned = self._warned or warn
        if warn:
            _log.warning("tritond: kernel %s is compiled locally (%s): %s. Further ones are counted in tritond.status(), "
                         "without a warning.", kernel, reason, message.rstrip("."))

    def snapshot(self) -> tuple[dict[str, int], dict[str, int], str]:
        """What was served by how, local compiles by reason, and the last failure."""
        with self._lock:
            return dict(self._served), dict(self._local), self._last_failure


counts = Counts()
os.register_at_fork(after_in_child=counts.reset)


def status() -> Status:
    """The state of this process; cheap, and connects to nothing."""
    from tritond import _install

    session = _install.current_session()
    served, local, last_failure = counts.snapshot()
    return Status(
        installed=_install.is_installed(),
        servers=session.settings.servers if session else (),
        hits=served.get("hit", 0),
        compiled=served.get("miss", 0),
        joined=served.get("joined", 0),
        local=local,
        resting=session.resting() if session else {},
        last_failure=last_failure,
        tuned=counts.tuned(),
    )
