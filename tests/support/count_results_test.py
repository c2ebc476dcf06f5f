#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import os
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import count_results  # noqa: E402


class CountResultsTest(unittest.TestCase):
    def count(self, junit, reports=None):
        """Exit status and last line for a ctest report and GoogleTest reports by name."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "junit.xml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"<testsuite>{junit}</testsuite>")
            for name, text in (reports or {}).items():
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(f"<testsuites><testsuite>{text}</testsuite></testsuites>")
            out = io.StringIO()
            with mock.patch.object(sys, "argv", ["x", path, folder]), contextlib.redirect_stdout(out):
                status = count_results.main()
            return status, out.getvalue().splitlines()[-1]

    def test_a_program_counts_as_its_cases(self):
        self.assertEqual(self.count('<testcase name="a/b_test" status="run"/>', {
            "a_b_test.xml": '<testcase name="x" status="run" result="completed"/>'
                            '<testcase name="y" status="run" result="completed"/>'
                            '<testcase name="z" status="run" result="skipped"><skipped/></testcase>'}),
            (0, "2 passed, 0 failed, 1 skipped"))

    def test_a_failed_case_fails_the_run(self):
        self.assertEqual(self.count('<testcase name="a/b_test" status="fail"/>', {
            "a_b_test.xml": '<testcase name="x" status="run" result="completed"/>'
                            '<testcase name="y" status="run" result="completed"><failure/></testcase>'}),
            (1, "1 passed, 1 failed"))

    def test_a_crash_without_a_report_is_one_failure(self):
        self.assertEqual(self.count('<testcase name="a" status="fail"/><testcase name="b" status="run"/>'),
                         (1, "1 passed, 1 failed"))

    def test_lit_counts_as_its_files(self):
        output = "Total Discovered Tests: 5\n  Unsupported: 1 (20.00%)\n  Passed     : 4 (80.00%)\n"
        self.assertEqual(self.count(f'<testcase name="lit" status="run"><system-out>{output}</system-out></testcase>'),
                         (0, "4 passed, 0 failed, 1 skipped"))

    def test_a_unittest_counts_as_its_methods(self):
        output = "Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=1, skipped=1)\n"
        self.assertEqual(self.count(f'<testcase name="e" status="fail"><system-out>{output}</system-out></testcase>'),
                         (1, "2 passed, 2 failed, 1 skipped"))
        output = "Ran 5 tests in 0.1s\n\nOK\n"
        self.assertEqual(self.count(f'<testcase name="e" status="run"><system-out>{output}</system-out></testcase>'),
                         (0, "5 passed, 0 failed"))

    def test_a_test_that_skips_itself_is_skipped(self):
        self.assertEqual(self.count('<testcase name="a" status="run"/><testcase name="b" status="notrun">'
                                    '<skipped message="SKIP_RETURN_CODE=77"/></testcase>'),
                         (0, "1 passed, 0 failed, 1 skipped"))

    def test_a_test_that_could_not_start_is_a_failure(self):
        self.assertEqual(self.count('<testcase name="a" status="notrun"><skipped message="Unable to find"/></testcase>'),
                         (1, "0 passed, 1 failed"))

    def test_nothing_run_is_no_success(self):
        self.assertEqual(self.count(""), (1, "0 passed, 0 failed"))


if __name__ == "__main__":
    unittest.main()
