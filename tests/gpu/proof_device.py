# SPDX-License-Identifier: Apache-2.0
"""The sixty configurations, timed by the daemon on its device worker: exhaustive and guided by a model, and a stored answer.

    proof_device.py [--total 280] [--size 4096]
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import machine

RECORD = """
import sys
sys.argv = ["tune.py", "none", "1"]
import runpy, torch, triton, json
import tune
a, b, c = tune.tensors(SIZE)
for config in tune.configurations():
    try:
        tune.product.warmup(a, b, c, SIZE, SIZE, SIZE, grid=(1,), **config.all_kwargs())
    except Exception as error:
        print(type(error).__name__, config, file=sys.stderr)
print(json.dumps({"done": True}))
"""


def client(daemon, *words, seconds=200):
    begin = time.monotonic()
    done = subprocess.run([str(machine.binaries() / "triton-client"), "--server", daemon.address, *map(str, words)],
                          capture_output=True, text=True, timeout=seconds, check=False)
    return done, round(time.monotonic() - begin, 2)


def spec(folder, manifest, size, strategy):
    candidates = []
    for line in manifest.read_text().splitlines():
        entry = json.loads(line)
        text = (manifest.parent / entry["file"]).read_text()
        options = entry["options"]
        # The block sizes stand in the types of the accumulator.
        import re
        shape = re.search(r"tensor<(\d+)x(\d+)xf32", text)
        m, n = int(shape.group(1)), int(shape.group(2))
        k = int(re.search(r"tensor<%dx(\d\d+)x!tt.ptr<f16>" % m, text).group(1))
        count = -(-size // m) * -(-size // n)
        candidates.append({"name": f"M={m} N={n} K={k} warps={options['num_warps']} stages={options['num_stages']}",
                           "file": entry["file"], "options": {"num_warps": options["num_warps"], "num_stages": options["num_stages"]},
                           "grid": [count]})
    fill = {"normal": [0, 1], "seed": 7}
    arguments = [{"name": "a", "type": "*fp16", "shape": [size, size], "role": "in", "fill": fill},
                 {"name": "b", "type": "*fp16", "shape": [size, size], "role": "in", "fill": fill},
                 {"name": "c", "type": "*fp16", "shape": [size, size], "role": "out", "absolute_tolerance": 0.25, "relative_tolerance": 0.02}]
    arguments += [{"name": name, "type": "i32", "value": size} for name in "MNK"]
    path = folder / f"spec-{strategy or 'exhaustive'}.json"
    content = {"candidates": candidates, "args": arguments, "device": {"target": "cuda:90"}, "budget": "120s"}
    if strategy:
        content["strategy"] = {"kind": strategy}
    path.write_text(json.dumps(content))
    return path, candidates


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--total", type=float, default=280)
    options.add_argument("--size", type=int, default=4096)
    options = options.parse_args()
    result = {}
    folder = machine.fresh("device")
    manifest = folder / "kernels.jsonl"
    with machine.Daemon("device-daemon") as daemon:
        program = folder / "record.py"
        program.write_text(RECORD.replace("SIZE", str(options.size)))
        result["record"] = machine.run([sys.executable, program], machine.environment(
            machine.fresh("device-cache"), daemon.address, TRITOND_RECORD=manifest), machine.WORK / "device-record.log", 100)
        with open(folder / "worker.log", "wb") as log:
            worker = subprocess.Popen([str(machine.binaries() / "triton-worker"), "--server", daemon.address, "--devices", "cuda:0,cuda:7",
                                       "--token-file", str(daemon.folder / "data/worker.token")], stdout=log, stderr=log)
        try:
            for _ in range(100):
                done, _ = client(daemon, "workers", "--json")
                if "NVIDIA" in done.stdout:
                    break
                time.sleep(0.2)
            result["workers"] = done.stdout[-6000:]
            paths = {}
            for strategy in ("", "KIND_MODEL_GUIDED"):
                path, candidates = spec(folder, manifest, options.size, strategy)
                result["candidates"] = len(candidates)
                done, seconds = client(daemon, "autotune", path, "--json", *(["--no-cache"] if strategy else []))  # one key for both
                name = strategy or "exhaustive"
                result[name] = {"rc": done.returncode, "seconds": seconds, "stderr": done.stderr[-1500:], "out": done.stdout[-120000:]}
            done, seconds = client(daemon, "autotune", paths.get("", spec(folder, manifest, options.size, "")[0]), "--json")
            result["again"] = {"rc": done.returncode, "seconds": seconds, "out": done.stdout[-300:]}
            done, seconds = client(daemon, "autotune", spec(folder, manifest, options.size, "")[0])
            result["table"] = done.stdout[-6000:]
        finally:
            worker.terminate()
            try:
                worker.wait(20)
            except subprocess.TimeoutExpired:
                worker.kill()
        result["worker_log"] = (folder / "worker.log").read_text(errors="replace")[-3000:]
        result["daemon_log"] = (daemon.folder / "log").read_text(errors="replace")[-3000:]
    machine.report("device", result)


if __name__ == "__main__":
    main()
