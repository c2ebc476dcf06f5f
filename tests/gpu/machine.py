# SPDX-License-Identifier: Apache-2.0
"""What the proofs share: a daemon from the bundle, processes with time limits, one JSON object at the end."""
import collections
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
WORK = pathlib.Path(os.environ.get("PROOF_WORK", "/tmp/tritond-proof"))
BEGIN = time.monotonic()


def left(total):
    """Seconds of `total` that are left since this program began."""
    return max(1.0, total - (time.monotonic() - BEGIN))


def binaries():
    """The bundle's programs, unpacked once a machine."""
    if os.environ.get("PROOF_BIN"):
        return pathlib.Path(os.environ["PROOF_BIN"])
    top = WORK / "bundle"
    if not (top / "tritond/bin/tritond").exists():
        top.mkdir(parents=True, exist_ok=True)
        with tarfile.open(HERE / "bundle.tar.xz") as archive:
            archive.extractall(top)
    return top / "tritond/bin"


def site():
    """The wheels, unpacked once a machine, with what makes that a site folder."""
    path = WORK / "site"
    if not (path / "sitecustomize.py").exists():
        for wheel in sorted((HERE / "wheel").glob("*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(path)
        shutil.copy(HERE / "in_each_process.py", path / "sitecustomize.py")
    return path


def cuda_home():
    """A folder with bin/ptxas: CUDA's, else Triton's own."""
    for prefix in (os.environ.get("CUDA_HOME", ""), "/usr/local/cuda"):
        if prefix and os.path.exists(f"{prefix}/bin/ptxas"):
            return prefix
    import importlib.util
    spec = importlib.util.find_spec("triton")
    found = pathlib.Path(spec.origin).parent / "backends/nvidia/bin/ptxas" if spec else None
    if found is None or not found.exists():
        return ""
    home = WORK / "cuda"
    (home / "bin").mkdir(parents=True, exist_ok=True)
    if not (home / "bin/ptxas").exists():
        (home / "bin/ptxas").symlink_to(found)
    return str(home)


def fresh(name):
    """An empty folder below WORK."""
    path = WORK / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def environment(cache, server="", status=None, **more):
    """Variables of a process with caches of its own. `server` empty: without the package."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("TRITON", "PROOF_"))}
    folders = f"{site()}:{HERE}"
    variables.update(PYTHONPATH=folders + (":" + variables["PYTHONPATH"] if variables.get("PYTHONPATH") else ""),
                     TRITON_CACHE_DIR=str(cache / "triton"), TORCHINDUCTOR_CACHE_DIR=str(cache / "inductor"), PYTHONUNBUFFERED="1",
                     TRITOND_SERVER=server, PROOF_WORK=str(WORK))
    if status is not None:
        variables["PROOF_STATUS"] = str(status)
    variables.update({name: str(value) for name, value in more.items()})
    return variables


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Running:
    """A process with a time limit; its output goes to a file."""

    def __init__(self, command, variables, log):
        self.log = pathlib.Path(log)
        self.begin = time.monotonic()
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=subprocess.STDOUT, env=variables,
                                            start_new_session=True)

    def finish(self, seconds):
        """Its exit status (124: the time was over), seconds, the last JSON line that it printed, and the end of its output."""
        try:
            status = self.process.wait(timeout=max(1.0, seconds))
        except subprocess.TimeoutExpired:
            status = 124
        took = time.monotonic() - self.begin
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # what it left behind
        except (ProcessLookupError, PermissionError):
            pass
        self.process.wait()
        text = self.log.read_text(errors="replace")
        answer = None
        for line in reversed(text.splitlines()):
            if line.startswith("{"):
                try:
                    answer = json.loads(line)
                    break
                except ValueError:
                    continue
        return {"rc": status, "seconds": round(took, 2), "answer": answer, "tail": text[-1500:] if status != 0 else ""}


def run(command, variables, log, seconds):
    return Running(command, variables, log).finish(seconds)


class Daemon:
    """The bundle's daemon with a data folder of its own. A context manager. `more`: further options, in place of those that turn off its status page."""

    def __init__(self, name, workers=None, more=()):
        self.folder = fresh(name)
        self.address = f"127.0.0.1:{free_port()}"
        self.workers = workers or max(1, min(16, os.cpu_count() or 1))
        self.more = more
        self.process = None

    def __enter__(self):
        home = cuda_home()
        variables = {**os.environ, "CUDA_HOME": home, "PATH": f"{home}/bin:{os.environ['PATH']}"}
        command = [binaries() / "tritond", "--data-dir", self.folder / "data", "--listen", self.address, "--workers", self.workers,
                   *(self.more or ("--http", "none"))]
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, env=variables, start_new_session=True)
        deadline = time.monotonic() + 60
        while True:
            stats = self.stats()
            targets = {t["name"]: t for t in stats.get("daemon", {}).get("targets", [])}
            if targets.get("cuda:90", {}).get("binary_available"):
                return self
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError(f"the daemon is not ready: {targets.get('cuda:90')}\n{(self.folder / 'log').read_text()[-3000:]}")
            time.sleep(0.2)

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)

    def stats(self):
        done = subprocess.run([str(binaries() / "triton-client"), "--server", self.address, "--wait", "30", "stats", "--json"],
                              capture_output=True, text=True, timeout=60, check=False)
        return json.loads(done.stdout) if done.returncode == 0 and done.stdout.strip() else {}

    def counts(self):
        """The numbers of stats() that the proofs show."""
        stats = self.stats()
        numbers = {name: int(stats.get(name, 0)) for name in ("requests", "hits", "misses", "joined", "compiles", "hedged", "failures")}
        numbers["program_tunings"] = {name: int(value) for name, value in stats.get("program_tunings", {}).items()}
        return numbers

    def cpu_seconds(self):
        """Of the daemon and its workers; None where the machine does not tell."""
        try:
            import psutil
            whole = psutil.Process(self.process.pid)
            times = [p.cpu_times() for p in [whole, *whole.children(recursive=True)]]
            return round(sum(t.user + t.system + t.children_user + t.children_system for t in times), 2)
        except Exception:
            return None


def machine_cpu_seconds():
    """Of all processes since the machine began, by /proc/stat."""
    try:
        words = pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:]
        busy = [int(word) for i, word in enumerate(words[:8]) if i not in (3, 4)]
        return sum(busy) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


def statuses(folder):
    """What the processes that told of themselves said, together. `made_here`: binaries of Triton's own compiler, in all processes."""
    here = pathlib.Path(folder) / "made_here"
    total = {"made_here": len(here.read_text().splitlines()) if here.exists() else 0, "processes": 0, "hits": 0, "compiled": 0,
             "joined": 0, "local": collections.Counter(), "tuned": collections.Counter(), "last_failures": []}
    for path in pathlib.Path(folder).glob("*.json"):
        said = json.loads(path.read_text())
        total["processes"] += 1
        for name in ("hits", "compiled", "joined"):
            total[name] += said[name]
        for name in ("local", "tuned"):
            total[name].update(said[name])
        if said["last_failure"]:
            total["last_failures"].append(said["last_failure"][:300])
    return {**total, "local": dict(total["local"]), "tuned": dict(total["tuned"]), "last_failures": total["last_failures"][:10]}


def device():
    """The GPU, by a process of its own, so that this one holds none."""
    code = ("import json, torch, triton; print(json.dumps({'gpu': torch.cuda.get_device_name() if torch.cuda.is_available() else None,"
            "'torch': torch.__version__, 'triton': triton.__version__}))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"error": done.stderr[-300:]}


def report(name, content):
    """Prints one JSON object, and writes it where files come back from."""
    content = {"proof": name, "machine": device(), "cores": os.cpu_count(), "seconds": round(time.monotonic() - BEGIN, 1), **content}
    text = json.dumps(content)
    out = os.environ.get("OUT")
    if out:
        (pathlib.Path(out) / f"{name}.json").write_text(text)
    print(text, flush=True)
