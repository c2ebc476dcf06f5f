# SPDX-License-Identifier: Apache-2.0
"""Which GPU this process measures on: what a tuning holds for."""
from __future__ import annotations

import ctypes
import functools
import re
import sys
import typing

_VERSION = re.compile(r"\b\d+(?:\.\d+)+\b")
_VERSION_FILES = {"cuda": ("/sys/module/nvidia/version", "/proc/driver/nvidia/version"), "hip": ("/sys/module/amdgpu/version",)}


@functools.lru_cache(maxsize=64)
def identify(backend: str, device: int) -> tuple[str, str] | None:
    """Model and driver of a device by Triton's number; None where either is not known."""
    torch = sys.modules.get("torch")
    try:
        properties = getattr(torch, "xpu" if backend == "xpu" else "cuda").get_device_properties(device)
        units = getattr(properties, "multi_processor_count", None) or getattr(properties, "max_compute_units", 0)
        model = f"{properties.name}, {units} units, {properties.total_memory >> 30} GiB"
        driver = getattr(properties, "driver_version", None) or _driver_version(backend)
    except Exception:  # no torch, or one without this device
        return None
    return (model, str(driver)) if driver else None


def _driver_version(backend: str) -> str:
    for path in _VERSION_FILES.get(backend, ()):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                found = _VERSION.search(file.read())
        except OSError:
            continue
        if found:
            return found.group()
    return _version_from_nvml() if backend == "cuda" else ""


def _version_from_nvml() -> str:
    """For containers that show no files of the driver."""
    try:
        library: typing.Any = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return ""
    text = ctypes.create_string_buffer(96)
    if library.nvmlInit_v2() != 0:
        return ""
    try:
        return text.value.decode() if library.nvmlSystemGetDriverVersion(text, len(text)) == 0 else ""
    finally:
        library.nvmlShutdown()
