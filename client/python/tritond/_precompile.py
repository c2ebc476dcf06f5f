# SPDX-License-Identifier: Apache-2.0
"""Compiles many kernels at the same time, as far as the daemon does the work.

Triton's frontend is Python and not made for threads, so one thread at a time runs: the one that has the baton. A thread lays the
baton down while it waits for the daemon. What the daemon does not give is not compiled here: the caller meets it later.
"""
from __future__ import annotations

import contextlib
import hashlib
import re
import threading
import time
import typing

from tritond._errors import NotServed

_LOCATION = re.compile(r" loc\([^\n]*\)$|^#loc[^\n]*\n", re.MULTILINE)
# A frontend that runs longer may wait for something that the caller's thread holds.
_FRONTEND_SECONDS = 60.0
# Refusals that hold for every kernel now.
_FOR_ALL = frozenset({"unreachable", "no answer", "resting", "auto", "denied", "draining", "package", "target"})
_here = threading.local()


class Aborted(Exception):
    """Ends a compile that is not to go on in its thread."""


class Job:
    """One compile. `kernel` names what it gave: a digest; "": it does not compile; None: not known."""

    def __init__(self, group: Group, compile_kernel: typing.Callable[[], typing.Any]) -> None:
        self.kernel: str | None = None
        self.refusal: NotServed | None = None
        self.left_frontend = threading.Event()
        self.done = threading.Event()
        self._group = group
        self._compile = compile_kernel
        self._has_baton = False

    def run(self) -> None:
        """The thread."""
        _here.job = self
        try:
            self.take_up()
            binary = getattr(self._compile(), "kernel", None)
            self.kernel = hashlib.sha256(binary).hexdigest() if isinstance(binary, bytes) else None
        except Aborted:
            pass
        except BaseException:  # the benchmark meets it again, in the caller's thread
            self.kernel = ""
        finally:
            self.lay_down()
            self.left_frontend.set()
            self.done.set()
            self._group.slots.release()

    def take_up(self) -> None:
        """Waits for the baton. Aborted when nobody waits for this compile any more."""
        self._group.baton.acquire()
        self._has_baton = True
        if self._group.given_up:
            raise Aborted

    def lay_down(self) -> None:
        if self._has_baton:
            self._has_baton = False
            self._group.baton.release()

    def refuse(self, refusal: NotServed, text: str, options: typing.Any) -> None:
        """Ends the compile: the daemon does not give this kernel. The text names it then."""
        self.refusal = refusal
        if text:
            named = f"{sorted(vars(options).items())}\n{_LOCATION.sub('', text)}"
            self.kernel = hashlib.sha256(named.encode()).hexdigest()
        raise Aborted


class Group:
    """Compiles that are under way together. Used by one thread."""

    def __init__(self, most_at_once: int, seconds: float) -> None:
        self.baton = threading.Lock()
        self.slots = threading.Semaphore(most_at_once)
        self.given_up = False
        self.jobs: list[Job] = []
        self._is_stuck = False
        self._deadline = time.monotonic() + seconds

    def add(self, prepare: typing.Callable[[], typing.Any] | None, compile_kernel: typing.Callable[[], typing.Any]) -> bool:
        """Begins a compile, after `prepare` in this thread; returns once its frontend has ended. False: no more are to be begun."""
        if self._is_over() or not self.slots.acquire(timeout=max(0.0, self._deadline - time.monotonic())):
            return False
        job = Job(self, compile_kernel)
        self.jobs.append(job)
        if prepare is not None:
            with self.baton:
                try:
                    prepare()
                except Exception:  # the benchmark meets it again
                    job.done.set()
                    self.slots.release()
                    return True
        threading.Thread(target=job.run, name="tritond-compile", daemon=True).start()
        self._is_stuck = not job.left_frontend.wait(_FRONTEND_SECONDS)
        return not self._is_stuck

    def wait(self) -> None:
        """Until all have ended, or the time is over, or a frontend stands still."""
        for job in self.jobs:
            if self._is_stuck or not job.done.wait(max(0.0, self._deadline - time.monotonic())):
                return

    def _is_over(self) -> bool:
        return any(job.refusal is not None and job.refusal.reason in _FOR_ALL for job in self.jobs)

    def __enter__(self) -> Group:
        return self

    def __exit__(self, *_: object) -> None:
        self.given_up = True


@contextlib.contextmanager
def waiting_for_daemon() -> typing.Iterator[None]:
    """Lets other compiles of this thread's group go on meanwhile."""
    job: Job | None = getattr(_here, "job", None)
    if job is None:
        yield
        return
    job.lay_down()
    job.left_frontend.set()
    try:
        yield
    finally:
        job.take_up()


def is_search() -> bool:
    """Whether this thread compiles a configuration of a search."""
    return getattr(_here, "job", None) is not None


def refuse_local(refusal: NotServed, text: str, options: typing.Any) -> None:
    """To be called before a kernel is compiled locally; Aborted in the thread of a job."""
    job: Job | None = getattr(_here, "job", None)
    if job is not None:
        job.refuse(refusal, text, options)
