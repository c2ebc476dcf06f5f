# SPDX-License-Identifier: Apache-2.0
"""Inductor's own remote caches on the daemon's Redis port: two processes with empty caches of their own train one decoder.

    proof_inductor.py [--total 200]

Needs redis-py in the environment. Told for each process: its first loss, what Inductor counts of its caches, and the commands
that the port answered meanwhile, by result. The second process has to find the graphs of the first.
"""
import argparse
import re
import sys
import urllib.request

import machine

# decoder.py, and then what Inductor counted.
CODE = """
import json, decoder
decoder.main("default", 1)
from torch._dynamo.utils import counters
print(json.dumps({name: count for name, count in counters["inductor"].items() if "cache" in name}))
"""
COMMANDS = re.compile(r'^tritond_redis_commands_total\{command="(\w+)",result="(\w+)"\} (\d+)$', re.M)


def commands(http):
    """The commands that the daemon answered so far: {"get miss": number, …}."""
    with urllib.request.urlopen(f"http://{http}/metrics", timeout=10) as answer:
        return {f"{name} {result}": int(count) for name, result, count in COMMANDS.findall(answer.read().decode())}


def train(name, redis_port, seconds):
    variables = machine.environment(
        machine.fresh(f"inductor-cache-{name}"), TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE=1, TORCHINDUCTOR_AUTOTUNE_REMOTE_CACHE=1,
        TORCHINDUCTOR_REDIS_HOST="127.0.0.1", TORCHINDUCTOR_REDIS_PORT=redis_port)
    log = machine.WORK / f"inductor-{name}.log"
    done = machine.run([sys.executable, "-c", CODE], variables, log, seconds)
    losses = re.search(r'"losses": (\[.*?\])', log.read_text(errors="replace"))
    return {"rc": done["rc"], "seconds": done["seconds"], "losses": losses and losses[1], "counted": done["answer"], "tail": done["tail"]}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--total", type=float, default=200)
    total = options.parse_args().total
    redis_port, http = machine.free_port(), f"127.0.0.1:{machine.free_port()}"
    result, before = {}, {}
    with machine.Daemon("inductor-daemon", more=("--redis-listen", f"127.0.0.1:{redis_port}", "--http", http)):
        for name in ("first", "second"):
            result[name] = train(name, redis_port, machine.left(total) / (2 if name == "first" else 1))
            after = commands(http)
            result[name]["commands"] = {key: after[key] - before.get(key, 0) for key in after if after[key] > before.get(key, 0)}
            before = after
    machine.report("inductor", result)


if __name__ == "__main__":
    main()
