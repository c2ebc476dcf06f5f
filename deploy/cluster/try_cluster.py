#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Three daemons and the engine that they share, on this machine, to try out what a cluster does.

    try_cluster.py [--bin DIR] [--dir DIR] [--daemons 3] [--workers 1] [--worker PROGRAM] [-- COMMAND...]

Starts three nodes of redis-server as a cluster and tritond beside it, prints the daemons' addresses and runs until
Ctrl-C; with COMMAND it runs that instead, with TRITOND_SERVER (HOST:PORT,HOST:PORT,...) set, and ends with its
status. Everything it starts ends with it. Needs redis-server and redis-cli.
"""
import argparse
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request


def free_port(below=55000):
    """A port that nobody listens on now; a node of the engine also takes the one 10000 above it."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port < below:
            return port


def wait_until(what, condition, seconds=60):
    give_up = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > give_up:
            raise SystemExit(f"gave up waiting for {what}")
        time.sleep(0.05)


def ask_redis(port, *command):
    done = subprocess.run(["redis-cli", "-p", str(port), *command], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def is_ready(url):
    try:
        with urllib.request.urlopen(url, timeout=1) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


class Programs:
    """Processes that end with this object."""

    def __init__(self):
        self.running = []

    def start(self, words, log):
        with open(log, "ab") as out:
            self.running.append(subprocess.Popen(words, stdout=out, stderr=out, stdin=subprocess.DEVNULL))

    def check(self):
        for process in self.running:
            if process.poll() is not None:
                raise SystemExit(f"{process.args[0]} ended with status {process.returncode}; see its log")

    def stop(self):
        for process in reversed(self.running):
            process.terminate()
        for process in reversed(self.running):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def start_engine(programs, folder, count=3):
    """The nodes' addresses, once they serve every slot."""
    ports = [free_port() for _ in range(count)]
    for port in ports:
        data = os.path.join(folder, f"engine-{port}")
        os.makedirs(data)
        programs.start(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", data, "--save", "",
                        "--cluster-enabled", "yes", "--cluster-require-full-coverage", "no", "--maxmemory", "256mb",
                        "--maxmemory-policy", "allkeys-lru"], os.path.join(data, "log"))
    for port in ports:
        wait_until("redis-server", lambda port=port: "PONG" in ask_redis(port, "ping"))
    nodes = [f"127.0.0.1:{port}" for port in ports]
    created = ask_redis(ports[0], "--cluster", "create", *nodes, "--cluster-yes")
    if "All 16384 slots covered" not in created:
        raise SystemExit(created)
    for port in ports:
        wait_until("the engine", lambda port=port: "cluster_state:ok" in ask_redis(port, "cluster", "info"))
    return nodes


def start_daemons(programs, folder, nodes, args):
    """(gRPC address, HTTP address) of each daemon, once it can compile."""
    daemons = []
    key = os.path.join(folder, "signing.key")  # of all of them, so that each takes what the others signed
    if not os.path.exists(key):
        subprocess.run([args.tritond, "keys", "make", key], stdout=subprocess.DEVNULL, check=True)
    for number in range(args.daemons):
        data = os.path.join(folder, f"daemon-{number}")
        os.makedirs(data)
        grpc, http = (f"127.0.0.1:{free_port()}" for _ in range(2))
        words = [args.tritond, "--data-dir", data, "--listen", grpc, "--http", http, "--workers", str(args.workers)]
        words += ["--signing-key", key]
        if args.worker:
            words += ["--worker-binary", args.worker]
        for node in nodes:
            words += ["--cluster", node]
        programs.start(words, os.path.join(data, "log"))
        daemons.append((grpc, http))
    for _, http in daemons:
        wait_until("tritond", lambda http=http: programs.check() or is_ready(f"http://{http}/readyz"))
    return daemons


def parse():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(root, "build", "bin"), help="folder of the programs")
    parser.add_argument("--dir", help="folder for data and logs (default: one that goes at the end)")
    parser.add_argument("--daemons", type=int, default=3)
    parser.add_argument("--workers", type=int, default=1, help="of each daemon")
    parser.add_argument("--worker", help="the workers' program (default: triton-worker beside tritond)")
    parser.add_argument("command", nargs="*", metavar="COMMAND")
    args = parser.parse_args()
    args.tritond = os.path.join(args.bin, "tritond")
    for program in (args.tritond, "redis-server", "redis-cli"):
        if not shutil.which(program):
            parser.exit(2, f"{program} is not there\n")
    return args


def main():
    args = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.ExitStack() as stack:
        folder = args.dir or stack.enter_context(tempfile.TemporaryDirectory(prefix="tritond-cluster-"))
        os.makedirs(folder, exist_ok=True)
        programs = Programs()
        stack.callback(programs.stop)
        nodes = start_engine(programs, folder)
        daemons = start_daemons(programs, folder, nodes, args)
        print(f"engine: {' '.join(nodes)}")
        for grpc, http in daemons:
            print(f"daemon: --server {grpc}   http://{http}/")
        sys.stdout.flush()
        servers = [grpc for grpc, _ in daemons]
        if args.command:
            environment = dict(os.environ, TRITOND_SERVER=",".join(servers))
            return subprocess.run(args.command, env=environment, check=False).returncode
        print("Ctrl-C ends everything.", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                programs.check()
                time.sleep(1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
