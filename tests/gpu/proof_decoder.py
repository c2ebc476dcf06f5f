# SPDX-License-Identifier: Apache-2.0
"""A torch.compile'd decoder trains with every kernel from the daemon, and with upstream's losses.

    proof_decoder.py [--total 570] [--steps 10] [--modes default,max-autotune] [--together]

With --together both sides run at the same time: their losses count then, and their seconds do not.

Ours runs with TRITOND_ON_FAILURE=error: a kernel that the daemon does not give is an exception. Where that ends the run, it runs again
with local compiles, which are counted.
"""
import argparse
import pathlib
import sys

import machine


def start(mode, steps, name, server="", **more):
    status = machine.fresh(f"decoder-status-{name}")
    cache = machine.fresh(f"decoder-cache-{name}")
    return status, cache, machine.Running([sys.executable, machine.HERE / "decoder.py", mode, steps],
                                          machine.environment(cache, server, status, **more), machine.WORK / f"decoder-{name}.log")


def finish(started, seconds):
    status, cache, running = started
    done = running.finish(seconds)
    done["all_processes"] = machine.statuses(status)
    done["binaries"] = sum(1 for _ in pathlib.Path(cache).rglob("*.cubin"))
    return done


def difference(one_side, other):
    """Greatest relative difference of two series of losses."""
    if not one_side or not other or len(one_side) != len(other):
        return None
    return max(abs(a - b) / abs(b) for a, b in zip(one_side, other))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--total", type=float, default=570)
    options.add_argument("--steps", type=int, default=10)
    options.add_argument("--modes", default="default,max-autotune")
    options.add_argument("--together", action="store_true")
    options = options.parse_args()
    result = {}
    modes = options.modes.split(",")
    for number, mode in enumerate(modes):
        share = machine.left(options.total) / (len(modes) - number) * (0.7 if number == 0 and len(modes) > 1 else 1)
        begin = lambda side, *server, **more: start(mode, options.steps, f"{mode}-{side}", *server, **more)  # noqa: E731
        with machine.Daemon(f"decoder-daemon-{mode}") as daemon:
            if options.together:
                running = [begin("theirs"), begin("ours", daemon.address, TRITOND_ON_FAILURE="error")]
                end = machine.left(options.total) - share * 0.95
                ours = finish(running[1], machine.left(options.total) - end)
                theirs = finish(running[0], machine.left(options.total) - end)
            else:
                theirs = finish(begin("theirs"), share * 0.45)
                ours = finish(begin("ours", daemon.address, TRITOND_ON_FAILURE="error"), share * 0.5)
            entry = {"theirs": theirs, "ours": ours, "daemon": daemon.counts()}
            if ours["rc"] != 0 and machine.left(options.total) > 60:
                entry["ours_with_local"] = finish(begin("local", daemon.address), machine.left(options.total) - 20)
        sides = [(entry[side]["answer"] or {}).get("losses") for side in ("ours", "theirs")]
        entry["greatest_relative_difference"] = difference(*sides)
        result[mode] = entry
    machine.report("decoder", result)


if __name__ == "__main__":
    main()
