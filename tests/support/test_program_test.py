#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The names that a program of many tests takes: test_program_test.py PROGRAM FILE OTHER_FILE"""
import subprocess
import sys
import unittest

PROGRAM, FILE, OTHER = sys.argv[1:4]


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], text=True, capture_output=True, check=False)


def listed(*arguments):
    """The names of the tests that would run."""
    names, suite = set(), ""
    for line in run(*arguments, "--gtest_list_tests").stdout.splitlines():
        text = line.split("#")[0]
        if text.startswith(" "):
            names.add(suite + text.strip())
        else:
            suite = text.strip()
    return names


class TestProgram(unittest.TestCase):
    def test_runs_the_files_that_it_is_given(self):
        one, other, both = listed(FILE), listed(OTHER), listed(FILE, OTHER)
        self.assertTrue(one)
        self.assertTrue(other)
        self.assertFalse(one & other)
        self.assertEqual(one | other, both)
        self.assertLess(both, listed())

    def test_keeps_to_the_filter_as_well(self):
        name = min(listed(FILE))
        self.assertEqual(listed(FILE, f"--gtest_filter={name}"), {name})
        self.assertEqual(listed(FILE, f"--gtest_filter=*-{name}"), listed(FILE) - {name})
        self.assertEqual(listed(OTHER, f"--gtest_filter={name}"), set())

    def test_a_file_without_tests_is_an_error(self):
        done = run(FILE, "no/such_test")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "no test of this program is in no/such_test.cc\n")
        self.assertEqual(done.stdout, "")

    def test_a_name_starts_at_a_folder(self):
        self.assertEqual(run(FILE[1:]).returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
