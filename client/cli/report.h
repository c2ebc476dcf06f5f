// SPDX-License-Identifier: Apache-2.0
// What a compile's outcome looks like: one JSON object, one line for people, or the compiler's complaints.
#ifndef CLIENT_CLI_REPORT_H_
#define CLIENT_CLI_REPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/v1/compile.pb.h"

namespace tritond::client {

struct Outcome {
  std::string name;  // of the kernel
  std::string path;  // of its IR, for places in it
  absl::StatusOr<v1::CompileResponse> response;
  absl::Duration elapsed;
  absl::string_view ir = {};  // as it was sent, for lines of it; borrowed. Empty: not at hand
  std::string target = {};    // where a run has several for a kernel
};

// {"name", "key", "cache", "artifacts": {kind: digest}, "stages_ms": {stage: ms}, "error"} on one line. "error" is null
// on success; "key" and "cache" are empty where the server did not get that far. `details` adds "cpu_s" and
// "peak_memory_bytes", null where they are not known, "worker" and "daemon". Where the outcome names its target,
// "target" is the second entry.
std::string JsonLine(const Outcome& outcome, bool details = false);

// A line for each stage with its time, then CPU time, peak memory and who made it. These are of the compile when it
// ran, which may be long ago. Empty where nothing is known.
std::string Details(const Outcome& outcome);

// "softmax  miss  84.1 ms  cubin 7.2 KiB  key 3f2a9c0de411", "softmax  cuda:90  miss  …"; "softmax  failed".
std::string TextLine(const Outcome& outcome);

// Each complaint of the compiler, "softmax.ttir:12:5: error: …", with the line of the IR and a caret where they are at
// hand. For a failure without one, the error itself. Ends with a newline unless empty.
std::string Complaints(const Outcome& outcome, bool colour = false);

// The metadata of a kernel, indented, with a newline at its end.
std::string PrettyMetadata(const v1::ActionResult& result);

// "7.2 KiB"
std::string HumanBytes(uint64_t bytes);
// The same of a figure that may not be known: "-".
std::string HumanPeak(uint64_t bytes);
// "84.1 ms", "12.3 s"
std::string HumanTime(absl::Duration duration);

}  // namespace tritond::client

#endif  // CLIENT_CLI_REPORT_H_
