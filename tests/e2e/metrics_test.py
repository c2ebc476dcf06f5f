#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""metrics_test.py BIN_FOLDER WORKER: what /metrics says is valid, and has every metric that the alert rules and the dashboard
in deploy/ name. Starts a daemon with WORKER, which may be a fake."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from daemon import Daemon

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = re.compile(r"^[a-zA-Z_:][a-zA-Z0-9_:]*$")
SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\n"])*",?)*\})? (\S+)( \d+)?$')
UNITS = {"seconds", "bytes"}
WRONG_UNITS = {"ms", "us", "milliseconds", "microseconds", "minutes", "hours", "kb", "mb", "gb", "kib", "mib", "gib", "percent"}
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\n"])*)"')
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("", "_sum", "_count"), "counter": ("",), "gauge": ("",),
            "untyped": ("",)}


def parse(text):
    """{metric: (type, {sample name: [(labels, value)]})} of an exposition; ValueError says what is not valid in it."""
    families, seen, current = {}, set(), None
    if not text.endswith("\n"):
        raise ValueError("the last line has no end")
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("# HELP ") or line.startswith("# TYPE "):
            _, what, name, rest = (line.split(" ", 3) + [""])[:4]
            if not NAME.match(name):
                raise ValueError(f"line {number}: {name} is no name")
            if what == "TYPE":
                if name in families:
                    raise ValueError(f"line {number}: {name} has two types")
                if rest not in SUFFIXES:
                    raise ValueError(f"line {number}: {rest} is no type")
                families[name], current = (rest, {}), name
            continue
        if not line or line.startswith("#"):
            continue
        match = SAMPLE.match(line)
        if not match:
            raise ValueError(f"line {number}: {line}")
        name, labels = match.group(1), tuple(sorted(LABEL.findall(match.group(2) or "")))
        if current is None or name not in [current + suffix for suffix in SUFFIXES[families[current][0]]]:
            raise ValueError(f"line {number}: {name} stands outside its family")
        if (name, labels) in seen:
            raise ValueError(f"line {number}: {name} {labels} is there twice")
        seen.add((name, labels))
        families[current][1].setdefault(name, []).append((dict(labels), float(match.group(3))))
    for name, (kind, samples) in families.items():
        check_name(name, kind)
        if kind == "counter" and name[:-len("_total")] in families:
            raise ValueError(f"{name} and {name[:-len('_total')]} are one name in OpenMetrics")
        if kind == "histogram":
            check_histogram(name, samples)
    return families


def check_name(name, kind):
    """ValueError when the name is not one that OpenMetrics has for such a metric."""
    if (kind == "counter") != name.endswith("_total"):
        raise ValueError(f"the {kind} {name}: counters end in _total, and nothing else does")
    if name.endswith(("_bucket", "_sum", "_count", "_created")):
        raise ValueError(f"the {kind} {name} ends as a series of another metric")
    words = name.split("_")
    if WRONG_UNITS & set(words):
        raise ValueError(f"{name}: units are seconds and bytes")
    unit = words[-2] if kind == "counter" else words[-1]
    if kind == "histogram" and unit not in ("seconds", "bytes"):
        raise ValueError(f"the histogram {name} does not end in its unit")
    if not UNITS.isdisjoint(words) and unit not in UNITS:
        raise ValueError(f"{name}: the unit comes last")


def check_histogram(name, samples):
    series = {}
    for labels, value in samples.get(name + "_bucket", []):
        bound = float(labels.pop("le"))
        series.setdefault(tuple(sorted(labels.items())), []).append((bound, value))
    counts = {tuple(sorted(labels.items())): value for labels, value in samples.get(name + "_count", [])}
    for labels, buckets in series.items():
        values = [value for _, value in sorted(buckets)]
        if values != sorted(values) or max(buckets)[0] != float("inf") or values[-1] != counts.get(labels):
            raise ValueError(f"the buckets of {name}{dict(labels)} do not add up")


def names_in(expression):
    """The metrics of this daemon that a query names; labels and functions are none of them."""
    without_strings = re.sub(r'"[^"]*"', '""', expression)
    return set(re.findall(r"\btritond_\w+", without_strings))


class ParseTest(unittest.TestCase):
    def refuse(self, text, part):
        with self.assertRaises(ValueError) as caught:
            parse(text)
        self.assertIn(part, str(caught.exception))

    def test_what_is_not_valid_is_found(self):
        self.refuse("# TYPE a gauge\na 1", "no end")
        self.refuse("# TYPE a gauge\na{b=c} 1\n", "line 2")
        self.refuse("# TYPE a gauge\na 1\na 2\n", "twice")
        self.refuse("# TYPE a gauge\n# TYPE a gauge\n", "two types")
        self.refuse("# TYPE a gauge\nb 1\n", "outside")
        self.refuse("# TYPE a counter\na 1\n", "_total")
        self.refuse("# TYPE a_total gauge\na_total 1\n", "_total")
        self.refuse("# TYPE a gauge\n# TYPE a_total counter\n", "one name")
        self.refuse("# TYPE a_count gauge\na_count 1\n", "another metric")
        self.refuse("# TYPE a_ms gauge\na_ms 1\n", "units are")
        self.refuse("# TYPE a_seconds_lately gauge\na_seconds_lately 1\n", "comes last")
        self.refuse("# TYPE a histogram\n", "its unit")
        self.refuse('# TYPE a_bytes histogram\na_bytes_bucket{le="1"} 2\na_bytes_bucket{le="+Inf"} 1\n'
                    "a_bytes_sum 1\na_bytes_count 1\n", "add up")

    def test_names_are_told_from_labels(self):
        self.assertEqual(names_in('sum(rate(tritond_a_total{job="tritond_b"}[5m])) / tritond_c'), {"tritond_a_total", "tritond_c"})


class MetricsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # A cluster whose engine is away: its metrics are there all the same.
        cls.daemon = Daemon(BINARIES, worker=WORKER, arguments=["--cluster", "127.0.0.1:1"])
        cls.addClassCleanup(cls.daemon.__exit__)
        cls.daemon.start(workers=2)
        with tempfile.TemporaryDirectory() as folder:
            kernel = pathlib.Path(folder) / 'hostile"} 1 # TYPE x.ttir'
            kernel.write_text("module {}", encoding="utf-8")
            for words in (["--tenant", 'a"b\\c'], ["--tenant", 'a"b\\c'], []):
                cls.daemon.compile(kernel, "cuda:90", *words)
        status, cls.text = cls.daemon.get("/metrics")
        assert status == 200
        cls.families = parse(cls.text)
        cls.samples = {name for _, samples in cls.families.values() for name in samples}

    def test_the_exposition_is_valid(self):
        self.assertGreater(len(self.families), 25)
        for name in self.families:
            self.assertRegex(name, r"^tritond_[a-z_]+$")
            self.assertIn(f"# HELP {name} ", self.text)

    def test_what_is_counted_is_a_counter(self):
        for line in self.text.splitlines():
            if line.startswith("# HELP ") and re.search(r"\bsince (the|it)\b|\bso far\b", line):
                self.assertEqual(self.families[line.split()[2]][0], "counter", line)
        status, later = self.daemon.get("/metrics")
        self.assertEqual(status, 200)
        before, counters = self.families, parse(later)
        for name, (kind, samples) in before.items():
            if kind != "counter":
                continue
            now = {tuple(sorted(labels.items())): value for labels, value in counters[name][1].get(name, [])}
            for labels, value in samples.get(name, []):
                self.assertGreaterEqual(now[tuple(sorted(labels.items()))], value, name)

    def test_requests_are_counted(self):
        answers = {labels["answer"]: value for labels, value in self.families["tritond_requests_total"][1]["tritond_requests_total"]}
        self.assertEqual(answers["miss"] + answers["hit"], 3)
        tenants = self.families["tritond_tenant_compiles_total"][1]["tritond_tenant_compiles_total"]
        self.assertEqual(len(tenants), 1)

    def test_every_metric_of_the_alerts_is_there(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("no PyYAML (Debian: apt-get install python3-yaml)")
        rules = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yaml").read_text(encoding="utf-8"))
        runbook = (ROOT / "docs/runbook.md").read_text(encoding="utf-8")
        named = set()
        for group in rules["groups"]:
            for rule in group["rules"]:
                self.assertEqual(set(rule) - {"for"}, {"alert", "expr", "labels", "annotations"}, rule)
                self.assertIn(rule["labels"]["severity"], ("critical", "warning", "info"))
                self.assertEqual(rule["annotations"]["runbook"], "docs/runbook.md#" + rule["alert"].lower())
                self.assertIn(f"### {rule['alert']}\n", runbook, "what to do about it")
                named |= names_in(rule["expr"])
        self.assertGreater(len(named), 8)
        self.assertEqual(named - self.samples, set())

    def test_the_reference_names_every_metric_and_no_other_one(self):
        reference = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
        documented = set(re.findall(r"`(tritond_\w+)", reference))
        self.assertEqual(set(self.families) - documented, set(), "a line in docs/reference.md")
        self.assertEqual(documented - set(self.families), set(), "the daemon has none of that name")

    def test_what_a_kernel_or_a_caller_is_to_blame_for_alarms_nobody(self):
        rules = (ROOT / "deploy/prometheus/alerts.yaml").read_text(encoding="utf-8")
        counted = re.search(r"alert: TritondCompilesFail.*?outcome!~\"([a-z_|]+)\"", rules, re.DOTALL).group(1).split("|")
        for outcome in ("ok", "invalid_argument", "unimplemented", "resource_exhausted", "cancelled", "deadline_exceeded"):
            self.assertIn(outcome, counted)

    def test_every_metric_of_the_dashboard_is_there(self):
        dashboard = json.loads((ROOT / "deploy/grafana/tritond.json").read_text(encoding="utf-8"))
        named = set()
        places = set()
        for panel in dashboard["panels"]:
            place = (panel["gridPos"]["x"], panel["gridPos"]["y"])
            self.assertNotIn(place, places)
            places.add(place)
            for target in panel["targets"]:
                self.assertEqual(target["expr"].count("("), target["expr"].count(")"), target["expr"])
                named |= names_in(target["expr"])
        for variable in dashboard["templating"]["list"]:
            if variable["type"] == "query":
                named |= names_in(variable["query"]["query"])
        self.assertGreater(len(named), 15)
        self.assertEqual(named - self.samples, set())


class RulesTest(unittest.TestCase):
    def test_promtool_takes_the_rules(self):
        try:
            done = subprocess.run(["promtool", "check", "rules", str(ROOT / "deploy/prometheus/alerts.yaml")],
                                  capture_output=True, text=True, check=False)
        except FileNotFoundError:
            self.skipTest("no promtool (Debian: apt-get install prometheus)")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    BINARIES, WORKER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
