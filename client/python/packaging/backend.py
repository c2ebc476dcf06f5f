# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel `tritond` (PEP 517, so that `pip install client/python` works), with nothing but protoc."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from wheel_file import WheelFile

HERE = pathlib.Path(__file__).resolve().parents[1]
ROOT = HERE.parents[1]
PROTOS = ("proto/v1/compile.proto", "proto/v1/artifact.proto", "proto/v1/autotune.proto", "proto/google/rpc/status.proto",
          "proto/google/rpc/error_details.proto")
# The bounds are those that the tests run with: docs/python.md.
METADATA = """Metadata-Version: 2.1
Name: tritond
Version: {version}
Summary: Triton programs compile through a tritond daemon: each kernel once for the whole cluster
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: grpcio>=1.49.1
Requires-Dist: protobuf>=3.9.2
Provides-Extra: server
Requires-Dist: tritond-server=={version}; extra == "server"
Description-Content-Type: text/markdown

{readme}"""


def version():
    """The project's, as CMakeLists.txt has it."""
    return re.search(r"project\(tritond VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def make_schema():
    """The FileDescriptorSet of the messages that the package uses."""
    protoc = shutil.which("protoc")
    if not protoc:
        raise RuntimeError("protoc is not there: install protobuf-compiler")
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "schema.bin"
        subprocess.run([protoc, "-I", ".", "-I", "proto", "--include_imports", f"--descriptor_set_out={out}", *PROTOS], cwd=ROOT,
                       check=True)
        return out.read_bytes()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel; its file name."""
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    with WheelFile(wheel_directory, "tritond", version(), "py3-none-any", pure=True) as wheel:
        for path in sorted((HERE / "tritond").iterdir()):
            if path.suffix == ".py" or path.name == "py.typed":
                wheel.add(f"tritond/{path.name}", path.read_bytes())
        wheel.add("tritond/schema.bin", make_schema())
        wheel.add("tritond.pth", (HERE / "tritond.pth").read_bytes())
        wheel.add_info("METADATA", METADATA.format(version=version(), readme=readme))
        wheel.add_info("LICENSE", (ROOT / "LICENSE").read_text(encoding="utf-8"))
    return wheel.name


def get_requires_for_build_wheel(config_settings=None):
    """Nothing."""
    return []


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    print(pathlib.Path(sys.argv[1]) / build_wheel(sys.argv[1]))
