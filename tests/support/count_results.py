#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts a test run: count_results.py CTEST_JUNIT_XML [FOLDER_OF_GTEST_XML]

A GoogleTest program counts as the cases in its own XML report, a lit suite as its files, a Python unittest as its methods,
anything else as one test. A program
that failed without a failed case (it crashed, or ran out of time) is one failure. Prints the names of what failed, then
one last line, "N passed, N failed" with ", N skipped" where some were; exit status 1 when anything failed or nothing ran.
"""
import collections
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

LIT_COUNTS = {"Passed": "passed", "Expectedly Failed": "passed", "Unsupported": "skipped", "Failed": "failed",
              "Unexpectedly Passed": "failed", "Unresolved": "failed", "Timed Out": "failed"}


def count_gtest(path):
    counts, failures = collections.Counter(), []
    for case in ElementTree.parse(path).iter("testcase"):
        if case.get("result") == "suppressed":
            continue  # DISABLED_ or filtered out
        if case.find("failure") is not None:
            counts["failed"] += 1
            failures.append(f'{case.get("classname")}.{case.get("name")}')
        elif case.get("result") == "skipped":
            counts["skipped"] += 1
        else:
            counts["passed"] += 1
    return counts, failures


def count_lit(output):
    """Counts from lit's summary ("  Passed: 12 (100.00%)"); empty when this is no output of lit."""
    counts = collections.Counter()
    if "Total Discovered Tests:" in output:
        for name, number in re.findall(r"^ +([A-Z][A-Za-z ]+?) *: +(\d+)", output, re.MULTILINE):
            counts[LIT_COUNTS.get(name, "skipped")] += int(number)
    return counts


def count_unittest(output):
    """Counts from the last lines of Python's unittest; empty when this is no output of it."""
    ran = re.search(r"^Ran (\d+) tests? in .*\n\n(?:OK|FAILED)(?: \((.*)\))?$", output, re.MULTILINE)
    if not ran:
        return collections.Counter()
    parts = dict(re.findall(r"(\w+)=(\d+)", ran.group(2) or ""))
    counts = collections.Counter(skipped=int(parts.get("skipped", 0)),
                                 failed=int(parts.get("failures", 0)) + int(parts.get("errors", 0)))
    counts["passed"] = int(ran.group(1)) - counts["skipped"] - counts["failed"]
    return counts


def count_one(case, folder):
    """The counts of one ctest entry, and the names of what failed in it."""
    name, status = case.get("name"), case.get("status")
    report = os.path.join(folder, name.replace("/", "_") + ".xml")
    counts, failures = collections.Counter(), []
    if os.path.exists(report):
        counts, failures = count_gtest(report)
    else:
        output = case.findtext("system-out") or ""
        counts = count_lit(output) or count_unittest(output)
    skipped = case.find("skipped")
    skipped = skipped is not None and (skipped.get("message") or "").startswith("SKIP_")
    if status == "run":
        return counts or collections.Counter(passed=1), [f"{name}: {f}" for f in failures]
    if skipped:
        return collections.Counter(skipped=1), []
    if status == "disabled":
        return collections.Counter(), []
    if not counts["failed"]:
        counts["failed"] = 1
    return counts, [f"{name}: {f}" for f in failures] or [name]


def main():
    junit, folder = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    total, failures = collections.Counter(), []
    if os.path.exists(junit):
        for case in ElementTree.parse(junit).iter("testcase"):
            counts, names = count_one(case, folder)
            total += counts
            failures += names
    else:
        print(f"no test report at {junit}", file=sys.stderr)
    for failure in failures:
        print(f"failed: {failure}")
    skipped = f', {total["skipped"]} skipped' if total["skipped"] else ""
    print(f'{total["passed"]} passed, {total["failed"]} failed{skipped}')
    return 0 if total["passed"] and not total["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
