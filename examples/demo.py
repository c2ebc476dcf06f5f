#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""demo.py BIN_FOLDER EXAMPLES_FOLDER: a daemon in a temporary folder compiles the examples, twice each, and runs one.

Shows what a client sees: a miss, then a hit; the head of the PTX; the metadata; a launch on the host device, whose numbers
are checked; the status page. Leaves nothing running and
nothing behind. Exit status 1 when anything is not as it should be.
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

TARGET = "cuda:90"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def show_command(command, end=""):
    """Prints it as a user would type it, without the folders of this run."""
    words = [os.path.basename(word) if os.path.isabs(word) else word for word in map(str, command)]
    print(f"$ {' '.join(words)}{end}", flush=True)


def run(command, **kwargs):
    """Shows and runs a command. A failure ends the demo."""
    show_command(command)
    done = subprocess.run([str(w) for w in command], text=True, **kwargs)
    if done.returncode != 0:
        raise RuntimeError(f"{os.path.basename(str(command[0]))} {command[1]} ended with {done.returncode}")
    return done


def stop(daemon):
    """Ends the daemon politely, then not; its workers are its process group."""
    if daemon.poll() is None:
        daemon.send_signal(signal.SIGTERM)
    try:
        return daemon.wait(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(daemon.pid, signal.SIGKILL)
        return daemon.wait()


def wait_until_ready(daemon, page, seconds=30):
    """Ready is when a worker has attached."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and daemon.poll() is None:
        try:
            with urllib.request.urlopen(f"{page}/readyz", timeout=5):
                return
        except OSError:  # not listening yet, or not ready
            time.sleep(0.05)
    raise RuntimeError("the daemon did not get ready")


def best_output(client, environment):
    """What to ask for: the binary, or the assembly text where this machine has no assembler."""
    stats = subprocess.run([str(client), "stats", "--json"], env=environment, capture_output=True, text=True, check=True)
    for target in json.loads(stats.stdout)["daemon"]["targets"]:
        if target["name"] == TARGET and not target["binary_available"]:
            print(f"no binaries for {TARGET} here, so the demo stops at PTX: {target['why_not']}\n")
            return "asm", "ptx"
    return "binary", "cubin"


def compile_twice(client, environment, kernel, out, emit, extension):
    """A miss, then a hit with the same bytes."""
    for expected in ("miss", "hit"):
        artifact = out / f"{kernel.stem}-{expected}.{extension}"
        done = run([client, "compile", kernel, "--target", TARGET, "--options", kernel.with_suffix(".json"), "--emit", emit,
                    "-o", artifact, "--metadata", out / f"{kernel.stem}.json"], env=environment, stdout=subprocess.PIPE)
        print(f"  {done.stdout.strip()}\n")
        if f"  {expected}  " not in done.stdout:
            raise RuntimeError(f"expected a {expected}")
    if (out / f"{kernel.stem}-miss.{extension}").read_bytes() != (out / f"{kernel.stem}-hit.{extension}").read_bytes():
        raise RuntimeError("the hit's bytes differ from the miss's")


def show(client, environment, kernel, out):
    ptx = out / f"{kernel.stem}.ptx"
    run([client, "compile", kernel, "--target", TARGET, "--options", kernel.with_suffix(".json"), "--emit", "asm", "-o", ptx],
        env=environment, stdout=subprocess.DEVNULL)
    lines = [line for line in ptx.read_text().splitlines() if line.strip() and not line.startswith("//")]
    print("\n".join(f"  {line}" for line in lines[:8]) + f"\n  … {len(lines)} lines\n")
    metadata = json.loads((out / f"{kernel.stem}.json").read_text())
    print(f"metadata of {kernel.stem}:\n  {json.dumps(metadata)}\n")


def demo(binaries, examples, folder):
    port, http = free_port(), free_port()
    client = binaries / "triton-client"
    environment = {**os.environ, "TRITOND_SERVER": f"127.0.0.1:{port}"}
    command = [binaries / "tritond", "--data-dir", folder / "data", "--listen", f"127.0.0.1:{port}", "--http",
               f"127.0.0.1:{http}", "--workers", str(min(2, os.cpu_count() or 1))]
    show_command(command, " &")
    with open(folder / "tritond.log", "w", encoding="utf-8") as log:
        daemon = subprocess.Popen([str(w) for w in command], stdout=log, stderr=log, start_new_session=True)
    try:
        page = f"http://127.0.0.1:{http}"
        wait_until_ready(daemon, page)
        emit, extension = best_output(client, environment)
        for name in ("softmax", "layer_norm"):
            compile_twice(client, environment, examples / f"{name}.ttir", folder, emit, extension)
        show(client, environment, examples / "softmax.ttir", folder)
        run([client, "run", examples / "softmax.run.json"], env=environment)  # fails when a number is wrong
        print()
        with urllib.request.urlopen(f"{page}/healthz", timeout=10) as answer:
            print(f"status page while it ran: {page}/   /healthz: {answer.status} {answer.read().decode().strip()}")
        run([client, "stats"], env=environment)
    except Exception:
        print((folder / "tritond.log").read_text()[-4000:], file=sys.stderr)
        raise
    finally:
        code = stop(daemon)
    print(f"\ntritond stopped with exit status {code}")
    return code


def main():
    binaries, examples = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tritond-demo-"))
    try:
        return demo(binaries, examples, folder)
    except (RuntimeError, OSError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
