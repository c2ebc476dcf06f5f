#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the page's scripts that touch no document, NAME.js by NAME_test.js, in Chromium. Exit status 1 when one fails,
77 where there is no Chromium."""
import html
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = """<!doctype html><meta charset="utf-8"><pre id="report"></pre><script>
const report = [];
function equal(got, wanted) {
  if (JSON.stringify(got) !== JSON.stringify(wanted)) throw new Error('got ' + JSON.stringify(got) + ', not ' + JSON.stringify(wanted));
}
function test(name, body) {
  try { body(); report.push('ok ' + name); } catch (error) { report.push('FAILED ' + name + ': ' + error.message); }
}
onerror = message => { report.push('FAILED ' + message); show(); };
function show() { document.getElementById('report').textContent = report.join('\\n') + '\\nend'; }
</script><script>%s</script><script>%s</script><script>show();</script>"""


def outcome(browser, name):
    """The lines that the tests of one script report."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "tests.html"
        scripts = [(FOLDER / one).read_text(encoding="utf-8").replace("</script", "<\\/script") for one in (f"{name}.js", f"{name}_test.js")]
        page.write_text(PAGE % tuple(scripts), encoding="utf-8")
        done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={folder}/profile",
                               "--virtual-time-budget=10000", "--dump-dom", page.as_uri()], capture_output=True, text=True, check=False, timeout=120)
    report = re.search(r'<pre id="report">(.*?)</pre>', done.stdout, re.DOTALL)
    return html.unescape(report.group(1)).split("\n") if report else ["FAILED: the browser shows no report: " + done.stderr[-500:]]


def main():
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        print("run_tests: skipped, no Chromium (Debian: apt-get install chromium)")
        return 77
    lines = [line for path in sorted(FOLDER.glob("*_test.js")) for line in outcome(browser, path.name[:-len("_test.js")])]
    print("\n".join(lines))
    scripts = len(list(FOLDER.glob("*_test.js")))
    return 0 if lines.count("end") == scripts and not any(line.startswith("FAILED") for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
