# SPDX-License-Identifier: Apache-2.0
"""The stages of one kernel's compile: given by the daemon, or Triton's own where it does not."""
from __future__ import annotations

import json
import re
import typing

from tritond import _locations, _options, _precompile, _recording
from tritond._abi import LaunchAbi, probe_abi
from tritond._errors import LocalCompileError, NotServed, TritondError
from tritond._status import counts

if typing.TYPE_CHECKING:
    from tritond._install import Session
    from tritond._service import Answer

StageFunction = typing.Callable[[typing.Any, dict[str, typing.Any]], typing.Any]

_TTIR, _TTGIR, _LLIR, _ASM, _BINARY = 1, 2, 3, 4, 5  # tritond.v1.Stage
_STAGES = {"ttir": _TTIR, "ttgir": _TTGIR, "llir": _LLIR, "ptx": _ASM, "amdgcn": _ASM, "cubin": _BINARY, "hsaco": _BINARY,
           "spv": _BINARY}
_AUTOTUNE = 2  # tritond.v1.Priority
_ANY_BUILD = 3  # tritond.v1.CacheMode
_KERNEL_NAME = re.compile(r'tt\.func public @"?([^"(\s]+)')
_DESCRIPTOR_PARAMETER = re.compile(r"tt\.func public @[^\n]*!tt\.tensordesc")


class Kernel:
    """Stands in for the stage functions of one compile, which call it in order and on one thread."""

    def __init__(self, backend: typing.Any, options: typing.Any, stages: dict[str, StageFunction],
                 session: Session | None) -> None:
        self._backend = backend
        self._options = options
        self._local = dict(stages)
        self._session = session
        self._answer: Answer | None = None
        self._decided = False
        self._text = ""
        self._diagnosis = ""

    def take_over(self, stages: dict[str, StageFunction]) -> None:
        """Replaces every stage by one that asks first."""
        for extension in list(stages):
            stages[extension] = lambda source, metadata, at=extension: self._run(at, source, metadata)  # type: ignore[misc]

    def _run(self, extension: str, source: typing.Any, metadata: dict[str, typing.Any]) -> typing.Any:
        if not self._decided:
            self._decided = True
            self._decide(extension, source, metadata)
        if self._answer is None:
            return self._run_locally(extension, source, metadata)
        if extension == "ttir":
            return self._text
        data = self._answer.artifacts[_STAGES[extension]]
        return data if _STAGES[extension] == _BINARY else data.decode()

    def _run_locally(self, extension: str, source: typing.Any, metadata: dict[str, typing.Any]) -> typing.Any:
        try:
            return self._local[extension](source, metadata)
        except Exception as error:
            if self._diagnosis and error.args and isinstance(error.args[0], str):
                error.args = (f"{error.args[0]}\n{self._diagnosis}", *error.args[1:])
            raise

    def _decide(self, extension: str, source: typing.Any, metadata: dict[str, typing.Any]) -> None:
        """Sets `_answer`, and fills `metadata`, where the daemon gives the kernel."""
        name = "?"
        try:
            self._check_stages(extension)
            self._text = str(source)
            found = _KERNEL_NAME.search(self._text)
            name = found.group(1) if found else "?"
            abi = probe_abi(type(self._backend)).for_kernel(self._target(), bool(_DESCRIPTOR_PARAMETER.search(self._text)))
            _options.check_local_needs(self._options, type(self._backend), __import__("triton").__file__ or "")
            sent = _options.options_to_send(self._options)
            outputs = [_STAGES[e] for e in self._local if e != "ttir"]
            debug_info = self._session is not None and self._session.settings.debug_info
            _recording.record(name, self._target(), self._text, sent, outputs, abi, debug_info)
            if self._session is None:
                return
            answer = self._ask(name, sent, outputs, abi)
            _options.check_ignored(answer.ignored_options, self._options, self._backend.parse_options({}))
            metadata.update(self._metadata_of(answer, abi, metadata))
            counts.add_served(answer.cache)
            self._answer = answer
        except NotServed as refusal:
            self._stay_local(name, refusal)
        except (_recording.RecordingError, _precompile.Aborted):
            raise
        except Exception as error:  # a mistake of this package must not cost the user's program
            self._stay_local(name, NotServed("package", f"{type(error).__name__}: {error}"))

    def _check_stages(self, extension: str) -> None:
        """NotServed unless this compile begins with TTIR and ends in a binary that the daemon knows."""
        known = list(self._local)[:2] == ["ttir", "ttgir"] and all(e in _STAGES for e in self._local)
        if not known or extension not in ("ttir", "ttgir"):
            raise NotServed("stages", "the compile does not begin with TTIR", silent=True)
        # An IR file as the source: its own stage is not run, so TTIR arrives at the next one.

    def _target(self) -> str:
        target = self._backend.target
        arch = str(getattr(self._options, "arch", None) or target.arch)
        return f"{target.backend}:{arch[2:] if target.backend == 'cuda' and arch.startswith('sm') else arch}"

    def _ask(self, name: str, options: dict[str, typing.Any], outputs: list[int], abi: LaunchAbi) -> Answer:
        from tritond import __version__, _schema

        assert self._session is not None
        settings = self._session.settings
        request = _schema.CompileRequest(
            target=self._target(), input=_TTIR, ir=self._text.encode(), outputs=outputs, debug_info=settings.debug_info,
            tenant=settings.tenant, client_version=f"tritond-python {__version__}", label=name[:200])
        if settings.any_build:
            request.cache_mode = _ANY_BUILD
        if _precompile.is_search():
            request.priority = _AUTOTUNE
        request.abi.global_scratch = abi.global_scratch
        request.abi.profile_scratch = abi.profile_scratch
        request.abi.descriptor_flags = abi.descriptor_flags
        if abi.host_tensor_maps:  # a daemon that does not know it goes without
            request.abi.host_tensor_maps = True
        for option, value in options.items():
            _schema.set_value(request.options.fields[option], value)
        service = self._session.service()
        with _precompile.waiting_for_daemon():
            answer = service.compile(request, lambda diagnostics: _locations.describe(self._text, diagnostics))
        missing = [output for output in outputs if output not in answer.artifacts]
        if missing:
            raise NotServed("answer", f"the daemon's answer lacks the stages {missing}")
        return answer

    def _metadata_of(self, answer: Answer, abi: LaunchAbi,
                     metadata: dict[str, typing.Any]) -> dict[str, typing.Any]:
        """What Triton's own stages would have filled in. NotServed when the answer lacks one of them."""
        given = json.loads(answer.metadata_json)
        missing = sorted(abi.metadata_fields - given.keys() - metadata.keys())
        if missing:
            raise NotServed("answer", f"the daemon's answer lacks the metadata {', '.join(missing)}")
        return {field: given[field] for field in abi.metadata_fields if field in given}

    def _stay_local(self, name: str, refusal: NotServed) -> None:
        if self._session is None:
            return
        _precompile.refuse_local(refusal, self._text, self._options)
        is_error = self._session.settings.on_failure == "error"
        counts.add_local(name, refusal.reason, refusal.message, refusal.silent, raised=is_error)
        self._diagnosis = f"tritond's compiler says:\n{refusal.diagnosis}" if refusal.diagnosis else ""
        if is_error:
            raise _failure(name, refusal) from None


def _failure(name: str, refusal: NotServed) -> Exception:
    """What on_failure="error" raises. A kernel over the target's limits is Triton's own exception: its autotuner skips it."""
    if refusal.over_limit is not None:
        try:
            from triton.runtime.errors import OutOfResources  # type: ignore[import-not-found, unused-ignore]

            required, limit = refusal.over_limit
            return typing.cast(Exception, OutOfResources(required, limit, f"shared memory (kernel {name}: {refusal.message})"))
        except ImportError:
            pass
    error: TritondError = LocalCompileError(name, refusal.reason, refusal.message)
    return error
