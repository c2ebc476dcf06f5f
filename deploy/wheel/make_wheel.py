#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_wheel.py BUILD_FOLDER WHEEL_FOLDER: the wheel `tritond-server`, which holds what the bundle holds.

    tritond_server/bin/{tritond,triton-worker,triton-client}, tritond_server/lib/*.so*, tritond_server/cuda/…
    entry points of the three names on PATH

Before this says that it is done, the wheel is unpacked and its programs are run there with an empty environment.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy" / "bundle"))
sys.path.insert(0, str(ROOT / "client" / "python" / "packaging"))
import backend  # noqa: E402
import make_bundle  # noqa: E402
from wheel_file import WheelFile  # noqa: E402

TAG = "py3-none-manylinux_2_36_x86_64"
LIMIT_MB = 100
METADATA = """Metadata-Version: 2.1
Name: tritond-server
Version: {version}
Summary: The tritond daemon, its worker and triton-client
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: cuda
Requires-Dist: nvidia-cuda-nvcc<14,>=13.0; extra == "cuda"
Requires-Dist: nvidia-cuda-nvdisasm<14,>=13.2; extra == "cuda"
Requires-Dist: nvidia-nvjitlink<14,>=13.0; extra == "cuda"
Requires-Dist: nvidia-nvvm<14,>=13.0; extra == "cuda"
"""
ENTRY_POINTS = "[console_scripts]\n" + "".join(
    f"{name} = tritond_server:{name.replace('-', '_')}\n" for name in make_bundle.PROGRAMS)


def write(top, folder):
    """The wheel's path. `top` has the bundle's tree."""
    version = backend.version()
    with WheelFile(folder, "tritond_server", version, TAG, pure=False) as wheel:
        wheel.add("tritond_server/__init__.py", (pathlib.Path(__file__).parent / "tritond_server.py").read_bytes())
        for path in sorted(p for p in top.rglob("*") if p.is_file()):
            mode = 0o755 if os.access(path, os.X_OK) else 0o644
            wheel.add(f"tritond_server/{path.relative_to(top)}", path.read_bytes(), mode)
        wheel.add_info("METADATA", METADATA.format(version=version))
        wheel.add_info("entry_points.txt", ENTRY_POINTS)
        wheel.add_info("LICENSE", (ROOT / "LICENSE").read_text(encoding="utf-8"))
    return pathlib.Path(folder) / wheel.name


def check(wheel):
    """Every program answers from where the wheel is unpacked, with the wheel's libraries only."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                path = archive.extract(entry, folder)
                os.chmod(path, entry.external_attr >> 16 & 0o777)
        for name in make_bundle.PROGRAMS:
            program = pathlib.Path(folder) / "tritond_server" / "bin" / name
            make_bundle.run(program, "--version", cwd="/", env={})
            for library, path in make_bundle.libraries_of(program).items():
                if not os.path.realpath(path).startswith(os.path.realpath(folder)):
                    raise RuntimeError(f"{name} loads {library} from {path}")


def make(build, wheels):
    wheels.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder) / "tritond"
        make_bundle.assemble(build, top)
        wheel = write(top, wheels)
    check(wheel)
    return wheel


def main():
    build, wheels = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    return make_bundle.report("wheel", lambda: make(build, wheels), LIMIT_MB, 10**6, "MB")


if __name__ == "__main__":
    sys.exit(main())
