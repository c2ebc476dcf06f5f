# SPDX-License-Identifier: Apache-2.0
"""What a failed call means for a kernel: the only place that reads gRPC's codes and the service's reasons."""
from __future__ import annotations

import re
import typing

from tritond import _schema
from tritond._errors import NotServed
from tritond._transport import (
    CANCELLED,
    DEADLINE_EXCEEDED,
    FAILED_PRECONDITION,
    INTERNAL,
    INVALID_ARGUMENT,
    PERMISSION_DENIED,
    RESOURCE_EXHAUSTED,
    UNAUTHENTICATED,
    UNAVAILABLE,
    UNIMPLEMENTED,
    UNKNOWN,
    Reply,
)

# Reasons of ErrorInfo that concern the daemon as it is now, and the words of status() for them. Targets that no worker serves
# stay local silently.
_NOT_NOW = {"DRAINING": "draining", "QUEUE_FULL": "busy", "TENANT_QUEUE_FULL": "busy", "MEMORY_FULL": "busy",
            "WORKER_LOST": "worker lost", "NO_WORKER": "no worker"}
_NOT_HERE = frozenset({"UNKNOWN_TARGET", "BINARY_UNAVAILABLE"})
_LIMIT = re.compile(r"needs (\d+) bytes of shared memory, but \S+ has (\d+)")


def reason_of(reply: Reply) -> str:
    """The reason of the reply's ErrorInfo; "" without one: then no tritond answered."""
    info = _schema.find_detail(reply.details, _schema.ErrorInfo)
    return str(info.reason) if info else ""


def is_dropped(reply: Reply) -> bool:
    """Whether no daemon answered: it was not reached, its connection broke, or something else listens there."""
    if reason_of(reply):
        return False
    return reply.code in (UNAVAILABLE, CANCELLED, UNKNOWN, UNIMPLEMENTED, PERMISSION_DENIED, UNAUTHENTICATED, INTERNAL)


def another_may_help(reply: Reply) -> bool:
    """Whether the answer holds for this daemon rather than for the kernel."""
    reason = reason_of(reply)
    return is_dropped(reply) or reason in _NOT_NOW or reason in _NOT_HERE


def may_ask_again(reply: Reply) -> bool:
    """Whether the same call may succeed soon."""
    return reply.code == UNAVAILABLE or (
        reply.code == RESOURCE_EXHAUSTED and _schema.find_detail(reply.details, _schema.RetryInfo) is not None)


def why_unreachable(message: str, tls: bool) -> str:
    """GRPC's message of a failed connection in a few words; itself where it is none of those that are known."""
    lower = message.lower()
    for word, meaning in (
            ("connection refused", "nothing listens there (connection refused)"),
            ("no such file", "nothing listens there (no such socket)"),
            ("permission denied", "permission denied: the socket's mode or folder keeps this user out"),
            ("dns resolution failed", "the name cannot be resolved"), ("address lookup failed", "the name cannot be resolved"),
            ("no route to host", "no way leads there"), ("network is unreachable", "no way leads there"),
            ("verify failed", "TLS: the server's certificate does not verify (expired, or of another authority?)"),
            ("not in peer certificate", "TLS: the server's certificate is for another name"),
            ("wrong_version", "TLS: the server talks no TLS"),
            ("handshake", "the TLS handshake failed"),
            ("socket closed", "the connection was closed" + ("" if tls else ": does the server want TLS (tls_ca)?"))):
        if word in lower:
            return meaning
    return message.rpartition("last error: ")[2] or message


def unreached(address: str, reply: Reply, tls: bool) -> NotServed:
    """The failure of a call that no daemon answered."""
    if reply.code == DEADLINE_EXCEEDED or "timed out" in reply.message.lower():
        return NotServed("no answer", f"{address}: no answer in time")
    if reply.code in (UNAVAILABLE, CANCELLED):
        return NotServed("unreachable", f"{address}: {why_unreachable(reply.message, tls)}")
    return NotServed("unreachable", f"{address}: no tritond answers there ({reply.message})")


def refused(address: str, reply: Reply, diagnosis: typing.Callable[[typing.Any], str], knows_target: bool = True) -> NotServed:
    """The failure of a compile that a daemon answered. `diagnosis` makes text of a CompileFailure's diagnostics.

    `knows_target`: the daemon has, or has had, a worker for the target; else none is missing.
    """
    reason, message = reason_of(reply), f"{address}: {reply.message}"
    failure = _schema.find_detail(reply.details, _schema.CompileFailure)
    said = diagnosis(failure.diagnostics) if failure else ""
    if reason in _NOT_HERE or (reason == "NO_WORKER" and not knows_target):
        return NotServed("target", message, silent=True)
    if reason in _NOT_NOW:
        return NotServed(_NOT_NOW[reason], message)
    if reply.code == UNIMPLEMENTED:
        return NotServed("unimplemented", said or message)
    if reply.code == INVALID_ARGUMENT:
        return NotServed("invalid", said or message, diagnosis=said or reply.message)
    if reply.code == RESOURCE_EXHAUSTED and failure:
        sizes = _LIMIT.search(said or reply.message)
        over = (int(sizes.group(1)), int(sizes.group(2))) if sizes else (0, 0)
        return NotServed("limits", said or message, diagnosis=said or reply.message, over_limit=over)
    words = {RESOURCE_EXHAUSTED: "busy", DEADLINE_EXCEEDED: "timeout", FAILED_PRECONDITION: "quarantined",
             UNAUTHENTICATED: "denied", PERMISSION_DENIED: "denied", UNAVAILABLE: "unavailable"}
    return NotServed(words.get(reply.code, "internal"), said or message)
