#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""alerts_test.py: the alert rules are valid and wake somebody when they should and not otherwise, and the dashboard's queries are
valid. Needs promtool (Debian's package prometheus); exit status 77 where it is missing."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
RULES = DEPLOY / "prometheus/alerts.yaml"
TESTS = DEPLOY / "prometheus/alerts_test.yaml"
PROMTOOL = shutil.which("promtool")


def promtool(*words):
    done = subprocess.run([PROMTOOL, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


def queries(panel):
    """Every PromQL expression below a part of a dashboard."""
    if isinstance(panel, dict):
        for name, value in panel.items():
            if name == "expr":
                yield value
            else:
                yield from queries(value)
    elif isinstance(panel, list):
        for one in panel:
            yield from queries(one)


class Alerts(unittest.TestCase):
    def test_every_rule_fires_for_the_bad_and_is_silent_for_the_good(self):
        code, text = promtool("test", "rules", TESTS)
        self.assertEqual(code, 0, text)
        rules = {rule["alert"] for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]}
        tested = {one["alertname"] for test in yaml.safe_load(TESTS.read_text())["tests"] for one in test["alert_rule_test"]}
        self.assertEqual(rules, tested)

    def test_the_dashboards_queries_are_valid(self):
        found = list(queries(json.loads((DEPLOY / "grafana/tritond.json").read_text())))
        self.assertGreater(len(found), 10)
        # What Grafana puts in, in the form of rules.
        rules = [{"record": f"query:{i}", "expr": query.replace("$__rate_interval", "5m").replace("$__range", "1d")}
                 for i, query in enumerate(found)]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "queries.yaml")
            path.write_text(json.dumps({"groups": [{"name": "queries", "rules": rules}]}))
            code, text = promtool("check", "rules", path)
        self.assertEqual(code, 0, text)


if __name__ == "__main__":
    if PROMTOOL is None:
        print("promtool is not installed (Debian's package prometheus): the alert rules are not tested")
        sys.exit(77)
    unittest.main()
