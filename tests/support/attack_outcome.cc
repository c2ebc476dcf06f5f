// SPDX-License-Identifier: Apache-2.0
#include "tests/support/attack_outcome.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace tritond::tests {

int Read(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char byte;
  return file < 0 ? errno : Outcome(read(file, &byte, 1) == 1 ? 0 : -1);
}

int List(const std::string& path) {
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return errno;
  int entries = 0;
  while (readdir(folder) != nullptr) ++entries;
  return entries > 2 ? 0 : ENOENT;
}

}  // namespace tritond::tests
