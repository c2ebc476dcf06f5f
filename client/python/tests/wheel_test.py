# SPDX-License-Identifier: Apache-2.0
"""The two wheels: built twice, installed side by side, run. The programs are those of TRITOND_BUILD."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BUILD = pathlib.Path(os.environ.get("TRITOND_BUILD", ROOT / "build"))
PROGRAMS = ("tritond", "triton-worker", "triton-client")


def run(*command, **kwargs):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **kwargs)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class WheelTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tritond-wheel-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_the_package_is_the_same_each_time_and_complete(self):
        wheels = [pathlib.Path(run(sys.executable, HERE.parent / "packaging" / "backend.py", self.folder / name).strip())
                  for name in ("one", "two")]
        self.assertEqual(wheels[0].read_bytes(), wheels[1].read_bytes())
        with zipfile.ZipFile(wheels[0]) as wheel:
            names = set(wheel.namelist())
        modules = {f"tritond/{path.name}" for path in (HERE.parent / "tritond").glob("*.py")}
        self.assertLessEqual(modules | {"tritond.pth", "tritond/schema.bin", "tritond/py.typed"}, names)

    @unittest.skipUnless(all((BUILD / "bin" / name).exists() for name in PROGRAMS), f"no programs in {BUILD}")
    @unittest.skipUnless(shutil.which("patchelf"), "patchelf is not there")
    def test_the_programs_run_from_where_pip_puts_them(self):
        run(sys.executable, ROOT / "deploy" / "wheel" / "make_wheel.py", BUILD, self.folder)
        wheel, = self.folder.glob("tritond_server-*.whl")
        self.assertLess(wheel.stat().st_size, 100e6)
        run(os.environ["TRITOND_OUTER_PYTHON"], "-m", "pip", "--python", sys.executable, "install", "--force-reinstall",
            "--no-deps", "--no-index", wheel)
        scripts = pathlib.Path(sys.executable).parent
        for name in PROGRAMS:
            self.assertIn("0.", run(scripts / name, "--version", env={}, cwd="/"))

    def test_workers_are_told_of_nvidias_wheels(self):
        spec = importlib.util.spec_from_file_location("tritond_server", ROOT / "deploy" / "wheel" / "tritond_server.py")
        server = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(server)
        self.assertIsNone(server.find_cuda())
        program = self.folder / "nvidia" / "cu13" / "bin" / "ptxas"
        program.parent.mkdir(parents=True)
        program.touch()
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        importlib.invalidate_caches()
        self.assertEqual(server.find_cuda(), str(self.folder / "nvidia" / "cu13"))


if __name__ == "__main__":
    unittest.main()
