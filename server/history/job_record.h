// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_HISTORY_JOB_RECORD_H_
#define SERVER_HISTORY_JOB_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// What is known of a compile that has ended: what the scheduler knows, and what its worker said.
// What a kernel takes of the device, as its compiler tells; nothing where it does not.
struct KernelResources {
  std::optional<uint64_t> shared_bytes;            // shared memory of a block
  std::optional<uint64_t> registers, local_bytes;  // of a thread; local memory holds what registers do not
  std::optional<uint64_t> warps, most_warps;       // that a multiprocessor runs at once, and has room for
  std::string limit;                               // what keeps more warps out
};

struct JobRecord {
  struct Stage {
    std::string name;  // "ttir", "ttgir", "llir", "asm", "binary"
    absl::Duration wall;
  };
  // A stored representation of the kernel.
  struct Text {
    std::string stage, format, digest;
    uint64_t size_bytes = 0;
  };
  FinishedJob job;
  std::vector<Stage> stages;             // in the order in which they ran
  std::vector<Text> texts;               // of the stages that were asked for
  std::string request;                   // digest of the stored request, which holds the input's text; "": none
  std::string input;                     // the request's stage
  std::vector<std::string> diagnostics;  // may quote the kernel
  std::string reason;                    // of a failure: "COMPILE_FAILED", "QUARANTINED", …
  std::string build_id;
  std::string signer;              // id of the key that signed its result; "": no result, or not known
  bool recalled = false;           // the worker found that it was made before, in another spelling
  double cpu_seconds = 0;          // 0: not known
  uint64_t peak_memory_bytes = 0;  // of its worker; 0: not known
  KernelResources resources;
  // Another daemon of the cluster that compiled it; stages, times, memory and the worker are what it was there.
  std::string followed;
};

}  // namespace tritond::server

#endif  // SERVER_HISTORY_JOB_RECORD_H_
