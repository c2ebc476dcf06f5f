# SPDX-License-Identifier: Apache-2.0
"""The installed Triton through the package, against a made-up daemon: what is asked, what arrives, what stays local."""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

warnings.simplefilter("ignore")  # Triton's own, about its next release

import kernels  # noqa: E402
import library_hash  # noqa: E402
import triton  # noqa: E402
from fake_daemon import EXHAUSTED, INVALID, METADATA, UNIMPLEMENTED, FakeDaemon, Refusal  # noqa: E402

import tritond  # noqa: E402
from tritond import _install, _schema, _status  # noqa: E402

NEW_LAUNCHER = kernels.VERSION >= (3, 7)


class HookTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enter(tempfile.TemporaryDirectory(prefix="tritond-hook-")))
        self.daemon = self.enter(FakeDaemon())
        self.set("TRITON_CACHE_DIR", str(self.folder / "cache"))
        _status.counts.reset()
        self.addCleanup(tritond.uninstall)

    def enter(self, context):
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def set(self, name, value):
        before = os.environ.get(name)
        os.environ[name] = value
        self.addCleanup(os.environ.pop, name) if before is None else self.addCleanup(os.environ.__setitem__, name, before)

    def install(self, **settings):
        tritond.install(self.daemon.address, **settings)

    def refuse(self, *refusal):
        def answer(_):
            raise Refusal(*refusal)

        self.daemon.compile = answer

    def test_the_answer_is_what_triton_has_and_keeps(self):
        self.install()
        self.daemon.compile = lambda request: {**METADATA, "shared": 1234, "num_warps": 8, "name": "renamed", "stranger": 1}
        done = kernels.compile_one("add")
        self.assertIsNone(done["error"])
        self.assertEqual((done["metadata"]["shared"], done["metadata"]["num_warps"]), (1234, 8))
        self.assertEqual(done["metadata"]["name"], "renamed")
        self.assertNotIn("stranger", done["metadata"])
        self.assertEqual(kernels.compile_one("add")["metadata"], done["metadata"])  # from Triton's own cache
        self.assertEqual(len(self.daemon.requests), 1)
        self.assertEqual(tritond.status().compiled, 1)

    def test_a_request_says_what_the_launcher_passes(self):
        self.install(tenant="research")
        kernels.compile_one("add", num_warps=8)
        request = self.daemon.requests[0]
        self.assertEqual((request.target, request.label, list(request.outputs)), ("cuda:90", "add", [2, 3, 4, 5]))
        self.assertEqual((request.options.fields["num_warps"].number_value, request.tenant), (8, "research"))
        self.assertNotIn("extern_libs", request.options.fields)
        self.assertIn(b"tt.func public @add", request.ir)
        self.assertIn(b"kernels.py", request.ir)
        expected = {(3, 0): (False, False, 0), (3, 5): (True, True, 1), (3, 6): (True, True, 1), (3, 9): (True, True, 2)}
        abi = (request.abi.global_scratch, request.abi.profile_scratch, request.abi.descriptor_flags)
        self.assertEqual(abi, expected.get(kernels.VERSION, abi))
        self.assertFalse(request.abi.host_tensor_maps)

    @unittest.skipUnless(kernels.DESCRIPTORS, "no descriptors as arguments")
    def test_kernels_that_take_descriptors_may_take_tensor_maps(self):
        self.install()
        kernels.compile_one("copy_tile")
        asked = self.daemon.requests[0].abi.host_tensor_maps
        self.assertEqual(asked, {(3, 6): True}.get(kernels.VERSION, asked))
        kernels.compile_one("copy_tile", block=32, target=kernels.GPUTarget("cuda", 80, 32))
        self.assertFalse(any(request.abi.host_tensor_maps for request in self.daemon.requests[1:]))

    def test_results_of_any_build_count_where_that_is_set(self):
        for any_build, mode in ((False, 0), (True, 3)):
            self.install(any_build=any_build)
            kernels.compile_one("add", num_warps=8 if any_build else 4)
            self.assertEqual(self.daemon.requests[-1].cache_mode, mode)

    def test_another_target_stays_local_without_a_word(self):
        self.install()
        with self.assertNoLogs("tritond") if hasattr(self, "assertNoLogs") else contextlib.nullcontext():
            done = kernels.compile_one("add", target=kernels.GPUTarget("cuda", 80, 32))
        self.assertEqual((done["error"], tritond.status().local), (None, {"target": 1}))

    def test_what_the_compiler_lacks_stays_local_for_that_kernel_alone(self):
        self.install()
        self.refuse(UNIMPLEMENTED, "no tt.dot", "UNIMPLEMENTED")
        with self.assertLogs("tritond", "WARNING"):
            self.assertIsNone(kernels.compile_one("matmul")["error"])
        self.daemon.compile = lambda _: METADATA
        kernels.compile_one("add")
        self.assertEqual((tritond.status().local, tritond.status().compiled), ({"unimplemented": 1}, 1))

    def test_an_answer_without_what_the_launcher_reads_is_not_used(self):
        self.install()
        self.daemon.compile = lambda _: {"name": "add", "num_warps": 4}
        self.assertGreater(len(kernels.compile_one("add")["metadata"]["name"]), 0)
        self.assertEqual(tritond.status().local, {"answer": 1})

    def test_a_kernel_that_both_find_wrong_raises_tritons_error_with_the_line_of_python(self):
        failure = _schema.CompileFailure(key="k")
        self.install()

        def answer(request):
            lines = request.ir.decode().split("\n")
            line = 1 + next(i for i, text in enumerate(lines) if "tt.store" in text)
            failure.diagnostics.add(severity=1, line=line, message="this store is wrong")
            raise Refusal(INVALID, "wrong", "COMPILE_ERROR", [failure])

        self.daemon.compile = answer
        broken = kernels.GPUTarget("cuda", 90, 32)
        with self.assertRaises(Exception) as local:
            self.compile_broken(broken, install=False)
        with self.assertRaises(Exception) as caught:
            self.compile_broken(broken, install=True)
        self.assertIs(type(caught.exception), type(local.exception))
        self.assertIn(str(local.exception), str(caught.exception))
        self.assertRegex(str(caught.exception), r"kernels\.py:\d+:\d+: error: this store is wrong")

    def compile_broken(self, target, install):
        """A kernel that fails in one of Triton's own stages."""
        tritond.uninstall()
        backend = kernels.triton.compiler.compiler.make_backend(target)

        def fail(*_):
            raise RuntimeError("PassManager::run failed")

        original = vars(type(backend))["make_ttgir"]
        type(backend).make_ttgir = staticmethod(fail)
        try:
            if install:
                self.install()
            triton.compile(kernels.source_of("add", 32), target=target)
        finally:
            type(backend).make_ttgir = original

    def test_where_local_compiles_are_errors_they_name_the_kernel(self):
        self.install(on_failure="error")
        self.refuse(UNIMPLEMENTED, "no such op", "UNIMPLEMENTED")
        with self.assertNoLogs("tritond") if hasattr(self, "assertNoLogs") else contextlib.nullcontext():
            done = kernels.compile_one("softmax")
        self.assertEqual(done["type"], "LocalCompileError")
        self.assertIn("kernel softmax", done["error"])
        self.assertIn("no such op", done["error"])

    def test_where_local_compiles_are_errors_a_kernel_over_the_limits_is_one_that_the_autotuner_skips(self):
        failure = _schema.CompileFailure(key="k")
        failure.diagnostics.add(severity=1, message="the kernel needs 40000 bytes of shared memory, but cuda:90 has 30000 a block")
        self.install(on_failure="error")
        self.refuse(EXHAUSTED, "too much", "LIMIT", [failure])
        done = kernels.compile_one("softmax")
        self.assertEqual(done["type"], "OutOfResources")
        self.assertIn("Required: 40000, Hardware limit: 30000", done["error"])

    def test_caches_keep_the_two_compilers_apart_and_uninstall_is_complete(self):
        backend = triton.compiler.compiler.make_backend(kernels.GPUTarget("cuda", 90, 32))
        before, add_stages = backend.hash(), type(backend).add_stages
        self.install()
        self.assertNotEqual(backend.hash(), before)
        self.assertIsNot(type(backend).add_stages, add_stages)
        tritond.uninstall()
        self.assertEqual(backend.hash(), before)
        self.assertIs(type(backend).add_stages, add_stages)

    def test_a_hook_of_the_users_own_has_tritons_stages(self):
        if kernels.VERSION < (3, 6):
            self.skipTest("this Triton has no stage hook")
        self.install()
        seen = []

        def hook(backend=None, stages=None, *_):
            if stages is not None:
                seen.extend(stages)
            return "key", "hash"

        triton.knobs.runtime.add_stages_inspection_hook = hook
        try:
            self.assertIsNone(kernels.compile_one("add")["error"])
        finally:
            triton.knobs.runtime.add_stages_inspection_hook = None
        self.assertEqual((seen, self.daemon.requests), (["ttir", "ttgir", "llir", "ptx", "cubin"], []))

    def test_ir_files_are_compiled_by_the_daemon_too(self):
        self.install()
        kernels.compile_one("add")
        path = self.folder / "again.ttir"
        path.write_bytes(self.daemon.requests[0].ir)
        kernel = triton.compile(str(path), target=kernels.GPUTarget("cuda", 90, 32))
        self.assertEqual(len(self.daemon.requests), 2)
        self.assertEqual(kernel.asm["cubin"], b"stage 5 of add")

    def test_a_recording_is_a_manifest(self):
        manifest = self.folder / "kernels.jsonl"
        with tritond.recording(manifest):
            for name in ("add", "softmax", "add"):
                kernels.compile_one(name)
        kernels.compile_one("matmul")
        lines = [json.loads(line) for line in manifest.read_text().splitlines()]
        self.assertEqual([line["name"].split("-")[0] for line in lines], ["add", "softmax"])
        self.assertEqual({line["target"] for line in lines}, {"cuda:90"})
        self.assertEqual(lines[0]["emit"], ["ttgir", "llir", "asm", "binary"])
        self.assertIn("tt.func public @add", (self.folder / lines[0]["file"]).read_text())
        self.assertFalse(_install._originals)

    def run_program(self, **variables):
        """kernels.py in a process of its own, switched on by variables alone."""
        environment = {**os.environ, **variables, **library_hash.hand_on(), "PYTHONWARNINGS": "ignore"}
        program = pathlib.Path(kernels.__file__)
        done = subprocess.run([sys.executable, str(program), "add"], env=environment, capture_output=True, text=True, cwd="/",
                              check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), done.stderr

    def test_a_variable_switches_it_on(self):
        out, err = self.run_program(TRITOND_SERVER=self.daemon.address)
        self.assertEqual((out["status"]["compiled"], out["status"]["local"], err), (1, {}, ""))

    def test_a_wrong_variable_does_not_keep_a_program_from_running(self):
        out, err = self.run_program(TRITOND_SERVER="nonsense")
        self.assertIsNone(out["kernels"]["add"]["error"])
        self.assertIn('server address "nonsense"', err)

    def test_off_is_off(self):
        out, _ = self.run_program(TRITOND_SERVER="")
        self.assertEqual((out["status"]["installed"], self.daemon.requests), (False, []))


if __name__ == "__main__":
    unittest.main()
