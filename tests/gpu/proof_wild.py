#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators of other people's packages, forward and backward, by Triton alone and through the daemon: outputs side by side.

    proof_wild.py PROGRAM [--total 1500] [--few N] [--skip-times]

PROGRAM runs every operator in a process of its own (`PROGRAM all FOLDER`), times them (`PROGRAM time FOLDER`) and compares
two folders (`PROGRAM compare A B`, whose last line begins with `bad: N`). Both sides run at the same time, each with
empty caches. `--few N`: searches of @triton.autotune try N configurations alone, for outputs and not for speed.
"""
import argparse
import os
import sys

import machine


def side(program, folder, total, few, server="", status=None):
    """A running `PROGRAM all`, and the variables of that side."""
    more = {"TRITON_CACHE_AUTOTUNING": 1, "WILD_J": max(1, (os.cpu_count() or 2) // 2), "WILD_S": int(machine.left(total) * 0.7)}
    if few:
        more["PROOF_FEW"] = few
    variables = machine.environment(folder, server, status, **more)
    return machine.Running([sys.executable, program, "all", folder / "out"], variables, folder / "log"), variables


def times(program, folder, variables, seconds):
    """Times all operators of a folder, whose kernels the caches have; returns the exit status."""
    return machine.run([sys.executable, program, "time", folder / "out"], variables, folder / "times", seconds)["rc"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--total", type=float, default=1500, help="seconds for all of it")
    parser.add_argument("--few", type=int, default=0)
    parser.add_argument("--skip-times", action="store_true")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    alone, ours = machine.fresh("wild-alone"), machine.fresh("wild-ours")
    status = machine.fresh("wild-status")
    with machine.Daemon("wild-daemon") as daemon:
        reference, plain = side(program, alone, arguments.total, arguments.few)
        through, variables = side(program, ours, arguments.total, arguments.few, daemon.address, status)
        found = {"through": through.finish(machine.left(arguments.total) - 20)}
        found["alone"] = reference.finish(machine.left(arguments.total) - 15)
        if not arguments.skip_times:
            found["timed"] = [times(program, folder, side_of, (machine.left(arguments.total) - 15) / 2)
                              for folder, side_of in ((alone, plain), (ours, variables))]
        found["daemon"] = daemon.counts()
    said = machine.statuses(status)
    compared = machine.run([sys.executable, program, "compare", alone / "out", ours / "out"], plain, alone / "compared", 60)
    lines = (alone / "compared").read_text().splitlines()
    machine.report("wild", {**found, "compared": compared["rc"], "status": said, "cases": lines[:-1], "result": lines[-1:]})


if __name__ == "__main__":
    main()
