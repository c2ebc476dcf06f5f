#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tunings with the real programs, on the host device and on GPUs whose drivers are faked: tuning_test.py BIN_FOLDER [unittest arguments]"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from daemon import Daemon, children_of, is_running, wait_until  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
BINARIES = ROOT / "build" / "bin"


class Tuning(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enterContext(Daemon(BINARIES)).start()
        self.start_device_worker()
        self.spec = json.loads((EXAMPLES / "softmax.autotune.json").read_text())
        for candidate in self.spec["candidates"]:
            candidate["file"] = str(EXAMPLES / "softmax.ttir")

    def start_device_worker(self):
        token = self.daemon.folder / "data" / "worker.token"
        command = [str(BINARIES / "triton-worker"), "--server", self.daemon.address, "--devices", "host:0", "--name",
                   "the device", "--once", "--token-file", str(token)]
        with open(self.daemon.folder / "device.log", "a", encoding="utf-8") as log:
            self.device = subprocess.Popen(command, stdout=log, stderr=log)
        self.addCleanup(self.stop_device_worker)
        wait_until(lambda: "the device" in self.daemon.client("workers").stdout, 30, "the device worker attaches")

    def stop_device_worker(self):
        if self.device.poll() is None:
            self.device.kill()
        self.device.wait()

    def tune(self, *words):
        path = self.daemon.folder / "spec.json"
        path.write_text(json.dumps(self.spec), encoding="utf-8")
        return self.daemon.client("autotune", path, *words)

    def tuning(self):
        done = self.tune("--json")
        self.assertEqual(done.returncode, 0, done.stderr + self.daemon.log())
        return json.loads(done.stdout)

    def states(self, tuning):
        return [candidate["state"] for candidate in tuning["candidates"]]

    def test_a_search_times_all_candidates_and_names_a_winner(self):
        tuning = self.tuning()
        self.assertEqual(self.states(tuning), ["STATE_TIMED"] * 4)
        medians = [candidate["median_us"] for candidate in tuning["candidates"]]
        self.assertLessEqual(medians[tuning.get("winner", 0)], 1.1 * min(medians))
        self.assertEqual((tuning["device"], tuning["worker"]), ("host:0", "the device"))

    def test_the_second_caller_gets_the_stored_winner_without_a_device(self):
        first = self.tune()
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn(", miss, key ", first.stdout)
        self.assertIn("* num_warps=", first.stdout)
        self.assertIn("num_warps=1", first.stderr)
        second = self.tune()
        self.assertIn(", hit, key ", second.stdout)
        self.assertEqual(first.stdout.splitlines()[:5], second.stdout.splitlines()[:5])

    def test_a_stored_winner_survives_a_kill_of_the_daemon(self):
        first = self.tuning()
        self.daemon.kill()
        self.device.wait(timeout=30)
        self.daemon.start()
        self.start_device_worker()
        self.assertIn(", hit, key " + first["key"], self.tune().stdout)

    def test_a_kernel_that_computes_something_else_is_wrong(self):
        wrong = self.daemon.folder / "wrong.ttir"
        wrong.write_text((EXAMPLES / "softmax.ttir").read_text().replace("arith.divf %power", "arith.mulf %power"))
        self.spec["candidates"][1]["file"] = str(wrong)
        tuning = self.tuning()
        self.assertEqual(self.states(tuning), ["STATE_TIMED", "STATE_WRONG", "STATE_TIMED", "STATE_TIMED"])
        self.assertIn("3 of 4 candidates agree", tuning["candidates"][1]["reason"])

    def test_a_kernel_that_leaves_its_buffers_fails_alone(self):
        self.spec["candidates"][2]["grid"] = [20]
        tuning = self.tuning()
        self.assertEqual(self.states(tuning), ["STATE_TIMED", "STATE_TIMED", "STATE_FAILED", "STATE_TIMED"])

    def test_every_strategy_finishes(self):
        for kind in ("RANDOM", "SUCCESSIVE_HALVING", "MODEL_GUIDED"):
            self.spec["strategy"] = {"kind": f"KIND_{kind}"}
            done = self.tune("--no-cache")
            self.assertEqual(done.returncode, 0, f"{kind}: {done.stderr}")

    def test_a_device_process_that_is_killed_is_replaced(self):
        self.tuning()
        for pid in children_of(self.device.pid):
            os.kill(pid, 9)
            wait_until(lambda: not is_running(pid), 10, "the process ends")  # pylint: disable=cell-var-from-loop
        done = self.tune("--no-cache")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_without_a_device_the_error_says_what_to_start(self):
        self.device.terminate()
        self.assertEqual(self.device.wait(timeout=30), 0)
        wait_until(lambda: "the device" not in self.daemon.client("workers").stdout, 30, "the worker has left")
        done = self.tune()
        self.assertEqual(done.returncode, 1)
        self.assertIn("Start a worker with --devices", done.stderr)

    def test_a_device_that_does_not_exist_is_named(self):
        command = [str(BINARIES / "triton-worker"), "--server", self.daemon.address, "--devices", "cuda:77", "--once"]
        done = subprocess.run(command, text=True, stderr=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no device opens. cuda:77: ", done.stderr)


COUNT_PROGRAMS = """module {
  tt.func public @count_programs(%out: !tt.ptr<i32>) {
    %one = arith.constant 1 : i32
    %program = tt.get_program_id x : i32
    %element = tt.addptr %out, %program : !tt.ptr<i32>, i32
    %before = tt.load %element : !tt.ptr<i32>
    %more = arith.addi %before, %program : i32
    %after = arith.addi %more, %one : i32
    tt.store %element, %after : !tt.ptr<i32>
    tt.return
  }
}
"""


class FakeGpus(unittest.TestCase):
    """GPUs of AMD and Intel whose drivers are faked (workers/device/fake_gpu.h): they run kernels by their names."""

    GPUS = {"hip": ("fake_hip", "hip:gfx942", "Fake Instinct"), "ze": ("fake_level_zero", "xpu:pvc", "Fake Ponte Vecchio"),
            "cl": ("fake_opencl", "xpu:bmg", "Fake Battlemage")}

    def setUp(self):
        self.daemon = self.enterContext(Daemon(BINARIES)).start()
        (self.daemon.folder / "kernel.ttir").write_text(COUNT_PROGRAMS, encoding="utf-8")
        self.args = [{"name": "out", "type": "*i32", "shape": [3], "role": "inout", "fill": "zeros", "expect": [1, 2, 3]}]

    def library(self, kind):
        path = BINARIES.parent / "workers" / "device" / f"libtritond_device_{self.GPUS[kind][0]}.so"
        return f"--device-library={kind}={path}"

    def write(self, spec):
        path = self.daemon.folder / "spec.json"
        path.write_text(json.dumps(spec), encoding="utf-8")
        return path

    def test_run_launches_on_each(self):
        for kind in self.GPUS:
            spec = self.write({"kernel": "kernel.ttir", "device": kind + ":0", "grid": [3], "args": self.args})
            done = self.daemon.client("run", spec, self.library(kind))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_worker_measures_on_each(self):
        token = self.daemon.folder / "data" / "worker.token"
        worker = subprocess.Popen(
            [str(BINARIES / "triton-worker"), "--server", self.daemon.address, "--once", "--token-file", str(token),
             "--devices", "hip:0,ze:0,cl:0,hip:1", *map(self.library, self.GPUS)], stderr=subprocess.DEVNULL)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        wait_until(lambda: "Fake Battlemage" in self.daemon.client("workers").stdout, 30, "the device worker attaches")
        workers = self.daemon.client("workers").stdout
        self.assertRegex(workers, r"hip:1 \(out of service: hip:1: .*101")
        for _, target, model in self.GPUS.values():
            self.assertIn(model, workers)
            spec = self.write({"candidates": [{"name": f"num_warps={n}", "file": "kernel.ttir", "options": {"num_warps": n},
                                               "grid": [3]} for n in (1, 2)],
                               "args": [{key: value for key, value in self.args[0].items() if key != "expect"}],
                               "device": {"target": target}, "budget": "5s"})
            done = self.daemon.client("autotune", spec, "--json")
            self.assertEqual(done.returncode, 0, done.stderr + self.daemon.log())
            for candidate in json.loads(done.stdout)["candidates"]:
                self.assertEqual(candidate["state"], "STATE_TIMED")
                self.assertAlmostEqual(candidate["median_us"], 5, delta=0.05)

    def test_a_wrong_library_is_a_usage_error(self):
        for library in ("abacus=/lib/a.so", "hip", "hip="):
            done = subprocess.run([str(BINARIES / "triton-worker"), "--server", self.daemon.address, "--devices", "hip:0",
                                   "--device-library", library], text=True, stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f'"{library}" is no device library', done.stderr)
            spec = self.write({"kernel": "kernel.ttir", "device": "hip:0", "grid": [3], "args": self.args})
            self.assertEqual(self.daemon.client("run", spec, "--device-library", library).returncode, 2)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        BINARIES = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
