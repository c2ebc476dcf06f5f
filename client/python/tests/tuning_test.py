# SPDX-License-Identifier: Apache-2.0
"""@triton.autotune through the package: against a made-up daemon, and several processes with a real one."""
import collections
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

warnings.simplefilter("ignore")  # Triton's own, about its next release

import kernels  # noqa: E402
import library_hash  # noqa: E402
import triton  # noqa: E402
from fake_daemon import METADATA, UNIMPLEMENTED, FakeDaemon, Refusal  # noqa: E402
from searches import Program, Tensor, milliseconds  # noqa: E402

import tritond  # noqa: E402
from tritond import _schema, _status, _turns  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
BINARIES = pathlib.Path(os.environ.get("TRITOND_BUILD", "build")) / "bin"
sys.path.insert(0, str(HERE.parents[2] / "tests" / "e2e"))
from daemon import Daemon, wait_until  # noqa: E402


class FakeDesk:
    """AutotuneService as a FakeDaemon has it: one ticket a key, and what was stored."""

    def __init__(self, daemon):
        self.tunings = {}
        self.keys = []
        self.abandoned = []
        daemon.methods = {_schema.ACQUIRE_TUNING: self.acquire, _schema.STORE_TUNING: self.store,
                          _schema.RENEW_TUNING: self.renew, _schema.ABANDON_TUNING: self.abandon}

    def acquire(self, data, _):
        key = _schema.AcquireProgramTuningRequest.FromString(data).key
        self.keys.append(key)
        stored = self.tunings.get(key.SerializeToString(deterministic=True))
        if stored is not None:
            return _schema.AcquireProgramTuningResponse(stored=stored).SerializeToString()
        response = _schema.AcquireProgramTuningResponse(ticket=f"ticket {len(self.keys)}")
        response.ticket_lifetime.seconds = 15
        return response.SerializeToString()

    def store(self, data, _):
        request = _schema.StoreProgramTuningRequest.FromString(data)
        self.tunings[request.key.SerializeToString(deterministic=True)] = request.tuning
        return b""

    def renew(self, data, _):
        return _schema.RenewProgramTuningResponse().SerializeToString()

    def abandon(self, data, _):
        self.abandoned.append(_schema.AbandonProgramTuningRequest.FromString(data).ticket)
        return b""


class SearchTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enter(tempfile.TemporaryDirectory(prefix="tritond-tuning-")))
        self.daemon = self.enter(FakeDaemon())
        self.desk = FakeDesk(self.daemon)
        self.daemon.compile = self.compile
        self.fresh_cache("cache")
        _status.counts.reset()
        self.addCleanup(tritond.uninstall)

    def enter(self, context):
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def set(self, name, value):
        before = os.environ.get(name)
        os.environ[name] = value
        self.addCleanup(os.environ.pop, name, None) if before is None else self.addCleanup(os.environ.__setitem__, name, before)

    def fresh_cache(self, name):
        """As another process, or another machine, has it."""
        self.set("TRITON_CACHE_DIR", str(self.folder / name))

    def compile(self, request):
        return {**METADATA, "num_warps": int(request.options.fields["num_warps"].number_value)}

    def install(self, **settings):
        tritond.install(self.daemon.address, **settings)

    def tuned(self):
        return tritond.status().tuned

    def test_configurations_compile_at_the_same_time(self):
        self.install()
        together, most, lock = [0], [0], threading.Lock()

        def compile_slowly(request):
            with lock:
                together[0] += 1
                most[0] = max(most[0], together[0])
            time.sleep(0.5)
            with lock:
                together[0] -= 1
            return self.compile(request)

        self.daemon.compile = compile_slowly
        begin = time.monotonic()
        self.assertEqual(Program(stages=10).run(), [8, 10])
        self.assertEqual(len(self.daemon.requests), 40)
        self.assertEqual({request.priority for request in self.daemon.requests}, {2})
        self.assertGreater(most[0], 6)
        self.assertLess(time.monotonic() - begin, 14)  # 20 s one after the other

    def test_a_stored_winner_is_taken_without_measuring_or_compiling_the_others(self):
        self.install()
        first = Program()
        self.assertEqual(first.run(), [8, 2])
        self.assertEqual((len(first.measured), self.tuned()), (8, {"measured": 1}))
        self.fresh_cache("other")
        asked = len(self.daemon.requests)
        second = Program()
        self.assertEqual(second.run(), [8, 2])
        self.assertEqual((second.measured, second.device.launches), ([], [(8, 2)]))
        self.assertEqual(len(self.daemon.requests) - asked, 1)
        self.assertEqual(self.tuned(), {"measured": 1, "shared": 1})
        self.assertEqual(list(second.function.configs_timings.values()), list(first.function.configs_timings.values()))

    def default_program(self, **settings):
        program = Program(default_benchmark=True, **settings)
        if "_do_bench" not in vars(program.function):
            self.skipTest("this Triton does not say whether its benchmark is the program's own")
        return program

    def test_without_a_benchmark_of_its_own_a_program_measures_in_turns(self):
        self.install()
        first = self.default_program()
        self.assertEqual(first.run(), [8, 2])
        runs = collections.Counter(first.device.launches)
        for warps, stages in itertools.product((1, 2, 4), (1, 2)):
            self.assertEqual(runs[warps, stages], 2)  # they leave after the first round
        self.assertGreater(min(runs[8, 1], runs[8, 2]), 8)
        order = [launch for launch in first.device.launches if launch[0] == 8]
        self.assertGreater(sum(a != b for a, b in zip(order, order[1:])), 4)
        self.assertFalse(hasattr(vars(first.function).get("do_bench"), "__self__"))
        times = {(config.num_warps, config.num_stages): time for config, time in first.function.configs_timings.items()}
        for chosen in ((1, 1), (8, 2)):
            self.assertAlmostEqual(times[chosen][0], milliseconds(*chosen))
        self.fresh_cache("other")
        second = Program(default_benchmark=True)
        self.assertEqual((second.run(), second.device.launches), ([8, 2], [(8, 2)]))

    def test_a_device_that_slows_down_does_not_favour_the_first(self):
        self.install()
        program = self.default_program()
        program.device.slowness = lambda launches: 1 + 0.0002 * launches  # beyond what the configurations differ by
        self.assertEqual(program.run(), [8, 2])

    def staged_program(self, *stages, **settings):
        return self.default_program(configs=[triton.Config({"BLOCK": 128}, num_warps=8, num_stages=s) for s in stages], **settings)

    def test_what_has_left_cannot_win_when_the_device_slows_down_later(self):
        self.install()
        program = self.staged_program(1, 199, 200)
        program.device.slowness = lambda launches: 1.0 if launches <= 16 else 1.5
        self.assertEqual(program.run(), [8, 200])
        times = {config.num_stages: time[0] for config, time in program.function.configs_timings.items()}
        self.assertAlmostEqual(times[1] / times[200], milliseconds(8, 1) / milliseconds(8, 200), 2)

    def test_a_clock_that_goes_up_and_down_decides_nothing(self):
        self.install()
        for period in (16, 40):
            with self.subTest(period=period):
                program = self.staged_program(200, 150, 100, 1, model=f"GPU {period}")
                program.device.slowness = lambda launches, period=period: 1.0 if launches // period % 2 else 1.3
                self.assertEqual(program.run(), [8, 200])

    def test_slow_kernels_have_fewer_rounds(self):
        self.install()
        for slowness, runs in ((1.0, 18), (10.0, 10)):
            program = self.staged_program(1, 2, model=f"GPU {slowness}")
            program.device.slowness = lambda launches, slowness=slowness: slowness
            self.assertEqual(program.run(), [8, 2])
            self.assertEqual(program.device.launches.count((8, 1)), runs)

    def test_times_are_leveled_round_by_round(self):
        leveled = _turns.leveled({"a": [[9.0], [1.0, 1.0], [2.0, 2.0]], "b": [[5.0], [2.0, 2.2], [4.0, 4.0]]})
        ratios = [b / a for a, b in zip(leveled["a"], leveled["b"])]
        for ratio, expected in zip(ratios, (2.0, 2.2, 2.0, 2.0)):
            self.assertAlmostEqual(ratio, expected)
        self.assertEqual(_turns.leveled({"a": [[3.0, 3.0]], "b": [[6.0]]}), {"a": [3.0, 3.0], "b": [6.0]})

    def test_a_configuration_that_does_not_run_cannot_win_in_turns(self):
        self.install()
        program = self.default_program()
        program.device.too_large = (8, 2)
        self.assertEqual(program.run(), [8, 1])

    def test_a_visit_takes_several_runs(self):
        Program(default_benchmark=True)  # its device
        takes = iter([0.9, 0.4, 0.5, 0.3, 0.2])
        device = triton.runtime.driver.active

        def call():
            device.clock_ms += next(takes)

        times = _turns.visit(call)
        self.assertEqual([round(time, 3) for time in times], [0.4, 0.5, 0.3, 0.2])
        self.assertEqual(_turns.quantiles_of([3, 1, 2], (0.5, 0, 1)), [2, 1, 3])

    def test_each_part_of_the_name_counts(self):
        self.install()
        Program().run()
        for change in ({"stages": 3}, {"model": "Other GPU"}, {"warps": (4, 8)}):
            program = Program(**change)
            program.run()
            self.assertGreater(len(program.measured), 0, change)
        program = Program()
        program.run(n=2000)
        self.assertEqual(len(program.measured), 8)
        Program().run(n=2000)
        self.assertEqual(self.tuned(), {"measured": 5, "shared": 1})

    def test_a_winner_that_the_caller_does_not_have_is_ignored(self):
        self.install()
        Program().run()
        for tuning in self.desk.tunings.values():
            tuning.winner = '{"BLOCK": 4096}'
        program = Program()
        self.assertEqual((program.run(), len(program.measured)), ([8, 2], 8))

    def test_a_winner_that_its_times_do_not_bear_out_is_ignored(self):
        self.install()
        Program().run()
        for tuning in self.desk.tunings.values():
            tuning.winner = next(iter(self.desk.keys[0].configurations))
        program = Program()
        self.assertEqual((program.run(), len(program.measured)), ([8, 2], 8))

    def test_off_is_off(self):
        for settings, variable in (({"tuning": False}, None), ({}, "off")):
            with self.subTest(variable):
                if variable:
                    self.set("TRITOND_TUNING", variable)
                self.install(**settings)
                self.fresh_cache(str(variable))
                before = len(self.daemon.requests)
                program = Program()
                self.assertEqual((program.run(), len(program.measured)), ([8, 2], 8))
                self.assertEqual((len(self.daemon.requests) - before, self.desk.keys, self.tuned()), (8, [], {}))
                self.assertEqual(program.device.threads, set())

    def test_uninstall_is_complete(self):
        from triton.runtime.autotuner import Autotuner
        before = (Autotuner.prune_configs, Autotuner._bench)
        self.install()
        self.assertIsNot(Autotuner._bench, before[1])
        tritond.uninstall()
        self.assertEqual((Autotuner.prune_configs, Autotuner._bench), before)

    def test_a_daemon_that_shares_no_tunings_still_compiles(self):
        self.daemon.methods = {}
        self.install()
        program = Program()
        self.assertEqual((program.run(), len(program.measured)), ([8, 2], 8))
        self.assertEqual((tritond.status().compiled, self.tuned()), (8, {"alone": 1}))

    def test_kernels_that_the_daemon_does_not_give_are_compiled_once_and_shared(self):
        def refuse(_):
            raise Refusal(UNIMPLEMENTED, "no such op", "UNIMPLEMENTED")

        self.daemon.compile = refuse
        self.install()
        self.assertEqual(Program(stages=1).run(), [8, 1])
        self.assertEqual(tritond.status().local, {"unimplemented": 4})
        program = Program(stages=1)
        self.assertEqual((program.run(), program.measured), ([8, 1], []))

    def test_without_a_daemon_a_search_is_tritons_own(self):
        self.daemon.stop()
        self.install()
        program = Program(stages=1)
        self.assertEqual((program.run(), len(program.measured)), ([8, 1], 4))
        self.assertEqual((tritond.status().hits, self.tuned()), (0, {"alone": 1}))
        self.daemon.start()

    def test_an_exception_of_the_benchmark_is_the_callers_and_ends_the_right_to_measure(self):
        self.install()
        program = Program()
        program.failure = RuntimeError("the GPU is gone")
        with self.assertRaisesRegex(RuntimeError, "the GPU is gone"):
            program.run()
        self.assertEqual(len(self.desk.abandoned), 2)
        self.assertEqual(self.desk.tunings, {})

    def test_names_that_conflict_are_tritons_error(self):
        self.install()
        with self.assertRaisesRegex(ValueError, "Conflicting meta-parameters: BLOCK"):
            Program().run(BLOCK=64)

    def test_configurations_that_are_pruned_are_neither_compiled_nor_measured(self):
        self.install()
        seen = []

        def prune(configs, named, **_):
            seen.append(dict(named))
            return [config for config in configs if config.num_warps == 4]

        program = Program(prune_configs_by={"early_config_prune": prune})
        self.assertEqual((program.run(), program.measured), ([4, 2], [(4, 1), (4, 2)]))
        self.assertEqual((len(self.daemon.requests), len(seen), seen[0]["n"]), (2, 1, 1000))

    def test_a_model_of_speed_chooses_what_is_measured(self):
        self.install()
        model = {"perf_model": lambda num_warps, num_stages, **_: num_warps * 10 + num_stages, "top_k": 3}
        program = Program(prune_configs_by=model)
        self.assertEqual(program.run(), [2, 1])
        self.assertEqual(program.measured, [(1, 1), (1, 2), (2, 1)])

    def events_of(self, installed, shared=False, **arguments):
        """What happens to a tensor in a search."""
        self.desk.tunings.clear()
        if installed:
            self.install()
        self.fresh_cache(f"events{installed}")
        if shared:
            Program(stages=1, **arguments).run()
        tensor = Tensor()
        Program(stages=1, **arguments).run(tensors=(Tensor(), Tensor(), tensor))
        tritond.uninstall()
        return tensor.events

    def test_arguments_are_reset_and_restored_as_without_the_package(self):
        for arguments in ({"reset_to_zero": ["out"]}, {"restore_value": ["out"]}):
            with self.subTest(arguments):
                self.assertEqual(self.events_of(True, **arguments), self.events_of(False, **arguments))

    def test_a_shared_winner_resets_as_the_end_of_a_search_does(self):
        self.assertEqual(self.events_of(True, shared=True, reset_to_zero=["out"]), ["zero"])
        self.assertEqual(self.events_of(True, shared=True, restore_value=["out"]), [])

    def test_hooks_of_the_function_see_what_they_see_without_the_package(self):
        def hooks():
            events = []
            return events, {"pre_hook": lambda named, reset_only=False: events.append(("before", reset_only)),
                            "post_hook": lambda named, exception: events.append(("after", exception))}

        ours, arguments = hooks()
        self.install()
        Program(stages=1, **arguments).run()
        tritond.uninstall()
        theirs, arguments = hooks()
        Program(stages=1, **arguments).run()
        self.assertEqual(ours, theirs)

    def test_hooks_of_configurations_run_in_the_callers_thread_before_each_compile(self):
        self.install()
        seen = []

        def hook_of(warps):
            return lambda named: seen.append((warps, named["num_warps"], threading.get_ident()))

        configs = [triton.Config({"BLOCK": 64}, num_warps=warps, num_stages=1, pre_hook=hook_of(warps)) for warps in (2, 4, 8)]
        program = Program(configs=configs)
        self.assertEqual(program.run(), [8, 1])
        self.assertEqual({thread for *_, thread in seen}, {threading.get_ident()})
        # Once for each compile, for each launch of the benchmark, and for the launch itself.
        self.assertEqual([(own, given) for own, given, _ in seen], [(2, 2), (4, 4), (8, 8)] * 2 + [(8, 8)])

    def test_results_on_disk_come_first(self):
        if kernels.VERSION < (3, 4):
            self.skipTest("this Triton keeps no results of searches")
        self.install()
        Program(cache_results=True).run()
        asked = len(self.desk.keys)
        again = Program(cache_results=True)
        self.assertEqual((again.run(), again.measured, len(self.desk.keys) - asked), ([8, 2], [], 0))

    def test_a_shared_winner_is_kept_on_disk_where_the_program_wants_it(self):
        if kernels.VERSION < (3, 4):
            self.skipTest("this Triton keeps no results of searches")
        self.install()
        Program().run()
        self.fresh_cache("other")
        Program(cache_results=True).run()
        tritond.uninstall()
        program = Program(cache_results=True)
        self.install()  # the disk's name has the backend's hash
        self.assertEqual((program.run(), program.measured), ([8, 2], []))

    def test_who_looks_on_compiles_sees_no_others(self):
        self.install()
        seen = []
        program = Program(stages=1)
        program.function.fn.add_pre_run_hook(lambda *args, **kwargs: seen.append(kwargs["num_warps"]))
        try:
            program.run()
        finally:
            program.function.fn.pre_run_hooks.clear()
        self.assertEqual(seen, [1, 2, 4, 8, 8])


def start(*, cache, server, variables=None, **settings):
    """searches.py in a process of its own."""
    environment = {**os.environ, "TRITON_CACHE_DIR": str(cache), "PYTHONWARNINGS": "ignore", "TRITOND_SERVER": server,
                   **library_hash.hand_on(), **(variables or {})}
    return subprocess.Popen([sys.executable, str(HERE / "searches.py"), json.dumps(settings)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=environment, cwd="/")


def finish(process):
    out, err = process.communicate(timeout=300)
    if process.returncode != 0:
        raise AssertionError(err)
    return json.loads(out)


@unittest.skipUnless((BINARIES / "tritond").exists() and (BINARIES / "triton-client").exists(), f"no daemon in {BINARIES}")
class WithDaemon(unittest.TestCase):
    """A daemon, and processes that each run a program."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(BINARIES, arguments=("--tuning-ticket-seconds", "1"))
        cls.addClassCleanup(cls.daemon.__exit__)
        cls.daemon.start(workers=2)
        targets = {t["name"]: t for t in cls.daemon.stats()["daemon"].get("targets", [])}
        if not targets.get("cuda:90", {}).get("binary_available"):
            raise unittest.SkipTest(f"no assembler on this machine: {targets.get('cuda:90', {}).get('why_not')}")

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tritond-tuning-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.model = self.id()  # each test has a GPU of its own

    def start(self, cache, **settings):
        return start(cache=self.folder / cache, server=self.daemon.address, model=self.model, **settings)

    def tunings(self, daemon=None):
        """How many tunings of programs are in each state."""
        page = (daemon or self.daemon).get("/metrics")[1]
        counts = re.findall(r'^tritond_program_tunings{state="(\w+)"} (\S+)$', page, re.M)
        return {state: int(float(count)) for state, count in counts}


class ProcessTest(WithDaemon):
    """With a real daemon: the searches of SearchTest, which another release of Triton may change."""

    def test_a_later_process_takes_the_winner(self):
        finish(self.start("one"))
        later = finish(self.start("two"))
        self.assertEqual((later["winner"], later["measured"]), ([8, 2], []))
        self.assertEqual(later["status"]["hits"], 1)
        self.assertEqual(later["status"]["compiled"], 0)


class ClusterOfProcessesTest(WithDaemon):
    """How the daemon shares searches among processes, whatever their Triton."""

    def test_one_of_many_processes_measures(self):
        processes = [self.start(str(i), seconds=0.2) for i in range(4)]
        done = [finish(process) for process in processes]
        self.assertEqual([d["winner"] for d in done], [[8, 2]] * 4)
        self.assertEqual(sorted(len(d["measured"]) for d in done), [0] * 3 + [8])
        self.assertEqual([d["status"]["local"] for d in done], [{}] * 4)
        self.assertEqual(sorted(next(iter(d["status"]["tuned"])) for d in done), ["measured"] + ["shared"] * 3)
        # The others had the winner alone compiled.
        self.assertEqual(sorted(len(d["launches"]) for d in done), [1] * 3 + [9])

    def test_a_kernel_in_other_words_takes_the_winner(self):
        finish(self.start("one"))
        other = finish(self.start("two", renamed=True))
        self.assertEqual((other["winner"], other["measured"]), ([8, 2], []))

    def test_a_winner_outlives_the_daemon(self):
        finish(self.start("one"))
        self.daemon.stop()
        self.daemon.start(workers=2)
        self.assertEqual(finish(self.start("two"))["measured"], [])

    def test_when_the_measuring_process_dies_another_measures(self):
        measuring = self.start("one", seconds=60)
        wait_until(lambda: self.tunings().get("measuring", 0) >= 2, 60, "it measures")
        others = [self.start(str(i), seconds=0.1) for i in range(2)]
        wait_until(lambda: self.tunings().get("waiting", 0) == 2, 60, "the others wait")
        measuring.send_signal(signal.SIGKILL)
        measuring.communicate()
        done = [finish(process) for process in others]
        self.assertEqual(sorted(len(d["measured"]) for d in done), [0, 8])

    def test_a_wait_is_bounded(self):
        measuring = self.start("one", seconds=60)
        self.addCleanup(measuring.communicate)
        self.addCleanup(measuring.kill)
        wait_until(lambda: self.tunings().get("measuring", 0) >= 2, 60, "it measures")
        impatient = finish(self.start("two", variables={"TRITOND_TUNING_WAIT": "1"}))
        self.assertEqual((len(impatient["measured"]), impatient["status"]["tuned"]), (8, {"alone": 1}))

    def test_a_daemon_that_dies_while_they_measure_or_wait_costs_a_search_each(self):
        with Daemon(BINARIES) as daemon:
            daemon.start(workers=2)
            died = self.folder / "died"
            # Few configurations, as each process compiles them all by itself in the end.
            settings = {"server": daemon.address, "model": self.model, "stages": 1, "until": str(died)}
            processes = [start(cache=self.folder / "one", **settings)]
            wait_until(lambda: self.tunings(daemon).get("measuring", 0) >= 2, 60, "it measures")
            processes.append(start(cache=self.folder / "two", **settings))
            wait_until(lambda: self.tunings(daemon).get("waiting", 0) >= 1, 60, "the other waits")
            daemon.kill()
            died.touch()
            done = [finish(process) for process in processes]
        self.assertEqual([(d["winner"], len(d["measured"]), d["status"]["tuned"]) for d in done], [([8, 1], 4, {"alone": 1})] * 2)


if __name__ == "__main__":
    unittest.main()
