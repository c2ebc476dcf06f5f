# SPDX-License-Identifier: Apache-2.0
"""One search's dealings with AutotuneService: who measures, and what was measured."""
from __future__ import annotations

import threading
import time
import typing

from tritond import _schema

if typing.TYPE_CHECKING:
    from tritond._service import Line

# One call waits this long at most, so that Ctrl-C and a daemon that is gone are noticed.
_SLICE = 5.0
_CALL_SECONDS = 10.0
_ABANDON_SECONDS = 1.0
_LONGEST_MEASUREMENT = 1800.0


class Desk:
    """Tickets of one search, renewed until it ends. Where the daemon cannot be asked, this process measures. Never raises for what
    the daemon does."""

    def __init__(self, line: Line | None, wait: float) -> None:
        self._line = line
        self._deadline = time.monotonic() + wait
        self._tickets: list[tuple[str, _schema.Message]] = []
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def acquire(self, key: _schema.Message) -> _schema.Message | None:
        """The stored ProgramTuning. None: this process measures, with a ticket, or without one when the wait is over."""
        while self._line is not None:
            wait = max(0.0, min(_SLICE, self._deadline - time.monotonic()))
            request = _schema.AcquireProgramTuningRequest(key=key)
            request.wait.seconds, request.wait.nanos = int(wait), int(wait % 1 * 1e9)
            begin = time.monotonic()
            response = self._call(_schema.ACQUIRE_TUNING, request, _schema.AcquireProgramTuningResponse, wait + _CALL_SECONDS)
            if response is None:
                self._line = None
                return None
            if response.HasField("stored"):
                return response.stored
            if response.ticket:
                self._keep(response.ticket, key, response.ticket_lifetime)
                return None
            if wait < _SLICE or time.monotonic() - begin < wait * 0.5:
                return None  # the wait is over, or there is nobody to wait for
        return None

    def store(self, tuning: _schema.Message) -> bool:
        """Hands over what was measured; the search has ended. Whether anybody took it."""
        taken = [self._call(_schema.STORE_TUNING, _schema.StoreProgramTuningRequest(ticket=ticket, key=key, tuning=tuning),
                            _schema.StoreProgramTuningResponse) for ticket, key in self._end()]
        return any(answer is not None for answer in taken)

    def abandon(self) -> None:
        """The search has ended without a winner."""
        for ticket, _ in self._end():
            self._call(_schema.ABANDON_TUNING, _schema.AbandonProgramTuningRequest(ticket=ticket),
                       _schema.AbandonProgramTuningResponse, _ABANDON_SECONDS)

    def _end(self) -> list[tuple[str, _schema.Message]]:
        self._ended.set()
        with self._lock:
            tickets, self._tickets = self._tickets, []
        return tickets

    def _keep(self, ticket: str, key: _schema.Message, lifetime: typing.Any) -> None:
        with self._lock:
            self._tickets.append((ticket, key))
            first = len(self._tickets) == 1
        if first:
            pause = max(0.05, (lifetime.seconds + lifetime.nanos * 1e-9) / 3)
            threading.Thread(target=self._renew, args=(pause,), name="tritond-tuning", daemon=True).start()

    def _renew(self, pause: float) -> None:
        end = time.monotonic() + _LONGEST_MEASUREMENT
        while not self._ended.wait(pause) and time.monotonic() < end:
            with self._lock:
                tickets = [ticket for ticket, _ in self._tickets]
            for ticket in tickets:
                self._call(_schema.RENEW_TUNING, _schema.RenewProgramTuningRequest(ticket=ticket),
                           _schema.RenewProgramTuningResponse)

    def _call(self, method: str, request: _schema.Message, response: typing.Any,
              timeout: float = _CALL_SECONDS) -> _schema.Message | None:
        line = self._line
        body = line.call(method, request.SerializeToString(), timeout) if line is not None else None
        return None if body is None else response.FromString(body)
