# SPDX-License-Identifier: Apache-2.0
"""Calls of one server, as bytes: directly through gRPC, or through a child process where gRPC cannot be used."""
from __future__ import annotations

import ctypes
import os
import sys
import typing

from tritond._errors import NotServed
from tritond._settings import Settings

OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, PERMISSION_DENIED = 0, 1, 2, 3, 4, 7
RESOURCE_EXHAUSTED, FAILED_PRECONDITION, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, UNAUTHENTICATED = 8, 9, 12, 13, 14, 16

_MAX_MESSAGE_BYTES = 256 << 20
# A daemon that dies silently in the middle of a call is noticed after the sum of both. Daemons permit a question each 5 s.
_KEEPALIVE_MS = 6000
_KEEPALIVE_TIMEOUT_MS = 2000


class Reply(typing.NamedTuple):
    """What a call gave. `code` is gRPC's; `body` counts when it is OK, else `message` and `details` (google.rpc.Status)."""

    code: int
    message: str
    details: bytes
    body: list[bytes]


class Transport(typing.Protocol):
    """Calls of one server. Thread-safe; belongs to the process that made it."""

    def call(self, method: str, request: bytes, timeout: float, streamed: bool = False) -> Reply:
        """One call, at most `timeout` seconds. Never raises for what the network or the server does."""

    def abandon(self) -> None:
        """In a forked child: never touches what belongs to the parent."""


def _options(settings: Settings) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES),
        ("grpc.max_send_message_length", -1),  # the server says what is too much
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", int(settings.reach_timeout * 1000) + 1000),  # the call's own limit comes first
        ("grpc.max_reconnect_backoff_ms", 2000),
        ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
        ("grpc.keepalive_timeout_ms", _KEEPALIVE_TIMEOUT_MS),
        ("grpc.http2.ping_timeout_ms", _KEEPALIVE_TIMEOUT_MS),  # what counts since gRPC 1.60; a minute otherwise
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.use_local_subchannel_pool", 1),  # another channel's failed attempts do not count here
    ]


class GrpcTransport:
    """A gRPC channel. Connects with the first call."""

    def __init__(self, address: str, settings: Settings) -> None:
        if "grpc" not in sys.modules:  # it would tell people of each connection that ends
            os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
        # Read with the first channel. Else os.fork, which holds the interpreter's lock, joins a thread of gRPC that may wait
        # for that lock (seen with 1.49). Forked children need nothing of what that would keep: they call through a relay.
        os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")
        try:
            import grpc
        except ImportError as error:
            raise NotServed("package", f"a package is missing or does not fit: {error}") from error
        self._grpc = grpc
        self._metadata = (("authorization", f"Bearer {settings.token}"),) if settings.token else ()
        if settings.tls and not address.startswith("unix:"):
            credentials = grpc.ssl_channel_credentials(
                settings.tls_ca or None, settings.tls_key or None, settings.tls_cert or None)
            self._channel = grpc.secure_channel(address, credentials, options=_options(settings))
        else:
            self._channel = grpc.insecure_channel(address, options=_options(settings))

    def call(self, method: str, request: bytes, timeout: float, streamed: bool = False) -> Reply:
        try:
            if streamed:
                stream = self._channel.unary_stream(method)
                body = list(stream(request, timeout=timeout, metadata=self._metadata))
            else:
                body = [self._channel.unary_unary(method)(request, timeout=timeout, metadata=self._metadata)]
        except self._grpc.RpcError as error:
            return self._failure(error)
        return Reply(OK, "", b"", body)

    def _failure(self, error: typing.Any) -> Reply:
        details = b""
        for key, value in error.trailing_metadata() or ():
            if key == "grpc-status-details-bin":
                details = value
        return Reply(error.code().value[0], error.details() or "", details, [])

    def abandon(self) -> None:
        # The channel's locks and threads stayed in the parent, so not even its destructor may run here: it never does when its
        # count of references cannot reach 0.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._channel))


def grpc_is_usable() -> bool:
    """False in a process that was forked from one that had imported gRPC: its threads are not there."""
    return not _forked_with_grpc


def open_transport(address: str, settings: Settings) -> Transport:
    """What reaches `address` from this process."""
    if grpc_is_usable():
        return GrpcTransport(address, settings)
    from tritond._relay import RelayTransport

    return RelayTransport(address, settings)


_forked_with_grpc = False


def _after_fork() -> None:
    global _forked_with_grpc
    _forked_with_grpc = _forked_with_grpc or "grpc" in sys.modules


os.register_at_fork(after_in_child=_after_fork)
