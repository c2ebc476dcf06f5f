# SPDX-License-Identifier: Apache-2.0
"""What callers may catch, and how this package says to itself that a kernel has to be compiled locally."""
from __future__ import annotations


class TritondError(RuntimeError):
    """Anything that this package raises by itself."""


class LocalCompileError(TritondError):
    """A kernel that the daemon did not give, where on_failure is "error". `kernel` and `reason` are as in status().local."""

    def __init__(self, kernel: str, reason: str, message: str) -> None:
        super().__init__(f"kernel {kernel}: not compiled by tritond ({reason}): {message}")
        self.kernel = kernel
        self.reason = reason


class NotServed(Exception):
    """The daemon does not give this kernel.

    `reason` is the word that status() counts under. `silent`: nothing to tell people, it could not be otherwise.
    `diagnosis`: what the daemon's compiler said of the kernel itself, with lines of the kernel's Python source.
    `required` and `limit`: bytes of shared memory, where the kernel exceeds the target's.
    """

    def __init__(self, reason: str, message: str, silent: bool = False, diagnosis: str = "",
                 over_limit: tuple[int, int] | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.silent = silent
        self.diagnosis = diagnosis
        self.over_limit = over_limit
