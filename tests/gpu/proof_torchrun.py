# SPDX-License-Identifier: Apache-2.0
"""Ranks that torchrun starts all at once, with one cache folder as on one node: alone, with a cold daemon, with a warm one.

    proof_torchrun.py [--total 280] [--ranks 8]

Told for each: the ranks' seconds to the first training step, their first losses, and what the daemon compiled.
"""
import argparse
import json
import sys

import machine


def ranks(name, options, seconds, server="", **more):
    status, cache = machine.fresh(f"torchrun-status-{name}"), machine.fresh(f"torchrun-cache-{name}")
    log = machine.WORK / f"torchrun-{name}.log"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", options.ranks,
               machine.HERE / "decoder.py", "default", 1]
    done = machine.run(command, machine.environment(cache, server, status, OMP_NUM_THREADS=1, **more), log, seconds)
    answers = [json.loads(line) for line in log.read_text(errors="replace").splitlines() if line.startswith('{"mode"')]
    return {"rc": done["rc"], "seconds": done["seconds"], "first_step_seconds": sorted(a["first_step_seconds"] for a in answers),
            "losses": sorted({a["losses"][0] for a in answers}), "answers": len(answers), "status": machine.statuses(status),
            "tail": done["tail"]}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--total", type=float, default=280)
    options.add_argument("--ranks", type=int, default=8)
    options = options.parse_args()
    result = {}
    with machine.Daemon("torchrun-daemon") as daemon:
        for name in ("cold", "warm"):
            before = daemon.counts()
            result[name] = ranks(name, options, machine.left(options.total) / 3, daemon.address, TRITOND_ON_FAILURE="error")
            after = daemon.counts()
            result[name]["daemon"] = {k: after[k] - before[k] for k in after if isinstance(after[k], int)}
    result["alone"] = ranks("alone", options, machine.left(options.total) - 5)
    machine.report("torchrun", result)


if __name__ == "__main__":
    main()
