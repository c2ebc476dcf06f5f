#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""arm64_test.py [FOLDER]: the programs that deploy/arm64/cross.py has built into FOLDER (build/arm64), run by qemu: a daemon, workers
that attach over TCP, and the command line. One worker is fake; the compile worker is tested where it was built. Exit status 77 without
the programs or without qemu."""
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from daemon import free_port, wait_until  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/arm64").resolve()
QEMU = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
SECONDS = 120  # qemu takes ten times as long as a processor


def program(name, *arguments):
    """The command that runs an arm64 program here."""
    return [QEMU, "-L", str(FOLDER / "sysroot"), str(FOLDER / "bin" / name), *map(str, arguments)]


class Arm64Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tritond-arm64-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.address, self.http = (f"127.0.0.1:{free_port()}" for _ in range(2))
        self.daemon = self.start("tritond", "--data-dir", self.folder / "data", "--listen", self.address, "--http", self.http, "--workers", 0)

    def start(self, name, *arguments):
        log = (self.folder / f"{name}.log").open("w", encoding="utf-8")
        self.addCleanup(log.close)
        process = subprocess.Popen(program(name, *arguments), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self.addCleanup(lambda: (process.kill(), process.wait()))
        return process

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://{self.http}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""
        except OSError:
            return 0, ""

    def client(self, *arguments):
        return subprocess.run(program("triton-client", "--server", self.address, "--wait", SECONDS, *arguments), capture_output=True, text=True,
                              timeout=2 * SECONDS, check=False)

    def test_a_kernel_is_compiled_once_and_then_a_hit(self):
        with (FOLDER / "bin/tritond").open("rb") as file:
            self.assertEqual(file.read(20)[18], 183, "the machine of an ELF file: EM_AARCH64")
        wait_until(lambda: self.get("/healthz")[0] == 200, SECONDS, "/healthz")
        self.assertEqual(self.get("/readyz")[0], 503, "there is no worker")
        self.start("triton-worker-fake", "--server", self.address, "--no-sandbox")
        wait_until(lambda: self.get("/readyz")[0] == 200, SECONDS, "/readyz")
        kernel = self.folder / "kernel.ttir"
        kernel.write_text("module {}\n", encoding="utf-8")
        for cache in ("miss", "hit"):
            done = self.client("compile", kernel, "--target", "cuda:90", "--json", "-o", self.folder / "kernel.cubin")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["cache"], cache)
        self.assertTrue((self.folder / "kernel.cubin").read_bytes())
        self.assertIn('tritond_requests_total{answer="hit"} 1', self.get("/metrics")[1])
        self.daemon.send_signal(signal.SIGTERM)
        self.assertEqual(self.daemon.wait(timeout=SECONDS), 0)

    @unittest.skipUnless((FOLDER / "bin/triton-worker").is_file(), "built without --worker")
    def test_the_compile_worker_compiles(self):
        self.start("triton-worker", "--server", self.address, "--no-sandbox")
        wait_until(lambda: self.get("/readyz")[0] == 200, SECONDS, "/readyz")
        for target, marks in (("cuda:90", (".target sm_90a", ".entry softmax")), ("hip:gfx942", ("amdgcn-amd-amdhsa--gfx942", "softmax"))):
            done = self.client("compile", ROOT / "examples/softmax.ttir", "--options", ROOT / "examples/softmax.json", "--target", target,
                               "--emit", "asm", "-o", self.folder / "softmax.asm")
            self.assertEqual(done.returncode, 0, done.stderr)
            for mark in marks:
                self.assertIn(mark, (self.folder / "softmax.asm").read_text(encoding="utf-8"))


if __name__ == "__main__":
    if QEMU is None or not (FOLDER / "bin/tritond").is_file():
        print("arm64_test: skipped, no qemu-user-static or no build/arm64 (./dev cross-arm64 makes both)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
