// SPDX-License-Identifier: Apache-2.0
// Runs random kernels on the machine's devices and prints those that go wrong; exit status 1 when there are any.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "tests/conformance/random_kernel.h"

int main(int argc, char** argv) {
  using namespace tritond::conformance;
  CLI::App app{"Random kernels on every device, compared with the evaluator."};
  std::string seeds = "0:1000", options;
  int steps = 0;
  bool shorten = true, gathers = false, orders = false;
  app.add_option("--seeds", seeds, "FIRST:END, or one")->capture_default_str();
  app.add_option("--steps", steps, "of a kernel; 0: different ones")->capture_default_str();
  app.add_option("--options", options, "of each compile, for example '\"num_stages\": 2, \"ptx_options\": \"-O1\"'");
  app.add_flag("--gathers", gathers, "kernels that begin with products of tiles that lie where tables say");
  app.add_flag("--orders", orders, "kernels of loops whose accesses may meet")->excludes("--gathers");
  app.add_flag("!--as-is", shorten, "print the kernel of the seed, not a shorter one");
  CLI11_PARSE(app, argc, argv);
  const std::vector<std::string> range = absl::StrSplit(seeds, ':');
  uint64_t first = 0, end = 0;
  bool is_range = absl::SimpleAtoi(range.front(), &first) && absl::SimpleAtoi(range.back(), &end);
  if (!is_range || range.size() > 2) return std::fprintf(stderr, "--seeds takes FIRST:END\n"), 2;
  if (range.size() == 1) end = first + 1;
  using tritond::tests::Theme;
  const Theme theme = gathers ? Theme::kGathers : orders ? Theme::kOrders : Theme::kAny;
  std::map<Verdict, int> counts;
  for (uint64_t seed = first; seed < end; ++seed) {
    Machine machine = MachineFor(static_cast<int>(seed % 1000003));
    int length = steps ? steps : static_cast<int>(4 + seed % 16);
    Trial trial = shorten ? TryAndShorten(machine, seed, length, options, theme)
                          : TryKernel(machine, seed, length, options, theme);
    ++counts[trial.verdict];
    if (trial.verdict == Verdict::kWrong) std::printf("%s\n", trial.explanation.c_str());
    if (trial.verdict == Verdict::kUnsupported)
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), trial.explanation.c_str());
    std::fflush(stdout);
  }
  std::printf("%d the same, %d unsupported, %d wrong\n", counts[Verdict::kSame], counts[Verdict::kUnsupported],
              counts[Verdict::kWrong]);
  return counts[Verdict::kWrong] ? 1 : 0;
}
