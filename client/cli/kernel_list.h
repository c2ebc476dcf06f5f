// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_KERNEL_LIST_H_
#define CLIENT_CLI_KERNEL_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/kernel_request.h"

namespace tritond::client {

// The kernels of a folder and the folders in it: every NAME.ttir, and every NAME.ttgir without a NAME.ttir beside it.
// Their options are in NAME.json, if that file is there. Sorted by name. A kernel's name is its path in the folder,
// without the extension. So a TRITON_CACHE_DIR of Triton's is such a folder: its JSON files name the kernels' targets
// too. `skip`, if it lies in the folder, is passed over; links to folders are not followed.
//
// Or those of a manifest, a file with one JSON object a line:
//
//   {"file": "softmax.ttir", "name": "softmax", "options": {"num_warps": 8}, "target": "cuda:90"}
//
// `file` is relative to the manifest. The others may be missing. The name is then the file's, `options` the JSON beside
// it (or it names an options file), the target the flag's. Empty lines and lines that begin with # are skipped.
//
// InvalidArgument, naming the file and line, when something cannot be read, nothing is found, or two kernels share a
// name.
absl::StatusOr<std::vector<Kernel>> ListKernels(const std::string& path, const std::string& skip);

}  // namespace tritond::client

#endif  // CLIENT_CLI_KERNEL_LIST_H_
