# SPDX-License-Identifier: Apache-2.0
"""Which of Triton's options and switches travel to the daemon, and which keep a kernel here."""
from __future__ import annotations

import os
import typing

from tritond._errors import NotServed

# They act before the IR is made, at the launch, or name files of this machine.
_NOT_SENT = frozenset({
    "allow_fp8e4b15", "allow_fp8e4nv", "allowed_dot_input_precisions", "arch", "backend_name", "cluster_dims",
    "default_dot_input_precision", "deprecated_fp8_dot_operand_dtypes", "deprecated_fp8_dtypes", "extern_libs",
    "instrumentation_mode", "ir_override", "sanitize_overflow", "supported_fp8_dtypes", "target",
})
# The daemon ignores them rightly: the launcher acts on them.
_LAUNCH_ONLY = frozenset({"launch_cooperative_grid", "launch_pdl", "warp_size", "max_num_imprecise_acc_default"})
# Developers' switches that look into Triton's own pipeline, or change it. Those that are set to 0 do not count.
_PIPELINE_SWITCHES = (
    "DISABLE_LLVM_OPT", "DISABLE_PTXAS_OPT", "LLVM_IR_ENABLE_DUMP", "MLIR_ENABLE_DUMP", "MLIR_ENABLE_TIMING", "NVPTX_ENABLE_DUMP",
    "PTXAS_OPTIONS", "TRITON_DUMP_PTXAS_LOG", "TRITON_KERNEL_DUMP", "TRITON_KERNEL_OVERRIDE", "TRITON_LLVM_DEBUG_ONLY",
    "TRITON_ENABLE_LLVM_DEBUG", "TRITON_LIBDEVICE_PATH", "TRITON_PASS_PLUGIN_PATH", "TRITON_PLUGIN_PATHS", "USE_IR_LOC",
    "LLVM_PASS_PLUGIN_PATH", "LLVM_ENABLE_TIMING", "ENABLE_LHS_TO_TMEM",
)


def options_to_send(options: typing.Any) -> dict[str, typing.Any]:
    """The option map of a request: what may act in a compiler, and is set."""
    return {name: value for name, value in vars(options).items()
            if name not in _NOT_SENT and value is not None and not name.startswith("_")
            and isinstance(value, (bool, int, float, str, list, tuple))}


def check_local_needs(options: typing.Any, backend_class: type, module_file: str) -> None:
    """NotServed, silently, where the user asks for something of this machine or of Triton's own pipeline."""
    switches = [name for name in _PIPELINE_SWITCHES if os.environ.get(name, "0") not in ("", "0", "off", "false")]
    if switches:
        raise NotServed("switch", f"{', '.join(switches)} is set", silent=True)
    for name in ("ir_override", "instrumentation_mode"):
        if getattr(options, name, None):
            raise NotServed("switch", f"the option {name} is set", silent=True)
    own = os.path.dirname(module_file)
    libraries = getattr(options, "extern_libs", None) or ()
    for entry in (libraries.items() if isinstance(libraries, dict) else libraries):
        if not str(entry[1]).startswith(own):
            raise NotServed("library", f"the kernel is linked with {entry[1]}", silent=True)


def check_ignored(ignored: typing.Iterable[str], options: typing.Any, defaults: typing.Any) -> None:
    """NotServed when the daemon's compiler ignored an option that the user has set."""
    for name in ignored:
        value = getattr(options, name, None)
        if name not in _LAUNCH_ONLY and hasattr(defaults, name) and getattr(defaults, name) != value:
            raise NotServed("option", f"the daemon's compiler does not know the option {name}={value!r}")
