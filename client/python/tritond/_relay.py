# SPDX-License-Identifier: Apache-2.0
"""gRPC in a child process, for processes that cannot have it themselves.

After os.fork a child has none of gRPC's threads, and using gRPC there hangs. Such a child starts this module as a program
and writes its calls to it. Frames, both ways: a JSON header and bodies, each after its size in 8 bytes.
"""
from __future__ import annotations

import base64
import dataclasses
import json
import struct
import subprocess
import sys
import threading
import typing

from tritond._settings import Settings
from tritond._transport import UNAVAILABLE, GrpcTransport, Reply

_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from tritond._relay import serve; serve()"


def _write(pipe: typing.IO[bytes], header: dict[str, typing.Any], bodies: typing.Sequence[bytes]) -> None:
    header = dict(header, bodies=len(bodies))
    for part in (json.dumps(header).encode(), *bodies):
        pipe.write(struct.pack("<Q", len(part)))
        pipe.write(part)
    pipe.flush()


def _read_part(pipe: typing.IO[bytes]) -> bytes:
    size = pipe.read(8)
    part = pipe.read(struct.unpack("<Q", size)[0]) if len(size) == 8 else b""
    if len(size) < 8 or len(part) < struct.unpack("<Q", size)[0]:
        raise EOFError("the other end is gone")
    return part


def _read(pipe: typing.IO[bytes]) -> tuple[dict[str, typing.Any], list[bytes]]:
    header = json.loads(_read_part(pipe))
    return header, [_read_part(pipe) for _ in range(header["bodies"])]


class _Relay:
    """One child process with one channel. One call at a time; ends when its standard input does."""

    def __init__(self, address: str, settings: Settings) -> None:
        command = [sys.executable or "python3", "-S", "-c", _START, json.dumps(sys.path)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        fields = {name: base64.b64encode(value).decode() if isinstance(value, bytes) else value
                  for name, value in dataclasses.asdict(settings).items()}
        assert self._process.stdin is not None and self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout
        _write(self._to, {"address": address, "settings": fields}, ())

    def call(self, method: str, request: bytes, timeout: float, streamed: bool) -> Reply:
        _write(self._to, {"method": method, "timeout": timeout, "streamed": streamed}, (request,))
        header, bodies = _read(self._from)
        return Reply(header["code"], header["message"], bodies[0], bodies[1:])

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._to.close()
        self._from.close()


class RelayTransport:
    """As many relays as calls are made at the same time."""

    def __init__(self, address: str, settings: Settings) -> None:
        self._address = address
        self._settings = settings
        self._lock = threading.Lock()
        self._idle: list[_Relay] = []

    def call(self, method: str, request: bytes, timeout: float, streamed: bool = False) -> Reply:
        with self._lock:
            relay = self._idle.pop() if self._idle else None
        try:
            relay = relay or _Relay(self._address, self._settings)
        except OSError as error:
            return Reply(UNAVAILABLE, f"cannot start a process for gRPC: {error}", b"", [])
        try:
            reply = relay.call(method, request, timeout, streamed)
        except BaseException as error:
            relay.end()
            if isinstance(error, (OSError, EOFError, ValueError)):
                return Reply(UNAVAILABLE, f"the process for gRPC ended: {error}", b"", [])
            raise
        with self._lock:
            self._idle.append(relay)
        return reply

    def abandon(self) -> None:
        # The pipes are shared with the parent now; a child leaves them alone.
        self._lock = threading.Lock()
        self._idle = []


def serve() -> None:
    """The child process."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    try:
        header, _ = _read(source)
        kinds = {field.name: field for field in dataclasses.fields(Settings)}
        fields: dict[str, typing.Any] = {name: base64.b64decode(value) if isinstance(kinds[name].default, bytes) else value
                  for name, value in header["settings"].items()}
        transport = GrpcTransport(header["address"], Settings(**fields))
        while True:
            header, bodies = _read(source)
            reply = transport.call(header["method"], bodies[0], header["timeout"], header["streamed"])
            _write(sink, {"code": reply.code, "message": reply.message}, (reply.details, *reply.body))
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        pass
