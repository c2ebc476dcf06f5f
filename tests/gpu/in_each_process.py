# SPDX-License-Identifier: Apache-2.0
"""Makes its folder a site folder, so that tritond.pth acts; and what the proofs want to know of each process.

machine.site() copies it there as sitecustomize.py. It has another name here, because a program's own folder comes first on the path of
Inductor's compile workers: they would take this one, and be without the package.
"""
import atexit
import functools
import json
import os
import site
import sys

site.addsitedir(os.path.dirname(os.path.abspath(__file__)))


def _few(count):
    """Searches with the first configurations alone: for outputs to compare with, not for speed."""
    def cut():
        from triton.runtime.autotuner import Autotuner
        prune = Autotuner.prune_configs
        Autotuner.prune_configs = lambda self, kwargs: list(prune(self, kwargs))[:count]
    from tritond._watch import when_imported
    when_imported("triton.runtime.autotuner", cut)


def _tell():
    if "tritond._install" not in sys.modules:
        return
    import dataclasses

    import tritond
    with open(os.path.join(os.environ["PROOF_STATUS"], f"{os.getpid()}.json"), "w") as file:
        json.dump({"argv": sys.argv[:4], **dataclasses.asdict(tritond.status())}, file)


def _note_local_compiles(path):
    """A line in `path` for each binary that a process makes itself, also one that is forked and never ends in order."""
    def wrap():
        from triton.backends.nvidia.compiler import CUDABackend
        original = CUDABackend.make_cubin

        @functools.wraps(original)
        def make_cubin(self, src, metadata, *more):
            with open(path, "a") as file:
                file.write(f"{os.getpid()} {metadata.get('name')}\n")
            return original(self, src, metadata, *more)

        CUDABackend.make_cubin = make_cubin
    from tritond._watch import when_imported
    when_imported("triton.backends.nvidia.compiler", wrap)


if os.environ.get("PROOF_FEW"):
    _few(int(os.environ["PROOF_FEW"]))
if os.environ.get("PROOF_STATUS"):
    atexit.register(_tell)
    _note_local_compiles(os.path.join(os.environ["PROOF_STATUS"], "made_here"))
