#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""assembler_test.py BIN_FOLDER: a machine without NVIDIA's assembler says what to install, and the line that it names is enough.

The test runs itself in a mount namespace that hides this machine's CUDA. pip takes the wheel from a folder, made of this machine's
ptxas; where there is none, from PyPI. Exit status 77, after one line, without namespaces or pip, or where pip finds no wheel."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "client/python/packaging"))
from daemon import Daemon, assembler_program, wait_until  # noqa: E402
from wheel_file import WheelFile  # noqa: E402

KERNEL = ROOT / "examples/softmax.ttir"
SKIP = 77
METADATA = "Metadata-Version: 2.1\nName: nvidia-cuda-nvcc\nVersion: 13.0.88\n"


def skip(why):
    print(f"assembler_test: skipped, {why}")
    sys.exit(SKIP)


def write_wheel(folder):
    """A wheel as NVIDIA lays it out, of this machine's ptxas; False without one."""
    program = assembler_program()
    if program is None:
        return False
    with WheelFile(folder, "nvidia_cuda_nvcc", "13.0.88", "py3-none-manylinux2014_x86_64", pure=False) as wheel:
        wheel.add("nvidia/cu13/bin/ptxas", program.read_bytes(), 0o755)
        wheel.add_info("METADATA", METADATA)
    return True


def hide_cuda(empty):
    """An empty folder in place of each of this machine's toolkits."""
    for place in [*pathlib.Path("/usr/local").glob("cuda*"), pathlib.Path("/opt/cuda"), pathlib.Path("/usr/lib/cuda"),
                  pathlib.Path("/usr/lib/nvidia-cuda-toolkit")]:
        if place.is_dir() and not place.is_symlink():
            subprocess.run(["mount", "--bind", str(empty), str(place)], check=True)


def inside(binaries, folder, has_wheel):
    """In the namespace: without an assembler, then with what the message says."""
    (folder / "empty").mkdir()
    hide_cuda(folder / "empty")
    os.environ["PATH"] = "/usr/bin:/bin:/usr/sbin:/sbin"
    os.environ.pop("CUDA_HOME", None)
    programs = folder / "tritond/bin"
    programs.mkdir(parents=True)
    for name in ("tritond", "triton-worker", "triton-client"):
        shutil.copy(binaries / name, programs / name)
    with Daemon(programs) as daemon:
        daemon.start()
        status, message = daemon.get("/readyz")
        assert status == 200 and message.startswith("ok, but no worker makes a cubin for cuda targets: "), message
        line = re.search(r"`(.*)`", message).group(1)
        assert line == f"python3 -m pip install --target {folder}/tritond/cuda nvidia-cuda-nvcc", line
        wait_until(lambda: line in daemon.log(), 30, "the log says it")
        for fallback, status in (([], 1), (["--fallback", "30"], 3)):
            done = daemon.client("compile", KERNEL, "--target", "cuda:90", "-o", folder / "k.cubin", *fallback)
            assert done.returncode == status and line in done.stderr and ";" not in done.stderr, done.stderr
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder)} if has_wheel else {}
    words = shlex.split(line)
    done = subprocess.run([sys.executable, *words[1:]], env={**os.environ, **offline}, capture_output=True, text=True, check=False)
    if done.returncode != 0 and not has_wheel:
        skip(f"no ptxas here, and pip finds no wheel: {done.stderr.strip().splitlines()[-1:]}")
    assert done.returncode == 0, done.stderr
    with Daemon(programs) as daemon:
        daemon.start()
        assert daemon.get("/readyz")[1].strip() == "ok", daemon.get("/readyz")
        code, answer = daemon.compile(KERNEL, "cuda:90", "-o", folder / "k.cubin")
        assert code == 0 and (folder / "k.cubin").read_bytes()[:4] == b"\x7fELF", answer
    print("assembler_test: ok,", "the wheel of a folder" if has_wheel else "PyPI's wheel")


def main():
    if sys.argv[1] == "--inside":
        return inside(*map(pathlib.Path, sys.argv[2:4]), json.loads(sys.argv[4]))
    namespaces = ["unshare", "--mount"] + ([] if os.getuid() == 0 else ["--user", "--map-root-user"])
    if not shutil.which("unshare") or subprocess.run(namespaces + ["true"], capture_output=True, check=False).returncode:
        skip("this machine gives no namespaces")
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode:
        skip("there is no pip")
    with tempfile.TemporaryDirectory() as folder:
        has_wheel = write_wheel(folder)
        command = [sys.executable, __file__, "--inside", sys.argv[1], folder, json.dumps(has_wheel)]
        return subprocess.run(namespaces + command, check=False, timeout=250).returncode


if __name__ == "__main__":
    sys.exit(main())
