# SPDX-License-Identifier: Apache-2.0
"""The daemons that a process compiles through: which one to ask, when to leave one alone, when to give up.

A server that does not answer rests for a second, and twice as long each time, up to half a minute; kernels are compiled
locally meanwhile. Connections belong to a process: a forked child makes its own.
"""
from __future__ import annotations

import dataclasses
import hashlib
import os
import random
import re
import threading
import time
import typing
import weakref

from tritond import _auto, _outcome, _schema
from tritond._errors import NotServed
from tritond._settings import AUTO, Settings
from tritond._transport import DEADLINE_EXCEEDED, OK, Reply, Transport, open_transport

_FIRST_REST = 1.0
_LONGEST_REST = 30.0
# A server that has answered within this time is asked without a call before to see whether it is there.
_FRESH = 1.0
# How long on_failure="error" asks again, where local compiles would not be an answer.
_PATIENCE = 15.0
_LOCATION = re.compile(rb" loc\([^\n]*\)$|^#loc[^\n]*\n", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Answer:
    """A compiled kernel. `artifacts` has the bytes of every output that was asked for, by stage."""

    cache: str  # "hit", "miss" or "joined"
    artifacts: dict[int, bytes]
    metadata_json: str
    ignored_options: tuple[str, ...]


class Server:
    """One daemon. Thread-safe."""

    def __init__(self, address: str, settings: Settings) -> None:
        self.address = address
        self._settings = settings
        self._rest = 0.0
        self.start()

    def start(self) -> None:
        """Without a connection; also after a fork, where another thread may have held the lock."""
        self._lock = threading.Lock()
        self._transport: Transport | None = None
        self._targets: frozenset[str] = frozenset()
        self._max_ir_bytes = 0
        self._heard = 0.0
        self._until = 0.0

    def abandon(self) -> None:
        """In a forked child."""
        if self._transport is not None:
            self._transport.abandon()
        self.start()

    def resting(self) -> float:
        """Seconds until it is tried again; 0: now."""
        return max(0.0, self._until - time.monotonic())

    def reach(self) -> Transport:
        """A transport on which the daemon has just answered. NotServed within reach_timeout when it does not."""
        with self._lock:
            if self._until > time.monotonic():
                raise NotServed("resting", f"{self.address} did not answer lately", silent=True)
            if self._transport is not None and time.monotonic() - self._heard < _FRESH:
                return self._transport
            try:
                transport, reply = self._connect()
            except NotServed:
                self._leave_alone()
                raise
            if reply.code != OK and (_outcome.is_dropped(reply) or reply.code == DEADLINE_EXCEEDED):
                self._leave_alone()
                raise _outcome.unreached(self.address, reply, self._settings.tls)
            self._learn(transport, reply)
            return transport

    def _connect(self) -> tuple[Transport, Reply]:
        """A transport, and what the daemon said of itself."""
        transport = self._transport or open_transport(self.address, self._settings)
        reply = self._describe(transport)
        if reply.code != OK and _outcome.is_dropped(reply) and self._transport is not None:
            # A connection from before the daemon was started anew.
            transport = open_transport(self.address, self._settings)
            reply = self._describe(transport)
        return transport, reply

    def _describe(self, transport: Transport) -> Reply:
        return transport.call(_schema.DESCRIBE, _schema.DescribeRequest().SerializeToString(), self._settings.reach_timeout)

    def _learn(self, transport: Transport, reply: Reply) -> None:
        self._transport, self._heard, self._rest = transport, time.monotonic(), 0.0
        if reply.code == OK:
            described = _schema.DescribeResponse.FromString(reply.body[0])
            self._targets = frozenset(target.name for target in described.targets)
            self._max_ir_bytes = described.max_ir_bytes

    def _leave_alone(self) -> None:
        self._transport = None
        self._rest = min(max(self._rest * 2, _FIRST_REST), _LONGEST_REST)
        self._until = time.monotonic() + self._rest

    def knows(self, target: str) -> bool:
        """Whether the daemon has, or has had, workers for this target."""
        return target in self._targets

    def check(self, request: _schema.Message) -> None:
        """NotServed for what this daemon has said that it does not take. Not by target: it may have results without a worker."""
        if self._max_ir_bytes and len(request.ir) > self._max_ir_bytes:
            raise NotServed("size", f"{self.address} takes IR of at most {self._max_ir_bytes} bytes, not {len(request.ir)}")

    def compile(self, request: _schema.Message, body: bytes, timeout: float) -> tuple[Transport, Reply]:
        """One call of Compile; asked once more where the connection broke and the daemon is there again."""
        transport = self.reach()
        self.check(request)
        reply = transport.call(_schema.COMPILE, body, timeout)
        if reply.code == OK or not _outcome.is_dropped(reply):
            self._heard = time.monotonic()
            return transport, reply
        with self._lock:
            if self._transport is transport:
                self._transport = None
        transport = self.reach()
        return transport, transport.call(_schema.COMPILE, body, timeout)


class Line:
    """Calls of one daemon that may fail. Thread-safe."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def call(self, method: str, body: bytes, timeout: float) -> bytes | None:
        """The answer; None when there is none, whatever the reason."""
        try:
            reply = self._server.reach().call(method, body, timeout)
        except NotServed:
            return None
        return reply.body[0] if reply.code == OK else None


class AutoServer(Server):
    """The daemon of this user and machine, which is started when it does not run."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(_auto.address(), settings)

    def _connect(self) -> tuple[Transport, Reply]:
        transport, reply = super()._connect()
        if reply.code == OK or not _outcome.is_dropped(reply):
            return transport, reply
        _auto.start(self._is_ready)
        transport = open_transport(self.address, self._settings)
        return transport, self._describe(transport)

    def _is_ready(self) -> bool:
        reply = self._describe(open_transport(self.address, self._settings))
        return reply.code == OK and any(t.attached for t in _schema.DescribeResponse.FromString(reply.body[0]).targets)


class Service:
    """All the daemons of one process. Thread-safe, also over os.fork."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._servers = [AutoServer(settings) if address == AUTO else Server(address, settings) for address in settings.servers]
        _services.add(self)

    def abandon(self) -> None:
        """In a forked child."""
        for server in self._servers:
            server.abandon()

    def resting(self) -> dict[str, float]:
        """Seconds until each server that did not answer is tried again."""
        return {server.address: server.resting() for server in self._servers if server.resting() > 0}

    def compile(self, request: _schema.Message, diagnosis: typing.Callable[[typing.Any], str]) -> Answer:
        """The kernel, from the first daemon that gives it. NotServed when none does."""
        deadline = time.monotonic() + (_PATIENCE if self.settings.on_failure == "error" else 0.0)
        pause = 0.1
        while True:
            try:
                return self._ask_all(request, diagnosis)
            except _Again as again:
                if time.monotonic() + pause > deadline:
                    raise again.failure from None
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 2, 2.0)

    def line(self, name: str) -> Line | None:
        """The first daemon that answers now, in the order of this name; the same for all processes."""
        for server in self._ordered(name.encode()):
            try:
                server.reach()
            except NotServed:
                continue
            return Line(server)
        return None

    def _ask_all(self, request: _schema.Message, diagnosis: typing.Callable[[typing.Any], str]) -> Answer:
        body = request.SerializeToString()
        failures: list[NotServed] = []
        again = False
        for server in self._in_order(request):
            try:
                transport, reply = server.compile(request, body, self.settings.timeout)
            except NotServed as failure:
                failures.append(failure)
                again = again or failure.reason in ("resting", "unreachable", "no answer")
                continue
            if reply.code == OK:
                return _read_answer(transport, reply, self.settings.timeout)
            if _outcome.is_dropped(reply):
                failures.append(_outcome.unreached(server.address, reply, self.settings.tls))
            else:
                failures.append(_outcome.refused(server.address, reply, diagnosis, server.knows(request.target)))
            again = again or _outcome.may_ask_again(reply)
            if not _outcome.another_may_help(reply):
                break
        worst = next((f for f in reversed(failures) if not f.silent), failures[-1])
        if again:
            raise _Again(worst)
        raise worst

    def _in_order(self, request: _schema.Message) -> list[Server]:
        """Each kernel has its order of servers, the same in every process; those that rest come last."""
        return self._ordered(_LOCATION.sub(b"", request.ir) + request.target.encode() if len(self._servers) > 1 else b"")

    def _ordered(self, name: bytes) -> list[Server]:
        servers = self._servers
        if len(servers) > 1:
            digest = hashlib.sha256(name).hexdigest()
            servers = sorted(servers, key=lambda s: hashlib.sha256(f"{s.address}\n{digest}".encode()).digest())
        return sorted(servers, key=lambda server: server.resting() > 0)


class _Again(Exception):
    def __init__(self, failure: NotServed) -> None:
        super().__init__(failure.message)
        self.failure = failure


def _read_answer(transport: Transport, reply: Reply, timeout: float) -> Answer:
    response = _schema.CompileResponse.FromString(reply.body[0])
    blobs = {blob.digest: blob.data for blob in response.blobs}
    artifacts = {}
    for artifact in response.result.artifacts:
        if artifact.digest not in blobs:  # too large for one message
            blobs[artifact.digest] = _fetch(transport, artifact.digest, timeout)
        artifacts[artifact.kind] = blobs[artifact.digest]
    return Answer(
        cache=_schema.CACHE_STATUS.get(response.cache, "miss"),
        artifacts=artifacts,
        metadata_json=response.result.metadata_json,
        ignored_options=tuple(response.result.ignored_options),
    )


def _fetch(transport: Transport, digest: str, timeout: float) -> bytes:
    request = _schema.FetchRequest(digest=digest).SerializeToString()
    reply = transport.call(_schema.FETCH, request, timeout, streamed=True)
    data = b"".join(_schema.FetchResponse.FromString(part).data for part in reply.body)
    if reply.code != OK or hashlib.sha256(data).hexdigest() != digest:
        raise NotServed("unreachable", f"artifact {digest} did not come whole: {reply.message or 'damaged'}")
    return data


_services: weakref.WeakSet[Service] = weakref.WeakSet()


def _after_fork() -> None:
    for service in list(_services):
        service.abandon()


os.register_at_fork(after_in_child=_after_fork)
