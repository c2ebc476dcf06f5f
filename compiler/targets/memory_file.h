// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_MEMORY_FILE_H_
#define COMPILER_TARGETS_MEMORY_FILE_H_

namespace tritond::compiler {

// A new file in memory, closed on exec, which others open as /proc/self/fd/N. It cannot be run as a program where the
// kernel knows such files (Linux 6.3); the sandbox of workers permits no others there. -1 with errno set: no memory, or
// too many open files.
int CreateMemoryFile(const char* name);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_MEMORY_FILE_H_
