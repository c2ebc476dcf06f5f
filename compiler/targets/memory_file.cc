// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/memory_file.h"

#include <errno.h>
#include <sys/mman.h>

namespace tritond::compiler {

int CreateMemoryFile(const char* name) {
  constexpr unsigned kNoExecSeal = 0x0008U;  // MFD_NOEXEC_SEAL, which glibc 2.36 does not name
  const int file = memfd_create(name, MFD_CLOEXEC | kNoExecSeal);
  return file >= 0 || errno != EINVAL ? file : memfd_create(name, MFD_CLOEXEC);
}

}  // namespace tritond::compiler
