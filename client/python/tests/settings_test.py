# SPDX-License-Identifier: Apache-2.0
"""What users set, and what is read from Triton's sources and texts: no daemon, no Triton."""
import os
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

from tritond import _device, _locations, _options, _outcome, _settings, _status
from tritond._abi import read_abi
from tritond._errors import NotServed

TEXT = '''#loc = loc("/src/kernels.py":10:0)
module {
  tt.func public @k(%x: !tt.ptr<f32> loc("x"(#loc))) {
    %0 = tt.load %x : !tt.ptr<f32> loc(#loc2)
    %1 = tt.call @f(%0) : (f32) -> f32 loc(#loc4)
    tt.return loc(#loc1)
  } loc(#loc)
} loc(#loc)
#loc1 = loc(unknown)
#loc2 = loc("/src/kernels.py":12:8)
#loc3 = loc(callsite(#loc2 at #loc))
#loc4 = loc("name"(#loc3))
'''


class TestSettings(unittest.TestCase):
    def setUp(self):
        self.enter(mock.patch.dict(os.environ))
        for name in [name for name in os.environ if name.startswith("TRITOND_")]:
            del os.environ[name]

    def enter(self, context):
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def test_arguments_prevail_over_variables(self):
        os.environ.update(TRITOND_SERVER="a:1", TRITOND_TIMEOUT="7", TRITOND_ON_FAILURE="error")
        settings = _settings.make_settings(server="b:2, unix:/s", on_failure="local")
        self.assertEqual((settings.servers, settings.timeout, settings.on_failure), (("b:2", "unix:/s"), 7.0, "local"))

    def test_what_makes_no_sense_is_named(self):
        for variable, value, message in (
                ("TRITOND_SERVER", "nohost", "nohost"), ("TRITOND_SERVER", "a:1,a:1", "twice"),
                ("TRITOND_SERVER", "auto,a:1", "alone"), ("TRITOND_TIMEOUT", "-1", "timeout=-1"),
                ("TRITOND_TIMEOUT", "nan", "timeout=nan"), ("TRITOND_ON_FAILURE", "maybe", "maybe"),
                ("TRITOND_TLS", "perhaps", "perhaps"), ("TRITOND_TUNING", "perhaps", "tuning"),
                ("TRITOND_ANY_BUILD", "perhaps", "any_build"),
                ("TRITOND_TUNING_WAIT", "0", "tuning_wait=0"), ("TRITOND_TLS_CERT", "c.pem", "go together")):
            with self.subTest(variable + "=" + value), mock.patch.dict(os.environ, {variable: value}):
                self.assertRaisesRegex(ValueError, message, _settings.make_settings)

    def test_a_token_is_not_sent_in_plain_text(self):
        self.assertRaisesRegex(ValueError, "only over TLS", _settings.make_settings, server="a:1", token="t")
        self.assertEqual(_settings.make_settings(server="unix:/s", token="t").token, "t")
        self.assertRaisesRegex(ValueError, "one line", _settings.make_settings, server="unix:/s", token="t\nu")

    def test_a_token_file_is_read(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("secret\n")
            file.flush()
            self.assertEqual(_settings.make_settings(server="unix:/s", token_file=file.name).token, "secret")


class TestLocations(unittest.TestCase):
    def test_a_line_of_ir_has_its_line_of_python(self):
        places = [_locations.python_place(TEXT, line) for line in (4, 5, 6, 2, 0, 99)]
        self.assertEqual(places, ["/src/kernels.py:12:8", "/src/kernels.py:12:8", "", "", "", ""])

    def test_locations_that_name_each_other_end(self):
        self.assertEqual(_locations.python_place("x loc(#loc1)\n#loc1 = loc(#loc2)\n#loc2 = loc(#loc1)\n", 1), "")

    def test_errors_are_described_and_remarks_are_not(self):
        diagnostics = [types.SimpleNamespace(severity=1, line=4, message="wrong"),
                       types.SimpleNamespace(severity=3, line=4, message="fine")]
        self.assertEqual(_locations.describe(TEXT, diagnostics), "/src/kernels.py:12:8: error: wrong")


class TestAbi(unittest.TestCase):
    def test_the_launchers_source_tells_what_it_passes(self):
        old = read_abi('metadata["shared"] = 1\nmetadata["num_warps"] *= 2', "")
        self.assertEqual((old.global_scratch, old.profile_scratch, old.descriptor_flags), (False, False, 0))
        self.assertEqual(old.metadata_fields, {"shared", "num_warps"})
        late = read_abi("if metadata['x'] == 1: pass", 'global_scratch profile_scratch\n.append("i1")\n.append("i1")\n')
        self.assertEqual((late.global_scratch, late.profile_scratch, late.descriptor_flags), (True, True, 2))
        self.assertEqual(late.metadata_fields, frozenset())

    def test_a_launcher_that_makes_tensor_maps_is_known_by_what_it_reads(self):
        compiler = 'metadata["tensordesc_meta"] = []'
        driver = """
def make_tensordesc_arg(arg, metadata):
    if metadata is None:
        return [arg.base]
    return [metadata["swizzle"], metadata["block_size"]]


def other(metadata):
    return metadata["stranger"]
"""
        self.assertTrue(read_abi(compiler, driver).host_tensor_maps)
        self.assertFalse(read_abi("", driver).host_tensor_maps)
        self.assertFalse(read_abi(compiler, driver.replace("is None", "== 1")).host_tensor_maps)
        self.assertFalse(read_abi(compiler, driver.replace("swizzle", "pixels")).host_tensor_maps)
        self.assertFalse(read_abi(compiler, "").host_tensor_maps)

    def test_tensor_maps_are_asked_for_where_they_are_of_use(self):
        abi = read_abi('metadata["tensordesc_meta"] = []',
                       'def make_tensordesc_arg(arg, metadata):\n    return metadata is None or metadata["swizzle"]\n')
        self.assertTrue(abi.for_kernel("cuda:90", True).host_tensor_maps)
        self.assertTrue(abi.for_kernel("cuda:100a", True).host_tensor_maps)
        for target, takes_descriptors in (("cuda:90", False), ("cuda:80", True), ("hip:gfx942", True)):
            self.assertFalse(abi.for_kernel(target, takes_descriptors).host_tensor_maps)


class TestOptions(unittest.TestCase):
    def options(self, **values):
        return types.SimpleNamespace(num_warps=4, extern_libs=(("libdevice", "/triton/lib/d.bc"),), maxnreg=None, **values)

    def test_what_may_act_is_sent(self):
        sent = _options.options_to_send(self.options(arch="sm90", enable_fp_fusion=True))
        self.assertEqual(sent, {"num_warps": 4, "enable_fp_fusion": True})

    def test_switches_and_libraries_of_the_user_stay_local(self):
        check = lambda **values: _options.check_local_needs(self.options(**values), object, "/triton/__init__.py")  # noqa: E731
        check()
        for values in ({"ir_override": "k.ttir"}, {"instrumentation_mode": "consan"}):
            self.assertRaises(NotServed, check, **values)
        other = types.SimpleNamespace(extern_libs={"mine": "/home/me.bc"})
        self.assertRaises(NotServed, _options.check_local_needs, other, object, "/triton/__init__.py")
        with mock.patch.dict(os.environ, {"DISABLE_PTXAS_OPT": "1"}):
            self.assertRaises(NotServed, check)
        with mock.patch.dict(os.environ, {"DISABLE_PTXAS_OPT": "0"}):
            check()

    def test_an_option_that_the_daemon_ignored_matters_when_it_was_set(self):
        defaults = self.options(fast=False)
        _options.check_ignored(["fast"], self.options(fast=False), defaults)
        _options.check_ignored(["launch_pdl"], self.options(launch_pdl=True), self.options(launch_pdl=False))
        self.assertRaisesRegex(NotServed, "fast=True", _options.check_ignored, ["fast"], self.options(fast=True), defaults)


class TestStatus(unittest.TestCase):
    def test_people_are_told_once(self):
        counts = _status.Counts()
        with self.assertLogs("tritond", "WARNING") as logs:
            counts.add_local("gluon", "stages", "no TTIR", silent=True)
            counts.add_local("a", "unimplemented", "no such op", silent=False)
            counts.add_local("b", "unimplemented", "no such op", silent=False)
        self.assertEqual(len(logs.output), 1)
        self.assertIn("kernel a", logs.output[0])
        _, local, last = counts.snapshot()
        self.assertEqual((local, last), ({"stages": 1, "unimplemented": 2}, "b: no such op"))


class TestDevice(unittest.TestCase):
    def setUp(self):
        _device.identify.cache_clear()
        self.addCleanup(_device.identify.cache_clear)

    def identify(self, version):
        """What a machine with this file of the driver says."""
        properties = types.SimpleNamespace(name="NVIDIA H200", multi_processor_count=132, total_memory=141 << 30)
        torch = types.SimpleNamespace(cuda=types.SimpleNamespace(get_device_properties=lambda device: properties))
        with tempfile.NamedTemporaryFile("w") as file, mock.patch.dict(sys.modules, torch=torch), \
                mock.patch.object(_device, "_VERSION_FILES", {"cuda": ("/nowhere", file.name)}), \
                mock.patch.object(_device, "_version_from_nvml", lambda: ""):
            file.write(version)
            file.flush()
            return _device.identify("cuda", 0)

    def test_a_gpu_is_its_model_and_its_driver(self):
        said = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Tue\nGCC version: 12.3.0\n"
        self.assertEqual(self.identify(said), ("NVIDIA H200, 132 units, 141 GiB", "580.65.06"))

    def test_without_a_version_or_torch_it_is_not_known(self):
        self.assertIsNone(self.identify("no number"))
        _device.identify.cache_clear()
        with mock.patch.dict(sys.modules, torch=None):
            self.assertIsNone(_device.identify("cuda", 0))


class TestMessages(unittest.TestCase):
    def test_failed_connections_in_few_words(self):
        self.assertIn("nothing listens", _outcome.why_unreachable("errors; last error: Connection refused (111)", False))
        self.assertIn("TLS", _outcome.why_unreachable("Socket closed", False))
        self.assertEqual(_outcome.why_unreachable("x; last error: odd", False), "odd")


class TestStart(unittest.TestCase):
    def loaded(self, **variables):
        code = "import sys; print(*[m for m in sys.modules if m.split('.')[0] in ('tritond', 'grpc', 'logging')])"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TRITOND_")}
        done = subprocess.run([sys.executable, "-c", code], env={**environment, **variables}, capture_output=True, text=True,
                              cwd="/", check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_nothing_is_imported_while_off_and_no_grpc_before_the_first_kernel(self):
        self.assertEqual(self.loaded(), [])
        self.assertEqual(sorted(self.loaded(TRITOND_SERVER="a:1")), ["tritond", "tritond._switch", "tritond._watch"])


if __name__ == "__main__":
    unittest.main()
