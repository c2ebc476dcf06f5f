#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on any include that the architecture does not allow, and on the file rules a machine can check.

    check_layers.py [ROOT]        # prints one line a violation; exit status 1 when there is any

LAYERS is the architecture: a folder may include itself and what its row names, nothing else. A row entry is a
second-level folder ("cache/api") or a whole top-level one ("proto").
"""
import os
import re
import subprocess
import sys

LAYERS = {
    "timing/steady": [],
    "timing/turns": [],
    "proto/v1": [],
    "proto/plain_text": [],
    "proto/request_key": ["proto/v1"],
    "compiler/layout": [],
    "compiler/text": [],
    "compiler/ir": ["compiler/layout", "compiler/text"],
    "compiler/analysis": ["compiler/layout", "compiler/ir"],
    "compiler/dots": ["compiler/layout", "compiler/ir"],
    "compiler/encoding": ["compiler/layout", "compiler/ir", "compiler/analysis", "compiler/dots"],
    "compiler/pipelining": ["compiler/layout", "compiler/ir", "compiler/analysis"],
    "compiler/passes": ["compiler/layout", "compiler/ir", "compiler/analysis", "compiler/dots", "compiler/encoding",
                        "compiler/pipelining"],
    "compiler/lowering": ["compiler/layout", "compiler/ir", "compiler/analysis"],
    "compiler/targets": ["compiler/layout", "compiler/ir", "compiler/analysis", "compiler/dots", "compiler/encoding",
                         "compiler/pipelining", "compiler/passes", "compiler/lowering"],
    "compiler/costs": ["compiler/layout", "compiler/ir", "compiler/analysis", "compiler/encoding", "compiler/targets"],
    "compiler/driver": ["compiler/layout", "compiler/ir", "compiler/analysis", "compiler/passes",
                        "compiler/lowering", "compiler/targets"],
    "compiler/tools": ["compiler"],
    "cache/api": [],
    "cache/coordination": ["cache/api"],
    "cache/store": ["cache/api", "cache/coordination"],
    "cache/layer": ["cache/api"],
    "cache/open": ["cache/api", "cache/coordination", "cache/store", "cache/layer"],
    "workers/device": [],
    "workers/sandbox": [],
    "workers/launch": ["proto", "workers/device"],
    "workers/measure": ["proto", "workers/device", "workers/launch"],
    "workers/runner": ["proto", "compiler/driver", "workers/device", "workers/measure", "workers/sandbox"],
    "workers/pool": ["proto", "workers/sandbox"],
    "server/errors": ["proto", "cache/api"],
    "server/scheduler": ["server/errors"],
    "server/admission": ["proto/plain_text", "server/errors"],
    "server/autotune": [],
    "server/retention": ["cache/api"],
    "server/jobs": ["proto", "cache/api", "server/errors", "server/scheduler"],
    "server/history": ["server/scheduler"],
    "server/provenance": ["cache/api"],
    "server/bundle": ["proto", "cache/api", "server/provenance"],
    "server/results": ["proto", "cache/api", "server/errors", "server/provenance", "server/retention",
                       "server/scheduler"],
    "server/cluster": ["proto/v1", "cache/api", "cache/coordination", "server/admission", "server/errors", "server/provenance", "server/results",
                       "server/scheduler"],
    "server/compile": ["proto", "cache/api", "workers/pool", "server/admission", "server/cluster", "server/errors",
                       "server/history", "server/jobs", "server/provenance", "server/results", "server/retention",
                       "server/scheduler"],
    "server/tunings": ["proto", "cache/api", "cache/coordination", "workers/pool", "server/admission", "server/autotune", "server/cluster",
                       "server/compile", "server/errors", "server/results"],
    "server/rpc": ["proto", "cache/api", "workers/pool", "server/admission", "server/bundle", "server/cluster",
                   "server/compile", "server/errors", "server/jobs", "server/provenance", "server/results",
                   "server/retention", "server/scheduler", "server/tunings"],
    "server/redis": ["cache/api", "server/admission", "server/retention"],
    "server/web": ["cache/api", "server/scheduler", "server/history", "server/admission", "workers/pool"],
    # The wiring also names what it hands from one folder to another: the cache, the pool, the configuration's messages.
    "server/app": ["server", "cache/open", "cache/api", "workers/pool", "proto"],
    "client/cc": ["proto"],
    # What a bundle holds is read here as the daemon reads it.
    "client/cli": ["proto", "client/cc", "workers/device", "workers/launch", "cache/api", "server/bundle",
                   "server/provenance"],
    "client/python": ["proto"],
}
EVERYBODY_MAY_INCLUDE = ["timing/steady", "timing/turns"]
TESTS_MAY_INCLUDE = ["timing", "proto", "compiler", "cache", "workers", "server", "client", "tests"]
# A unit test may also use the shared contract tests, and its neighbours: a wrapper is tested over a real store.
UNIT_TESTS_MAY_ALSO_INCLUDE = ["tests/support"]

# Libraries that a folder must not know, by the first component of the include.
COMPILER_LIBRARIES = ("llvm", "mlir", "lld")
RPC_LIBRARIES = ("grpc", "grpcpp", "google")
BANNED_LIBRARIES = {
    "cache": COMPILER_LIBRARIES + RPC_LIBRARIES,
    "client": COMPILER_LIBRARIES,
    "compiler": RPC_LIBRARIES + ("rocksdb", "hiredis"),
    "compiler/layout": ("mlir",),
    "proto": COMPILER_LIBRARIES,
    "server": COMPILER_LIBRARIES + ("rocksdb", "hiredis"),
    "server/scheduler": RPC_LIBRARIES,
    "server/admission": RPC_LIBRARIES,
    "server/cluster": RPC_LIBRARIES,
    "server/compile": ("grpc", "grpcpp"),
    "server/errors": ("grpc", "grpcpp"),
    "server/results": ("grpc", "grpcpp"),
    "server/autotune": RPC_LIBRARIES,
    "server/provenance": RPC_LIBRARIES,
    "server/redis": RPC_LIBRARIES,
    "server/retention": RPC_LIBRARIES,
    "workers/device": COMPILER_LIBRARIES,
    "workers/measure": COMPILER_LIBRARIES + ("grpc", "grpcpp"),
    "workers/pool": COMPILER_LIBRARIES,
    "workers/runner": COMPILER_LIBRARIES,
    "workers/sandbox": COMPILER_LIBRARIES + RPC_LIBRARIES,
}

# Headers that the build compiles once for all sources: none of them is included by name.
PRECOMPILED_MAY_INCLUDE = ["cmake", "compiler/ir"]
CODE = (".h", ".cc", ".td")
NEEDS_SPDX = (".h", ".cc", ".td", ".py", ".proto", ".cmake", ".sh", ".yaml", ".yml", ".service")
SIZE_STOP = {".cc": 800, ".td": 800, ".py": 800, ".h": 300}
FORBIDDEN_WORDS = {"util", "utils", "helper", "helpers", "misc", "common", "manager", "base", "impl", "new"}
# Folders below the second level that may hold code: what a family of targets knows stays in its folder.
DEEPER = re.compile(r"^compiler/targets/[^/]+/[^/]+$|^workers/device/emulated/[^/]+$|^client/python/|^deploy/")
ROOT_FOLDERS = {"timing", "proto", "compiler", "cache", "workers", "server", "client", "deploy", "tests"}
NOT_OURS = {"cmake", "docs", "examples", "third_party_licenses"}
MACHINE_PATH = re.compile(r"(?:^|[\s\"'`=(:<])/(?:work|root|farm|home/[a-z]+)/")
INCLUDE = re.compile(r'^\s*#\s*include\s+["]([^"]+)["]')
TD_INCLUDE = re.compile(r'^\s*include\s+"([^"]+)"')


def list_files(root):
    """Paths of the tree relative to `root`: what git tracks or would track, else everything but build folders."""
    git = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
                         capture_output=True, text=True)
    if git.returncode == 0:
        return sorted(p for p in set(git.stdout.splitlines()) if os.path.isfile(os.path.join(root, p)))
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in ("build", ".git", "__pycache__")]
        found += [os.path.relpath(os.path.join(folder, n), root) for n in names]
    return sorted(found)


def folder_of(path):
    """The second-level folder of a path or an include: "cache/store/x/y.h" gives "cache/store"."""
    return "/".join(path.split("/")[:2])


def within(folder, allowed):
    return any(folder == a or folder.split("/")[0] == a for a in allowed)


def allowed_for(path):
    folder = folder_of(path)
    if path.startswith("cmake/"):
        return PRECOMPILED_MAY_INCLUDE
    if path.startswith("tests/"):
        return TESTS_MAY_INCLUDE
    allowed = [folder] + LAYERS.get(folder, []) + EVERYBODY_MAY_INCLUDE
    if path.endswith("_test.cc"):
        allowed = allowed + UNIT_TESTS_MAY_ALSO_INCLUDE + [path.split("/")[0]]
    return allowed


def vendor_of(path):
    parts = path.split("/")
    return parts[2] if len(parts) > 3 and parts[:2] == ["compiler", "targets"] else None


def check_include(path, included):
    """None, or what is wrong with `path` including `included`."""
    top = included.split("/")[0]
    if top not in ROOT_FOLDERS:
        if "/" not in included:
            return f'"{included}": write the path from the repository root'
        for folder in (path.split("/")[0], folder_of(path)):
            if top in BANNED_LIBRARIES.get(folder, ()):
                return f'"{included}": {folder} must not know {top}'
        return None
    if not within(folder_of(included), allowed_for(path)):
        return f'"{included}": {folder_of(path)} must not include {folder_of(included)}'
    vendor = vendor_of(included)
    # Emulated targets are the host's code: only the vendor's instructions differ.
    if vendor == "host" and vendor_of(path) == "emulated":
        return None
    if vendor and vendor_of(path) != vendor and not path.startswith("tests/") and path != "compiler/targets/targets.cc":
        return f'"{included}": only compiler/targets/targets.cc knows the vendor folders'
    return None


def check_includes(path, lines):
    pattern = TD_INCLUDE if path.endswith(".td") else INCLUDE
    for number, line in enumerate(lines, 1):
        match = pattern.match(line)
        problem = match and check_include(path, match.group(1))
        if problem:
            yield f"{path}:{number}: {problem}"


def check_place(path):
    """Code lives at the second level of a folder that the table knows."""
    parts = path.split("/")
    if parts[0] in NOT_OURS or len(parts) == 1 and not path.endswith(CODE):
        return
    if not path.endswith(CODE):
        return
    if len(parts) != 3 and not DEEPER.match(path):
        yield f"{path}: code lives at the second level (top/second/file)"
    elif parts[0] not in ("tests", "deploy") and folder_of(path) not in LAYERS:
        yield f"{path}: {folder_of(path)} is not in the table of folders"


def check_name(path):
    for part in path.split("/"):
        for word in re.split(r"[_\-.]", part.lower()):
            if word in FORBIDDEN_WORDS:
                yield f'{path}: the word "{word}" says nothing; name the file after its main type or verb'


def check_text(path, lines):
    extension = os.path.splitext(path)[1]
    first = lines[:1]
    if first and first[0].startswith("#!"):
        first = lines[1:2]
    if lines and (extension in NEEDS_SPDX or path.endswith("CMakeLists.txt")):
        if not first or "SPDX-License-Identifier: Apache-2.0" not in first[0]:
            yield f"{path}:1: the first line must be the SPDX line"
    stop = SIZE_STOP.get(extension)
    if stop and len(lines) > stop:
        yield f"{path}: {len(lines)} lines; {extension} files stop at {stop}"
    if extension == ".h" and path.split("/")[0] in ROOT_FOLDERS:
        guard = re.sub(r"[^A-Z0-9]", "_", path.upper()) + "_"
        if f"#ifndef {guard}" not in lines or f"#define {guard}" not in lines:
            yield f"{path}: the header guard must be {guard}"
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line):
            yield f"{path}:{number}: a path of one machine does not belong here"


def check_tree(root):
    """Every violation in the tree, as a list of lines."""
    violations = []
    for path in list_files(root):
        violations += check_name(path)
        violations += check_place(path)
        try:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                lines = file.read().splitlines()
        except UnicodeDecodeError:
            continue  # a binary file
        violations += check_text(path, lines)
        if path.endswith(CODE):
            violations += check_includes(path, lines)
    return violations


def main():
    default = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    violations = check_tree(sys.argv[1] if len(sys.argv) > 1 else default)
    print("\n".join(violations) if violations else "layers: ok")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
