# SPDX-License-Identifier: Apache-2.0
"""What a user can set, from arguments or from the environment."""
from __future__ import annotations

import dataclasses
import os
import typing

AUTO = "auto"


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of one process. Times are seconds. No servers: nothing is sent, kernels may still be recorded."""

    servers: tuple[str, ...] = ()
    on_failure: str = "local"
    reach_timeout: float = 1.0
    timeout: float = 300.0
    token: str = ""
    tls: bool = False
    tls_ca: bytes = b""
    tls_cert: bytes = b""
    tls_key: bytes = b""
    tenant: str = ""
    debug_info: bool = False
    any_build: bool = False
    tuning: bool = True
    tuning_wait: float = 60.0


def parse_servers(text: str) -> tuple[str, ...]:
    """The addresses of "a:7433,b:7433", "unix:/run/x.sock" or "auto". ValueError names what is wrong."""
    servers = tuple(part.strip() for part in text.split(",") if part.strip())
    for server in servers:
        host, colon, port = server.rpartition(":")
        fits = server == AUTO or (server.startswith("unix:") and len(server) > 5) or (colon and host and port.isdigit())
        if not fits:
            raise ValueError(f'server address "{server}": expected HOST:PORT, unix:PATH or auto')
    if len(set(servers)) != len(servers):
        raise ValueError(f'servers "{text}": one of them is named twice')
    if AUTO in servers and len(servers) > 1:
        raise ValueError(f'servers "{text}": auto stands alone')
    return servers


def _seconds(name: str, value: str | float) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < 1e9:
        raise ValueError(f"{name}={value}: expected a number of seconds above 0")
    return seconds


def _flag(name: str, value: str | bool) -> bool:
    if isinstance(value, bool):
        return value
    if value.lower() in ("1", "true", "yes", "on"):
        return True
    if value.lower() in ("", "0", "false", "no", "off"):
        return False
    raise ValueError(f"{name}={value}: expected 1 or 0")


def _bytes_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _token(token: str, path: str) -> str:
    token = token or (_bytes_of(path).decode().strip() if path else "")
    if any(not 0x21 <= ord(c) <= 0x7E for c in token):
        raise ValueError("the token: expected one line of printable ASCII without spaces")
    return token


def make_settings(**arguments: typing.Any) -> Settings:
    """Settings from `arguments` by the names of install(); what is absent or None comes from the environment.

    ValueError for a value that makes no sense, OSError for a file that cannot be read; both name the thing.
    """

    def pick(name: str, variable: str, otherwise: typing.Any = "") -> typing.Any:
        given = arguments.get(name)
        return given if given is not None else os.environ.get(variable, otherwise)

    on_failure = pick("on_failure", "TRITOND_ON_FAILURE", "local")
    if on_failure not in ("local", "error"):
        raise ValueError(f'on_failure "{on_failure}": expected local or error')
    files = {name: pick(name, f"TRITOND_{name.upper()}") for name in ("tls_ca", "tls_cert", "tls_key")}
    if bool(files["tls_cert"]) != bool(files["tls_key"]):
        raise ValueError("tls_cert and tls_key go together")
    settings = Settings(
        servers=parse_servers(pick("server", "TRITOND_SERVER")),
        on_failure=on_failure,
        reach_timeout=_seconds("reach_timeout", pick("reach_timeout", "TRITOND_REACH_TIMEOUT", 1.0)),
        timeout=_seconds("timeout", pick("timeout", "TRITOND_TIMEOUT", 300.0)),
        token=_token(pick("token", "TRITOND_TOKEN"), pick("token_file", "TRITOND_TOKEN_FILE")),
        tls=_flag("tls", pick("tls", "TRITOND_TLS")) or any(files.values()),
        tenant=pick("tenant", "TRITOND_TENANT"),
        debug_info=_flag("debug_info", pick("debug_info", "TRITOND_DEBUG_INFO")),
        any_build=_flag("any_build", pick("any_build", "TRITOND_ANY_BUILD")),
        tuning=_flag("tuning", pick("tuning", "TRITOND_TUNING", True)),
        tuning_wait=_seconds("tuning_wait", pick("tuning_wait", "TRITOND_TUNING_WAIT", 60.0)),
        **{name: _bytes_of(path) if path else b"" for name, path in files.items()},
    )
    if settings.token and not settings.tls and any(not s.startswith("unix:") and s != AUTO for s in settings.servers):
        raise ValueError("a token travels only over TLS or a Unix socket: set tls, or tls_ca")
    return settings
