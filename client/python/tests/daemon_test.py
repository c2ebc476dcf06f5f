# SPDX-License-Identifier: Apache-2.0
"""The installed Triton through the package and a real daemon, without a GPU. The programs are those of TRITOND_BUILD."""
import importlib.metadata
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import library_hash

HERE = pathlib.Path(__file__).resolve().parent
BINARIES = pathlib.Path(os.environ.get("TRITOND_BUILD", "build")) / "bin"
sys.path.insert(0, str(HERE.parents[2] / "tests" / "e2e"))
from daemon import Daemon, wait_until  # noqa: E402

KERNELS = ["add", "softmax", "matmul"]
# They say who compiled a kernel and where it is kept.
OWN_VALUES = {"hash", "shared", "num_warps", "tmem_size", "tensordesc_meta", "global_scratch_size", "global_scratch_align"}


def start_kernels(*names, cache, **variables):
    """kernels.py in a process of its own with the caches of folder `cache`."""
    environment = {**os.environ, "TRITON_CACHE_DIR": str(cache), "PYTHONWARNINGS": "ignore", **library_hash.hand_on(), **variables}
    return subprocess.Popen([sys.executable, str(HERE / "kernels.py"), *names], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, env=environment, cwd="/")


def finish(process):
    """What it printed; what it said on standard error."""
    out, err = process.communicate(timeout=300)
    if process.returncode != 0:
        raise AssertionError(err)
    return json.loads(out), err


@unittest.skipUnless((BINARIES / "tritond").exists() and (BINARIES / "triton-client").exists(), f"no daemon in {BINARIES}")
class WithDaemon(unittest.TestCase):
    """A daemon with two workers, and processes that compile kernels."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(BINARIES)
        cls.addClassCleanup(cls.daemon.__exit__)
        cls.daemon.start(workers=2)
        targets = {t["name"]: t for t in cls.daemon.stats()["daemon"].get("targets", [])}
        if not targets.get("cuda:90", {}).get("binary_available"):
            raise unittest.SkipTest(f"no assembler on this machine: {targets.get('cuda:90', {}).get('why_not')}")

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tritond-python-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_kernels(self, *names, cache="cache", server=None, **variables):
        server = self.daemon.address if server is None else server
        return finish(start_kernels(*names, cache=self.folder / cache, TRITOND_SERVER=server, **variables))


class DaemonTest(WithDaemon):
    """What another release of Triton may change."""

    def test_artifacts_and_metadata_have_the_names_and_types_of_tritons_own(self):
        names = KERNELS + (["copy_tile"] if self.has_descriptors() else [])
        ours, err = self.run_kernels(*names, cache="ours")
        theirs, _ = self.run_kernels(*names, cache="theirs", server="")
        self.assertEqual((ours["status"]["local"], err), ({}, ""))
        self.assertEqual(ours["status"]["hits"] + ours["status"]["compiled"], len(names))
        for name in names:
            mine, upstream = ours["kernels"][name], theirs["kernels"][name]
            with self.subTest(name):
                self.assertEqual(list(mine["asm"].items()), list(upstream["asm"].items()))
                self.assertEqual(mine["packed"], upstream["packed"])
                types = [{field: type(value).__name__ for field, value in k["metadata"].items()} for k in (mine, upstream)]
                self.assertEqual(types[0], types[1])
                values = [{f: v for f, v in k["metadata"].items() if f not in OWN_VALUES} for k in (mine, upstream)]
                self.assertEqual(values[0], values[1])

    def has_descriptors(self):
        code = "import kernels; print(kernels.DESCRIPTORS)"
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=HERE, capture_output=True, text=True, check=True)
        return done.stdout.strip() == "True"

    def test_the_program_of_the_first_steps_gets_its_kernel_from_the_daemon(self):
        if importlib.metadata.version("triton").startswith(("3.0.", "3.1.", "3.2.")):
            self.skipTest("it is written for Triton 3.3 and later")
        page = (HERE.parents[2] / "docs" / "start" / "python.md").read_text(encoding="utf-8")
        program = self.folder / "add.py"
        program.write_text(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], encoding="utf-8")
        environment = {**os.environ, "TRITON_CACHE_DIR": str(self.folder / "cache"), "TRITOND_SERVER": self.daemon.address}
        done = subprocess.run([sys.executable, program], capture_output=True, text=True, env=environment, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("'cubin'", done.stdout)
        self.assertRegex(done.stdout, r"hits=0, compiled=1, joined=0, local=\{\}")

    def test_another_process_has_hits_only(self):
        self.run_kernels(*KERNELS, cache="one")
        out, _ = self.run_kernels(*KERNELS, cache="two")
        self.assertEqual((out["status"]["hits"], out["status"]["compiled"], out["status"]["local"]), (3, 0, {}))

    def test_a_recording_replays_as_hits(self):
        manifest = self.folder / "kernels.jsonl"
        self.run_kernels("softmax:128", "matmul:32", server="", TRITOND_RECORD=str(manifest))
        done = self.daemon.client("prebuild", manifest, "--out-dir", self.folder / "built")
        self.assertEqual(done.returncode, 0, done.stderr)
        out, _ = self.run_kernels("softmax:128", "matmul:32", cache="fresh", TRITOND_ON_FAILURE="error")
        self.assertEqual((out["status"]["hits"], out["status"]["compiled"]), (2, 0))

    def test_what_only_a_newer_triton_prints_stays_local_for_that_kernel_alone(self):
        out, err = self.run_kernels("add:32", "newer:softmax", "matmul:32", cache="newer")
        self.assertEqual([k["error"] for k in out["kernels"].values()], [None, None, None])
        self.assertEqual((out["status"]["hits"] + out["status"]["compiled"], out["status"]["local"]), (2, {"unimplemented": 1}))
        self.assertIn("custom op 'tt.load_of_a_newer_release' is unknown", err)


class SharedDaemonTest(WithDaemon):
    """What any Triton gets from the daemon and its commands."""

    def test_four_processes_at_once_are_one_compile_a_kernel(self):
        before = int(self.daemon.stats()["compiles"])
        names = ["softmax:512", "add:512"]
        processes = [start_kernels(*names, cache=self.folder / str(i), TRITOND_SERVER=self.daemon.address) for i in range(4)]
        status = [finish(process)[0]["status"] for process in processes]
        self.assertEqual([s["local"] for s in status], [{}] * 4)
        self.assertEqual(sum(s["compiled"] for s in status), 2)
        self.assertEqual(int(self.daemon.stats()["compiles"]) - before, 2)

    def test_a_daemon_that_drains_gives_hits_and_no_compiles(self):
        self.run_kernels("add:256")
        self.assertEqual(self.daemon.client("drain").returncode, 0)
        try:
            out, err = self.run_kernels("add:256", "add:1024", cache="other")
        finally:
            self.daemon.client("resume")
        self.assertEqual((out["status"]["hits"], out["status"]["local"]), (1, {"draining": 1}))
        self.assertIn("drain", err)
        self.assertIsNone(out["kernels"]["add:1024"]["error"])

    def test_a_bundle_answers_on_another_machine(self):
        self.run_kernels("add:64", "softmax:64")
        self.assertEqual(self.daemon.client("bundle", "export", self.folder / "all.bundle").returncode, 0)
        with Daemon(BINARIES) as other:
            other.trust(self.daemon)
            other.start(workers=1)
            done = other.client("bundle", "import", self.folder / "all.bundle")
            self.assertEqual(done.returncode, 0, done.stderr)
            out, _ = self.run_kernels("add:64", "softmax:64", cache="other", server=other.address, TRITOND_ON_FAILURE="error")
        self.assertEqual((out["status"]["hits"], out["status"]["compiled"]), (2, 0))


@unittest.skipUnless((BINARIES / "tritond").exists(), f"no daemon in {BINARIES}")
class FailureTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tritond-python-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_kernels(self, *names, server, **variables):
        return finish(start_kernels(*names, cache=self.folder / "cache", TRITOND_SERVER=server, **variables))

    def test_a_daemon_that_is_killed_in_the_middle_costs_the_rest_a_local_compile(self):
        daemon = Daemon(BINARIES)
        self.addCleanup(daemon.__exit__)
        daemon.start(workers=1)
        process = start_kernels("matmul:16", "matmul:32", "matmul:64", "matmul:128", cache=self.folder / "cache",
                                TRITOND_SERVER=daemon.address)
        wait_until(lambda: int(daemon.stats().get("requests", 0)) > 0, 60, "the first kernel arrives")
        daemon.kill()
        out, err = finish(process)
        self.assertEqual([k["error"] for k in out["kernels"].values()], [None] * 4)
        self.assertGreater(sum(out["status"]["local"].values()), 0)
        self.assertEqual(err.count("compiled locally"), 1)

    def test_a_frozen_daemon_costs_a_second_once(self):
        daemon = Daemon(BINARIES)
        self.addCleanup(daemon.__exit__)
        daemon.start(workers=0)
        daemon.process.send_signal(signal.SIGSTOP)
        out, _ = self.run_kernels("add", "softmax", server=daemon.address)
        daemon.process.send_signal(signal.SIGCONT)
        local = out["status"]["local"]  # the second may come after the rest
        self.assertEqual((local["no answer"] + local.get("resting", 0), out["status"]["hits"]), (2, 0))
        self.assertEqual([k["error"] for k in out["kernels"].values()], [None, None])

    def test_without_the_target_kernels_stay_local_silently(self):
        daemon = Daemon(BINARIES)
        self.addCleanup(daemon.__exit__)
        daemon.start(workers=0)
        out, err = self.run_kernels("add", server=daemon.address)
        self.assertEqual((out["status"]["local"], err), ({"target": 1}, ""))

    def test_where_local_compiles_are_errors_nobody_there_is_one(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{probe.getsockname()[1]}"
        begin = time.monotonic()
        out, _ = self.run_kernels("add", server=address, TRITOND_ON_FAILURE="error")
        self.assertEqual(out["kernels"]["add"]["type"], "LocalCompileError")
        self.assertIn(address, out["kernels"]["add"]["error"])
        self.assertLess(time.monotonic() - begin, 40)


def daemons_in(folder):
    """Process ids of the daemons whose data is below `folder`."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode().split("\0")
        except OSError:  # it has ended meanwhile
            continue
        if words[0].endswith("/tritond") and any(word.startswith(str(folder)) for word in words):
            found.append(int(path.parent.name))
    return found


@unittest.skipUnless((BINARIES / "tritond").exists(), f"no daemon in {BINARIES}")
class AutoTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tritond-auto-", ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.addCleanup(self.end_daemons)

    def end_daemons(self):
        for pid in daemons_in(self.folder):
            os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not daemons_in(self.folder), 30, "the daemon ends")

    def start_kernels(self, *names, cache, idle, path=True):
        path = f"{BINARIES}:{os.environ['PATH']}" if path else "/usr/bin:/bin"
        return start_kernels(*names, cache=self.folder / cache, TRITOND_SERVER="auto", XDG_CACHE_HOME=str(self.folder),
                             TRITOND_AUTO_IDLE=str(idle), PATH=path)

    def test_processes_that_ask_at_once_share_one_daemon(self):
        processes = [self.start_kernels("add", cache=f"cache{i}", idle=600) for i in range(4)]
        status = [finish(process)[0]["status"] for process in processes]
        self.assertEqual([s["local"] for s in status], [{}] * 4)
        self.assertEqual(sum(s["compiled"] for s in status), 1)
        self.assertEqual(len(daemons_in(self.folder)), 1)

    def test_a_daemon_that_is_idle_ends_and_the_next_kernel_starts_it_again(self):
        finish(self.start_kernels("add", cache="one", idle=1))
        wait_until(lambda: not daemons_in(self.folder), 30, "the daemon ends")
        out, _ = finish(self.start_kernels("add", cache="two", idle=1))
        self.assertEqual((out["status"]["hits"], out["status"]["local"]), (1, {}))

    def test_without_a_daemon_to_start_kernels_are_compiled_locally(self):
        out, err = finish(self.start_kernels("add", cache="one", idle=1, path=False))
        self.assertEqual((out["kernels"]["add"]["error"], out["status"]["local"]), (None, {"auto": 1}))
        self.assertIn("pip install tritond-server", err)


if __name__ == "__main__":
    unittest.main()
