# SPDX-License-Identifier: Apache-2.0
"""Eight processes at once, each with caches of its own as on a node of its own: without a daemon, with a cold one, with a warm one.

    proof_ranks.py [--total 570] [--ranks 8] [--threads 2]

Told for each: seconds to the first training step (median and last), CPU seconds of the whole machine meanwhile and of the daemon,
compiles, binaries in the ranks' caches.
"""
import argparse
import os
import pathlib
import statistics
import sys

import machine


def ranks(name, options, seconds, daemon=None):
    status = machine.fresh(f"ranks-status-{name}")
    caches = [machine.fresh(f"ranks-cache-{name}/{rank}") for rank in range(options.ranks)]
    cpu, own = machine.machine_cpu_seconds(), daemon.cpu_seconds() if daemon else None
    before = daemon.counts() if daemon else {}
    running = [machine.Running([sys.executable, machine.HERE / "decoder.py", "default", 1], machine.environment(
        cache, daemon.address if daemon else "", status, TORCHINDUCTOR_COMPILE_THREADS=options.threads),
        machine.WORK / f"ranks-{name}-{rank}.log") for rank, cache in enumerate(caches)]
    end = machine.left(options.total) - seconds
    done = [one.finish(machine.left(options.total) - end) for one in running]
    first = [(d["answer"] or {}).get("first_step_seconds") for d in done]
    there = sorted(f for f in first if f is not None)
    after = daemon.counts() if daemon else {}
    return {"first_step_seconds": first, "median": statistics.median(there) if there else None, "last": there[-1] if there else None,
            "machine_cpu_seconds": round(machine.machine_cpu_seconds() - cpu, 1),
            "daemon_cpu_seconds": round(daemon.cpu_seconds() - own, 1) if own is not None else None,
            "daemon": {k: after[k] - before[k] for k in after if isinstance(after[k], int)},
            "binaries": sum(1 for cache in caches for _ in pathlib.Path(cache).rglob("*.cubin")),
            "losses": [((d["answer"] or {}).get("losses") or [None])[0] for d in done], "rc": [d["rc"] for d in done],
            "status": machine.statuses(status), "tail": next((d["tail"] for d in done if d["rc"] != 0), "")}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--total", type=float, default=570)
    options.add_argument("--ranks", type=int, default=8)
    options.add_argument("--threads", type=int, default=max(1, (os.cpu_count() or 8) // 8))
    options = options.parse_args()
    # What every side pays alike is paid before: reading PyTorch from the disk.
    machine.run([sys.executable, machine.HERE / "decoder.py", "eager", 1], machine.environment(machine.fresh("ranks-cache-eager")),
                machine.WORK / "ranks-eager.log", 120)
    result = {"threads_of_each": options.threads}
    with machine.Daemon("ranks-daemon") as daemon:
        result["with_cold_daemon"] = ranks("cold", options, machine.left(options.total) / 3, daemon)
        result["with_warm_daemon"] = ranks("warm", options, machine.left(options.total) / 2, daemon)
    result["without_daemon"] = ranks("without", options, machine.left(options.total) - 15)
    machine.report("ranks", result)


if __name__ == "__main__":
    main()
