# SPDX-License-Identifier: Apache-2.0
"""A matrix product with sixty configurations, tuned by @triton.autotune with and without the daemon.

    proof_tuning.py [--total 570] [--size 4096] [--ranks 8] [--alone]

Told: seconds of the first call and how many configurations were measured, alone, with a cold daemon, in a later process, and in eight
processes at once; and how fast the winner is beside the best of all sixty, timed in random order.
"""
import argparse
import math
import sys

import machine


def search(name, options, seconds, server=""):
    return machine.Running([sys.executable, machine.HERE / "tune.py", "search", options.size],
                           machine.environment(machine.fresh(f"tune-cache-{name}"), server), machine.WORK / f"tune-{name}.log")


def together(name, options, seconds, server=""):
    running = [search(f"{name}-{rank}", options, seconds, server) for rank in range(options.ranks)]
    end = machine.left(options.total) - seconds
    done = [one.finish(machine.left(options.total) - end) for one in running]
    answers = [d["answer"] or {} for d in done]
    return {"seconds": [a.get("seconds") for a in answers], "measured": [a.get("measured") for a in answers],
            "winners": sorted({a.get("winner") or "" for a in answers}), "tuned": [(a.get("status") or {}).get("tuned") for a in answers],
            "relative_errors": [a.get("relative_error") for a in answers],
            "rc": [d["rc"] for d in done], "tail": next((d["tail"] for d in done if d["rc"] != 0), "")}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--total", type=float, default=570)
    options.add_argument("--size", type=int, default=4096)
    options.add_argument("--ranks", type=int, default=8)
    options.add_argument("--alone", action="store_true", help="without the processes at once")
    options = options.parse_args()
    limit = lambda share: machine.left(options.total) * share  # noqa: E731
    result = {"configurations": 60, "size": options.size}
    with machine.Daemon("tune-daemon") as daemon:
        result["cold"] = search("cold", options, 0, daemon.address).finish(limit(0.25))
        result["cold"]["daemon"] = daemon.counts()
        result["later"] = search("later", options, 0, daemon.address).finish(limit(0.15))
        exhaustive = machine.run([sys.executable, machine.HERE / "tune.py", "exhaustive", options.size], machine.environment(
            machine.fresh("tune-cache-exhaustive"), daemon.address), machine.WORK / "tune-exhaustive.log", limit(0.3))
        result["daemon"] = daemon.counts()
    result["without"] = search("without", options, 0).finish(limit(0.4))
    if not options.alone:
        with machine.Daemon("tune-daemon-ranks") as daemon:
            result["ranks_cold"] = together("ranks", options, limit(0.35), daemon.address)
            result["ranks_cold"]["daemon"] = daemon.counts()
        result["ranks_without"] = together("ranks-without", options, machine.left(options.total) - 10)
    times = (exhaustive["answer"] or {}).get("milliseconds") or {}
    best = min(times, key=times.get, default=None)
    result["exhaustive"] = {"rc": exhaustive["rc"], "best": best, "best_ms": times.get(best), "tail": exhaustive["tail"],
                            "cublas_ms": (exhaustive["answer"] or {}).get("cublas_milliseconds"),
                            "do_not_run": sum(math.isinf(t) for t in times.values()),
                            "local": ((exhaustive["answer"] or {}).get("status") or {}).get("local")}
    for name in ("cold", "later", "without"):
        winner = (result[name]["answer"] or {}).get("winner")
        if winner in times:
            result[name]["winner_ms"] = times[winner]
            result[name]["winner_speed_of_best"] = round(times[best] / times[winner], 4)
    machine.report("tuning", result)


if __name__ == "__main__":
    main()
