#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The real programs, from a shell's point of view: e2e_test.py BIN_FOLDER [unittest arguments]"""
import hashlib
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from daemon import Daemon, assembler_program, is_running, wait_until  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
CORPUS = ROOT.parent / "shared" / "corpus" / "dev"
BINARIES = ROOT / "build" / "bin"
BROKEN = """module {
  tt.func public @broken(%x: !tt.ptr<f32>) {
    %y = arith.addi %x
    tt.return
  }
}
"""


# As the assembler in its options, and never done.
SLOW_ASSEMBLER = """
#include <cstdio>
#include <cstring>
#include <unistd.h>
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--version")) return !std::puts("Cuda compilation tools, release 13.0, V13.0.0");
  }
  sleep(300);
}
"""


def with_unknown_release(assembler):
    """The program's bytes with a patch number of zeros, so that no library of the same release stands for it."""
    return re.sub(rb"(compilation tools, release [0-9.]+, V[0-9]+\.[0-9]+\.)([0-9]+)",
                  lambda release: release[1] + b"0" * len(release[2]), assembler)


def program_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


def pick_target(stats):
    """The first of our targets for which this machine can make binaries."""
    able = {t["name"] for t in stats["daemon"].get("targets", []) if t["binary_available"]}
    for target in ("cuda:90", "host"):
        if target in able:
            return target
    raise unittest.SkipTest(f"no binaries on this machine: {stats['daemon'].get('targets')}")


class EndToEnd(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enterContext(Daemon(BINARIES)).start()
        self.folder = self.daemon.folder
        self.target = pick_target(self.daemon.stats())

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def test_a_compile_is_a_miss_and_then_a_hit_with_the_same_bytes(self):
        code, miss = self.daemon.compile(EXAMPLES / "softmax.ttir", self.target, "-o", self.folder / "miss")
        self.assertEqual((code, miss["cache"], miss["error"]), (0, "miss", None))
        code, hit = self.daemon.compile(EXAMPLES / "softmax.ttir", self.target, "-o", self.folder / "hit")
        self.assertEqual((code, hit["cache"]), (0, "hit"))
        self.assertEqual(miss["key"], hit["key"])
        self.assertEqual(miss["artifacts"], hit["artifacts"])
        self.assertEqual((self.folder / "miss").read_bytes(), (self.folder / "hit").read_bytes())
        self.assertGreater((self.folder / "miss").stat().st_size, 500)
        self.assertLess(0, sum(miss["stages_ms"].values()))

    def test_metadata_has_what_a_launcher_needs(self):
        path = self.folder / "meta.json"
        code, _ = self.daemon.compile(EXAMPLES / "softmax.ttir", self.target, "--num-warps", "8", "--option", "colour=blue",
                                      "--metadata", path)
        self.assertEqual(code, 0)
        metadata = json.loads(path.read_text())
        self.assertEqual((metadata["name"], metadata["num_warps"], metadata["colour"]), ("softmax", 8, "blue"))
        for name in ("shared", "num_ctas", "num_stages", "warp_size", "tmem_size", "global_scratch_size",
                     "global_scratch_align", "profile_scratch_size", "profile_scratch_align", "target"):
            self.assertIn(name, metadata)

    def test_ttir_of_ttir_is_canonical(self):
        plain, canonical = EXAMPLES / "softmax.ttir", self.folder / "canonical.ttir"
        code, line = self.daemon.compile(plain, self.target, "--emit", "ttir", "-o", canonical)
        self.assertEqual((code, line["error"]), (0, None))
        code, _ = self.daemon.compile(canonical, self.target, "--emit", "ttir", "-o", self.folder / "again.ttir")
        self.assertEqual(code, 0)
        self.assertEqual(canonical.read_text(), (self.folder / "again.ttir").read_text())
        self.assertIn("tt.func", canonical.read_text())

    def test_a_callers_assembly_puts_no_file_into_a_binary_of_this_machine(self):
        secret = self.write("secret", "what nobody else may know")
        directive = f'.incbin \\22{secret}\\22'
        kernel = 'define void @k(ptr %x) "tritond.kernel" {\n  {asm}\n  ret void\n}\n'
        inside = kernel.replace("{asm}", f'call void asm sideeffect "{directive}", ""()')
        texts = {"module.ll": f'module asm ".data"\nmodule asm "{directive}"\n' + kernel.replace("{asm}", ""),
                 "inline.ll": inside, "text.s": f'\t.data\n\t.incbin "{secret}"\n'}
        for name, text in texts.items():
            stage = "asm" if name.endswith(".s") else "llir"
            code, line = self.daemon.compile(self.write(name, text), "host", "--input", stage, "-o", self.folder / "out")
            self.assertEqual(code, 1, name)
            self.assertIn("host takes no assembly", line["error"])
            self.assertFalse((self.folder / "out").exists(), name)

    def test_workers_say_what_confines_them(self):
        listed = json.loads(self.daemon.client("workers", "--json").stdout)
        for worker in listed["workers"]:
            self.assertRegex(worker.get("confinement", ""), r"^(landlock \d+|namespaces|)$")
        confined = all(worker.get("confinement") for worker in listed["workers"])
        self.assertEqual("NOTHING" in self.daemon.client("workers").stdout, not confined)

    def test_another_spelling_of_a_kernel_is_a_hit(self):
        original = (EXAMPLES / "softmax.ttir").read_text()
        self.assertIn("%", original)
        respelled = self.write("softmax.ttir", "// once more\n" + original.replace("%", "%of_"))
        _, miss = self.daemon.compile(EXAMPLES / "softmax.ttir", "cuda:90", "--emit", "asm")
        code, hit = self.daemon.compile(respelled, "cuda:90", "--emit", "asm")
        self.assertEqual((code, hit["cache"], hit["artifacts"]), (0, "hit", miss["artifacts"]))
        self.assertNotEqual(hit["key"], miss["key"])

    def test_a_new_assembler_redoes_only_the_last_step(self):
        ptxas = assembler_program()
        if self.target != "cuda:90" or not ptxas:
            self.skipTest("no ptxas on this machine that is a program rather than a script")
        # The same program under two digests. A script would be refused: what it runs is not known.
        program = with_unknown_release(ptxas.read_bytes())
        toolkit = self.folder / "cuda" / "bin"
        toolkit.mkdir(parents=True)
        results = []
        for name, end in (("first", b""), ("second", b"\0")):
            self.assertEqual(self.daemon.stop(), 0)
            (toolkit / "ptxas").write_bytes(program + end)
            (toolkit / "ptxas").chmod(0o755)
            self.daemon.start(environment={"CUDA_HOME": str(toolkit.parent)})
            code, line = self.daemon.compile(EXAMPLES / "softmax.ttir", self.target, "-o", self.folder / name)
            results.append((self.build_id(), line))
        (before, first), (after, second) = results
        self.assertNotEqual(before, after)
        self.assertEqual((code, second["cache"]), (0, "miss"))
        self.assertEqual(sorted(first["stages_ms"]), ["asm", "binary", "llir", "ttgir", "ttir"])
        self.assertEqual(sorted(second["stages_ms"]), ["binary", "ttir"])
        self.assertEqual((self.folder / "first").read_bytes(), (self.folder / "second").read_bytes())

    def test_an_assembler_that_nobody_waits_for_ends_at_once(self):
        compiler = shutil.which("c++") or shutil.which("g++")
        if self.target != "cuda:90" or not compiler:
            self.skipTest("no target with an assembler, or no C++ compiler")
        self.assertEqual(self.daemon.stop(), 0)
        toolkit = self.folder / "cuda" / "bin"
        toolkit.mkdir(parents=True)
        source = self.write("slow.cc", SLOW_ASSEMBLER)
        subprocess.run([compiler, "-static", source, "-o", toolkit / "ptxas"], check=True)
        self.daemon.start(environment={"CUDA_HOME": str(toolkit.parent)})

        def running():
            return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if program_of(pid) == str(toolkit / "ptxas")]

        asker = subprocess.Popen(self.daemon.client_command("compile", EXAMPLES / "softmax.ttir", "--target", self.target),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(asker.kill)
        wait_until(running, 30, "the assembler runs")
        asker.kill()
        asker.wait()
        wait_until(lambda: not running(), 5, "the assembler ends")
        # The worker that waited for it is free.
        code, line = self.daemon.compile(EXAMPLES / "softmax.ttir", "host")
        self.assertEqual((code, line["cache"]), (0, "miss"))

    def build_id(self):
        return next(t["build_id"] for t in self.daemon.stats()["daemon"]["targets"] if t["name"] == self.target)

    def test_after_a_restart_a_hit_touches_no_worker(self):
        _, miss = self.daemon.compile(EXAMPLES / "softmax.ttir", self.target)
        self.assertEqual(self.daemon.stop(), 0)
        self.daemon.start(workers=0)
        code, hit = self.daemon.compile(EXAMPLES / "softmax.ttir", self.target, "-o", self.folder / "hit")
        self.assertEqual((code, hit["cache"], hit["artifacts"]), (0, "hit", miss["artifacts"]))
        self.assertEqual(self.daemon.workers(), [])
        self.assertEqual(int(self.daemon.stats()["compiles"]), 0)

    def test_a_result_survives_a_kill_of_the_daemon(self):
        _, miss = self.daemon.compile(EXAMPLES / "softmax.ttir", self.target)
        workers = self.daemon.workers()
        self.daemon.kill()
        wait_until(lambda: not any(is_running(pid) for pid in workers), 10, "the workers of a dead daemon end")
        self.daemon.start()
        code, hit = self.daemon.compile(EXAMPLES / "softmax.ttir", self.target)
        self.assertEqual((code, hit["cache"], hit["artifacts"]), (0, "hit", miss["artifacts"]))

    def test_submitted_jobs_survive_kills_of_the_daemon(self):
        kernels = [self.write(f"kernel{i}.ttir", (EXAMPLES / "softmax.ttir").read_text().replace("softmax", f"softmax{i}"))
                   for i in range(6)]
        ids = []
        for kernel in kernels:
            done = self.daemon.client("submit", str(kernel), "--target", self.target)
            self.assertEqual(done.returncode, 0, done.stderr)
            ids.append(done.stdout.strip())
        for _ in range(3):
            self.daemon.kill()
            self.daemon.start()
        for job in ids:
            done = self.daemon.client("watch", job, "--json")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            last = json.loads(done.stdout.splitlines()[-1])
            self.assertEqual(last["state"], "JOB_STATE_SUCCEEDED")
        for kernel in kernels:
            code, report = self.daemon.compile(kernel, self.target)
            self.assertEqual((code, report["cache"]), (0, "hit"))

    def look_into(self, bundle, made):
        """What a bundle of softmax alone holds, without a daemon."""
        def client(*words):
            return subprocess.run([str(BINARIES / "triton-client"), "--server", "unix:/none", "bundle", *map(str, words)], text=True,
                                  capture_output=True, timeout=60, check=False)
        shown = subprocess.run([str(BINARIES / "tritond"), "keys", "show", str(self.folder / "data" / "signing.key")], text=True, check=True,
                               stdout=subprocess.PIPE).stdout
        listed = client("list", bundle, "--json", "--trusted-keys", self.write("keys", shown))
        self.assertEqual(listed.returncode, 0, listed.stderr)
        result = json.loads(listed.stdout)
        self.assertEqual((result["key"], result["name"], result["artifacts"]), (made["key"], "softmax", made["artifacts"]))
        self.assertTrue(result["signature_verified"])
        extracted = client("extract", bundle, made["key"][:8], "--out-dir", self.folder / "extracted", "--json")
        self.assertEqual(extracted.returncode, 0, extracted.stderr)
        digests = {hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest() for path in json.loads(extracted.stdout)["files"]}
        self.assertIn(made["artifacts"]["binary"], digests)

    def test_a_bundle_brings_results_to_another_daemon(self):
        code, made = self.daemon.compile(EXAMPLES / "softmax.ttir", self.target)
        self.assertEqual(code, 0)
        bundle = self.folder / "kernels.bundle"
        self.assertEqual(self.daemon.client("bundle", "export", str(bundle)).returncode, 0)
        self.look_into(bundle, made)
        with Daemon(BINARIES) as stranger:
            stranger.start()
            done = stranger.client("bundle", "import", str(bundle))
            self.assertEqual(done.returncode, 1)
            self.assertIn("is not trusted", done.stderr)
        with Daemon(BINARIES) as other:
            other.trust(self.daemon)
            other.start()
            done = other.client("bundle", "import", str(bundle))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("1 results", done.stdout)
            code, got = other.compile(EXAMPLES / "softmax.ttir", self.target)
            self.assertEqual((code, got["cache"], got["artifacts"]), (0, "hit", made["artifacts"]))

    def test_explain_names_the_option_that_differs(self):
        keys = [self.daemon.compile(EXAMPLES / "softmax.ttir", self.target, "--num-warps", warps)[1]["key"]
                for warps in ("2", "4")]
        done = self.daemon.client("explain", *keys)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "options.num_warps: 2 | 4\n")

    def test_source_locations_do_not_split_the_cache(self):
        text = (EXAMPLES / "softmax.ttir").read_text()
        self.daemon.compile(self.write("plain.ttir", text), self.target)
        located = text.replace("    tt.return\n", "    tt.return loc(#loc1)\n") + '#loc1 = loc("kernel.py":3:4)\n'
        code, hit = self.daemon.compile(self.write("located.ttir", located), self.target)
        self.assertEqual((code, hit["cache"]), (0, "hit"))

    def test_options_split_the_cache(self):
        _, four = self.daemon.compile(EXAMPLES / "softmax.ttir", self.target, "--num-warps", "4")
        _, eight = self.daemon.compile(EXAMPLES / "softmax.ttir", self.target, "--num-warps", "8")
        self.assertEqual(eight["cache"], "miss")
        self.assertNotEqual(four["key"], eight["key"])

    def test_no_cache_compiles_again(self):
        self.daemon.compile(EXAMPLES / "softmax.ttir", self.target)
        code, again = self.daemon.compile(EXAMPLES / "softmax.ttir", self.target, "--no-cache")
        self.assertEqual((code, again["cache"]), (0, "miss"))
        self.assertEqual(int(self.daemon.stats()["compiles"]), 2)

    def test_broken_ir_exits_one_and_names_the_place(self):
        path = self.write("broken.ttir", BROKEN)
        for _ in range(2):  # the second time from memory
            done = self.daemon.client("compile", path, "--target", self.target)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, rf"{path}:3:\d+: error: ")
        code, line = self.daemon.compile(path, self.target)
        self.assertEqual(code, 1)
        self.assertRegex(line["error"], r":3:\d+: error: ")
        self.assertEqual(int(self.daemon.stats()["compiles"]), 1)

    def test_ir_of_a_newer_release_is_for_a_local_compiler(self):
        text = (EXAMPLES / "softmax.ttir").read_text(encoding="utf-8")
        metadata = self.write("metadata.json", '{"num_warps": 12, "shared": 0}')
        for old, new, said, words in (("math.exp %", "tt.new_thing %", "'tt.new_thing'", []),
                                      ("math.exp %", "fresh.exp %", "'fresh.exp'", []),
                                      ("<{axis", "<{new_field = 1 : i32, axis", "'new_field'", []),
                                      ("%columns : i32", "%columns {new_flag} : i32", "'new_flag'", []),
                                      ("", "", "num_warps = 12", ["--options", metadata])):
            self.assertIn(old, text)
            path = self.write("newer.ttir", text.replace(old, new, 1))
            for fallback, status in (([], 1), (["--fallback", "30"], 3)):
                done = self.daemon.client("compile", path, "--target", self.target, *words, *fallback)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(said, done.stderr)
        done = self.daemon.client("compile", self.write("broken.ttir", BROKEN), "--target", self.target, "--fallback", "30")
        self.assertEqual(done.returncode, 1, done.stderr)

    def test_an_unknown_target_is_refused_by_name(self):
        done = self.daemon.client("compile", EXAMPLES / "softmax.ttir", "--target", "abacus:9000")
        self.assertEqual(done.returncode, 1)
        self.assertIn("abacus:9000", done.stderr)
        done = self.daemon.client("compile", EXAMPLES / "softmax.ttir", "--target", "sm_90")
        self.assertIn("did you mean --target cuda:90?", done.stderr)

    def test_colour_is_for_terminals_without_no_color(self):
        command = self.daemon.client_command("compile", self.write("broken.ttir", BROKEN), "--target", self.target)
        variables = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        for more, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
            reader, terminal = pty.openpty()
            subprocess.run(command, stderr=terminal, env={**variables, "TERM": "xterm", **more}, timeout=60, check=False)
            os.close(terminal)
            said = os.read(reader, 65536)
            os.close(reader)
            self.assertIn(b":3:", said)
            self.assertEqual(b"\x1b[" in said, coloured, more)

    def test_the_status_pages_port_is_recognised(self):
        self.daemon.address, grpc = self.daemon.http, self.daemon.address
        done = self.daemon.client("stats")
        self.daemon.address = grpc
        self.assertEqual(done.returncode, 3)
        self.assertIn("an HTTP server listens there", done.stderr)

    def test_usage_exits_two_and_no_server_three(self):
        self.assertEqual(self.daemon.client("compile", self.folder / "none.ttir", "--target", self.target).returncode, 2)
        self.assertEqual(self.daemon.client("compile", EXAMPLES / "softmax.ttir").returncode, 2)
        self.assertEqual(self.daemon.client("frobnicate").returncode, 2)
        self.daemon.stop()
        done = self.daemon.client("compile", EXAMPLES / "softmax.ttir", "--target", self.target)
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"no server at {self.daemon.address}", done.stderr)

    def test_equal_requests_at_once_are_one_compile(self):
        command = [str(BINARIES / "triton-client"), "--server", self.daemon.address, "compile",
                   str(EXAMPLES / "layer_norm.ttir"), "--target", self.target, "--json"]
        clients = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(12)]
        lines = [json.loads(client.communicate(timeout=120)[0]) for client in clients]
        self.assertEqual(len({line["artifacts"]["binary"] for line in lines}), 1)
        self.assertEqual([line["cache"] for line in lines].count("miss"), 1)
        self.assertEqual(int(self.daemon.stats()["compiles"]), 1)

    def test_prebuild_gives_a_binary_and_metadata_for_each_kernel(self):
        out = self.folder / "out"
        done = self.daemon.client("prebuild", EXAMPLES, "--target", self.target, "--out-dir", out, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({json.loads(line)["name"] for line in done.stdout.splitlines()}, {"softmax", "layer_norm"})
        for name in ("softmax", "layer_norm"):
            self.assertEqual(json.loads((out / f"{name}.json").read_text())["name"], name)
            binaries = [path for path in out.glob(f"{name}.*") if path.suffix != ".json"]
            self.assertEqual(len(binaries), 1)

    def test_prebuild_keeps_several_targets_apart(self):
        if self.target == "host":
            self.skipTest("the host is the only target with binaries here")
        done = self.daemon.client("prebuild", EXAMPLES, "--target", f"{self.target},host", "--out-dir", self.folder / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        for target in (self.target, "host"):
            metadata = json.loads((self.folder / "out" / target.replace(":", "-") / "softmax.json").read_text())
            self.assertEqual(metadata["target"]["backend"], target.split(":")[0])

    def test_the_host_target_needs_no_tools(self):
        out = self.folder / "out"
        done = self.daemon.client("prebuild", EXAMPLES, "--target", "host", "--out-dir", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("softmax", "layer_norm"):
            self.assertEqual((out / f"{name}.so").read_bytes()[:4], b"\x7fELF")
            metadata = json.loads((out / f"{name}.json").read_text())
            self.assertEqual(metadata["target"], {"backend": "host", "arch": 0, "warp_size": 32})

    def test_run_launches_a_kernel_and_checks_its_numbers(self):
        spec = json.loads((EXAMPLES / "softmax.run.json").read_text())
        spec["kernel"], spec["options"] = str(EXAMPLES / "softmax.ttir"), str(EXAMPLES / "softmax.json")
        right = self.write("right.json", json.dumps(spec))
        done = self.daemon.client("run", right, "--json", "--save", self.folder / "buffers")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout.splitlines()[0])
        self.assertEqual((report["device"], report["error"], report["buffers"][0]["wrong"]), ("host:0", None, 0))
        self.assertEqual(len((self.folder / "buffers" / "out.bin").read_bytes()), 4 * 32)
        spec["args"][0]["expect"][0] = 0.2
        self.assertEqual(self.daemon.client("run", self.write("wrong.json", json.dumps(spec))).returncode, 1)
        spec["args"][0]["role"] = "sideways"
        self.assertEqual(self.daemon.client("run", self.write("broken.json", json.dumps(spec))).returncode, 2)

    @unittest.skipUnless(CORPUS.is_dir(), f"no corpus at {CORPUS}")
    def test_kernels_of_the_corpus_compile_with_their_options(self):
        lines = [json.dumps({"file": str(CORPUS / f"{name}.ttir")})
                 for name in ("vector_add_f32", "softmax_rows", "layer_norm", "rope", "gelu_bias")]
        manifest = self.write("kernels.jsonl", "\n".join(lines))
        done = self.daemon.client("prebuild", manifest, "--target", self.target, "--out-dir", self.folder / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        metadata = json.loads((self.folder / "out" / "softmax_rows.json").read_text())
        self.assertEqual((metadata["name"], metadata["num_warps"]), ("softmax_kernel", 8))
        self.assertEqual(metadata["default_dot_input_precision"], "tf32")
        self.assertNotIn("hash", metadata)

    def test_get_downloads_what_compile_made(self):
        _, line = self.daemon.compile(EXAMPLES / "softmax.ttir", self.target, "-o", self.folder / "first")
        for name in (line["key"], line["artifacts"]["binary"]):
            done = self.daemon.client("get", name, "-o", self.folder / "again")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((self.folder / "first").read_bytes(), (self.folder / "again").read_bytes())
        self.assertEqual(self.daemon.client("get", "0" * 64).returncode, 1)

    def test_a_killed_worker_is_replaced(self):
        first = self.daemon.workers()
        self.assertEqual(len(first), 1)
        os.kill(first[0], signal.SIGKILL)
        code, line = self.daemon.compile(EXAMPLES / "softmax.ttir", self.target)
        self.assertEqual((code, line["cache"]), (0, "miss"))
        self.assertNotEqual(self.daemon.workers(), first)

    def test_sigterm_ends_daemon_and_workers(self):
        workers = self.daemon.workers()
        self.assertEqual(self.daemon.stop(), 0, self.daemon.log())
        self.assertFalse([pid for pid in workers if is_running(pid)])

    def test_a_data_folder_has_one_daemon(self):
        other = subprocess.run(self.daemon.command(0)[:3] + ["--listen", f"unix:{self.folder}/other.sock", "--http",
                                                             "127.0.0.1:0", "--workers", "0"],
                               capture_output=True, text=True, timeout=30, check=False)
        self.assertNotEqual(other.returncode, 0)
        self.assertIn(str(self.folder / "data"), other.stdout + other.stderr)

    def test_the_http_port_tells_how_it_is(self):
        self.daemon.compile(EXAMPLES / "softmax.ttir", self.target)
        self.assertEqual(self.daemon.get("/healthz")[0], 200)
        self.assertEqual(self.daemon.get("/readyz")[0], 200)
        status, metrics = self.daemon.get("/metrics")
        self.assertEqual(status, 200)
        self.assertIn("# TYPE", metrics)
        status, page = self.daemon.get("/")
        self.assertEqual(status, 200)
        self.assertIn("tritond", page)
        self.assertEqual(self.daemon.get("/no-such-page")[0], 404)


class UnixSocket(unittest.TestCase):
    def test_a_daemon_may_listen_on_a_unix_socket(self):
        daemon = self.enterContext(Daemon(BINARIES))
        daemon.address = f"unix:{daemon.folder}/tritond.sock"
        daemon.start()
        target = pick_target(daemon.stats())
        self.assertEqual(daemon.compile(EXAMPLES / "softmax.ttir", target)[1]["cache"], "miss")
        self.assertEqual(daemon.stop(), 0)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        BINARIES = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
