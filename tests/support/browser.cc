// SPDX-License-Identifier: Apache-2.0
#include "tests/support/browser.h"

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::tests {

Browser::Browser(std::string folder) : folder_(std::move(folder)) {
  for (const char* path : {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"}) {
    if (program_.empty() && access(path, X_OK) == 0) program_ = path;
  }
}

std::string Browser::Dump(const std::string& url) const {
  // Its sandbox wants rights that containers do not give; what it shows is our own.
  const std::string command = absl::StrCat(
      "timeout 60 ", program_, " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir='",
      folder_, "' --virtual-time-budget=4000 --enable-logging=stderr --dump-dom '", url, "' 2>'", folder_, ".log'");
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string document;
  char buffer[4096];
  while (const size_t read = fread(buffer, 1, sizeof(buffer), pipe)) document.append(buffer, read);
  if (const int status = pclose(pipe); status != 0) {
    std::cerr << program_ << " ended with " << status << ", see " << folder_ << ".log\n";
    return "";
  }
  return document;
}

std::string Browser::DumpWith(const std::string& text, const std::string& url) const {
  std::string page;
  for (int i = 0; i < 5 && page.find(text) == std::string::npos; ++i) page = Dump(url);
  return page;
}

}  // namespace tritond::tests
