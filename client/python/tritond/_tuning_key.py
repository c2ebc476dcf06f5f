# SPDX-License-Identifier: Apache-2.0
"""What a search of @triton.autotune is called: what must be equal for its winner to be of use elsewhere."""
from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import typing

from tritond import _device, _schema

_MOST_CONFIGURATIONS = 1024  # proto/v1/autotune.proto, as the next two
_MOST_ARGUMENTS = 256
_TEXT_BYTES = 4 << 10


class NotShared(Exception):
    """The search has no name that another process would give it too."""


@dataclasses.dataclass(frozen=True)
class Program:
    """One search. `configurations` are sorted; `source` is "" where the program has no name before it is compiled."""

    function: str
    configurations: tuple[str, ...]
    source: str
    target: str
    arguments: tuple[str, ...]
    device_model: str
    driver: str
    triton_version: str
    benchmark: str

    def key(self, kernels: typing.Sequence[str] = ()) -> _schema.Message:
        """The ProgramTuningKey, by the configurations' kernels or, without them, by the source."""
        fields = dataclasses.asdict(self)
        del fields["source"]
        return _schema.ProgramTuningKey(**fields, kernels=kernels, source="" if kernels else self.source)


def jit_function(autotuner: typing.Any) -> typing.Any | None:
    """The function that is tuned; None where something stands between that this package does not know."""
    from triton.runtime.autotuner import Heuristics  # type: ignore[import-not-found, unused-ignore]
    from triton.runtime.jit import JITFunction  # type: ignore[import-not-found, unused-ignore]

    function = autotuner.fn
    while type(function) is Heuristics:
        function = function.fn
    return function if isinstance(function, JITFunction) else None


def configuration_text(config: typing.Any) -> str:
    """What a configuration chooses. NotShared when it has no text, or too much."""
    return _bounded(json.dumps(config.all_kwargs(), sort_keys=True, default=_text))


def name_program(autotuner: typing.Any, configurations: typing.Iterable[str], args: typing.Sequence[typing.Any],
                 meta: dict[str, typing.Any]) -> Program:
    """NotShared when a part of the name is not known."""
    import triton  # type: ignore[import-not-found, unused-ignore]
    from triton.runtime.driver import driver  # type: ignore[import-not-found, unused-ignore]

    function = jit_function(autotuner)
    target = driver.active.get_current_target()
    device = _device.identify(target.backend, driver.active.get_current_device())
    texts = sorted(configurations)
    if function is None or device is None or len(set(texts)) != len(texts) or len(texts) > _MOST_CONFIGURATIONS:
        raise NotShared
    named = {**dict(zip(autotuner.arg_names, args)), **meta}
    named = {name: value for name, value in named.items() if name in autotuner.arg_names}
    return Program(
        function=function.__name__[:1000], configurations=tuple(texts), source=_source(autotuner, function, named, meta),
        target=f"{target.backend}:{target.arch}", arguments=_arguments(autotuner, named), device_model=device[0],
        driver=device[1], triton_version=triton.__version__, benchmark=_benchmark(autotuner))


def _bounded(text: str) -> str:
    if len(text.encode()) > _TEXT_BYTES:
        raise NotShared
    return text


def _text(value: typing.Any) -> str:
    """What stands for the value in every process. NotShared when it is only an address."""
    text = str(getattr(value, "cache_key", "")) or repr(value)
    if " at 0x" in text:
        raise NotShared
    return _bounded(text)


def _key_names(autotuner: typing.Any) -> list[str]:
    if hasattr(autotuner, "keys"):
        return list(autotuner.keys)
    return [autotuner.arg_names[index] for index in autotuner.key_idx]  # Triton 3.0


def _arguments(autotuner: typing.Any, named: dict[str, typing.Any]) -> tuple[str, ...]:
    """The tuning key as Triton makes it: the values of the arguments in `key`, and the types of all that have one."""
    parts = [_text(named[name]) for name in _key_names(autotuner) if name in named]
    parts += [str(value.dtype) for value in named.values() if hasattr(value, "dtype")]
    if len(parts) > _MOST_ARGUMENTS:
        raise NotShared
    return tuple(_bounded(part) for part in parts)


def _kind(value: typing.Any, is_constexpr: bool) -> str:
    """What of an argument decides about the kernel: Triton specialises on no more."""
    if hasattr(value, "data_ptr"):
        return f"{value.dtype} {value.data_ptr() % 16 == 0}"
    if isinstance(value, int) and not isinstance(value, bool) and not is_constexpr:
        return "1" if value == 1 else f"{value % 16 == 0} {-(1 << 31) <= value < 1 << 31}"
    return "float" if isinstance(value, float) and not is_constexpr else _text(value)


def _source(autotuner: typing.Any, function: typing.Any, named: dict[str, typing.Any], meta: dict[str, typing.Any]) -> str:
    constexprs = {param.name for param in function.params if param.is_constexpr}
    others = {name: value for name, value in meta.items() if name not in named and name not in ("grid", "warmup")}
    try:
        parts = [function.cache_key, _heuristics(autotuner),
                 sorted((name, _kind(value, name in constexprs)) for name, value in named.items()),
                 sorted((name, _text(value)) for name, value in others.items())]
    except NotShared:
        return ""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _heuristics(autotuner: typing.Any) -> list[str]:
    """The code of the heuristics below the autotuner."""
    found = []
    function = autotuner.fn
    while hasattr(function, "values") and hasattr(function, "fn"):
        for name, value in sorted(function.values.items()):
            code = value.__code__ if hasattr(value, "__code__") else None
            found.append(f"{name} {code.co_code.hex()} {code.co_names}" if code else _text(value))
        function = function.fn
    return found


def _benchmark(autotuner: typing.Any) -> str:
    own = vars(autotuner)
    function = own["_do_bench"] if "_do_bench" in own else own.get("do_bench")
    settings = [own.get("num_warmups"), own.get("num_reps"), own.get("use_cuda_graph", False)]
    return f"{_function_name(function)} {settings}"


def _function_name(function: typing.Any) -> str:
    if function is None:
        return "default"
    if isinstance(function, functools.partial):
        return f"{_function_name(function.func)}{_text(function.args)}{_text(sorted(function.keywords.items()))}"
    return f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__qualname__)}"
