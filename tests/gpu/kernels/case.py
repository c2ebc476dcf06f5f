# SPDX-License-Identifier: Apache-2.0
"""What a kernel to be timed is: one launch, with its inputs and what its outputs have to hold.

Tensors lie on DEVICE: the GPU where there is one, else "meta", which has shapes and no values. So kernels can be compiled on machines
without a GPU.
"""
from __future__ import annotations

import dataclasses
import typing

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "meta"


@dataclasses.dataclass
class Case:
    """One launch. `args` are in the order of the parameters, without constexprs; tensor descriptors may be among them."""

    kernel: typing.Any
    grid: tuple[int, ...]
    args: tuple[typing.Any, ...]
    constexprs: dict[str, typing.Any]
    outputs: tuple[torch.Tensor, ...]  # what the kernel writes
    reference: typing.Callable[[], tuple[torch.Tensor, ...]]  # what the outputs have to hold
    rtol: float = 1e-2  # of the norm of the difference over the norm of the reference
    options: dict[str, typing.Any] = dataclasses.field(default_factory=dict)  # num_warps, num_stages, ...
    accumulate: bool = False  # the kernel adds to its outputs, which start at zero
    bytes: float = 0.0  # read and written at least
    flops: float = 0.0
    name: str = ""


Maker = typing.Callable[[], Case]


def registry() -> tuple[list[Maker], typing.Callable[[Maker], Maker]]:
    """A module's list of cases, and the decorator that adds to it. The function's name is the case's."""
    cases: list[Maker] = []

    def case(make: Maker) -> Maker:
        cases.append(make)
        return make

    return cases, case


def rand(*shape: int, dtype: torch.dtype = torch.float32, scale: float = 1.0) -> torch.Tensor:
    """Normal numbers."""
    return (torch.randn(*shape, device=DEVICE) * scale).to(dtype)


def uniform(*shape: int, low: float = 0.0, high: float = 1.0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Numbers between `low` and `high`."""
    return (torch.rand(*shape, device=DEVICE) * (high - low) + low).to(dtype)


def randint(low: int, high: int, *shape: int, dtype: torch.dtype = torch.int32) -> torch.Tensor:
    """Integers from `low` to `high - 1`."""
    return torch.randint(low, high, shape, device=DEVICE).to(dtype)


def empty(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """An output."""
    return torch.empty(*shape, device=DEVICE, dtype=dtype)


def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Zeros, as for outputs that are added to."""
    return torch.zeros(*shape, device=DEVICE, dtype=dtype)


def tensor(values: typing.Any, dtype: torch.dtype) -> torch.Tensor:
    """A tensor of given values."""
    return torch.tensor(values, dtype=dtype, device="cpu").to(DEVICE)
