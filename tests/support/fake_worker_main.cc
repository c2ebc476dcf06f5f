// SPDX-License-Identifier: Apache-2.0
// triton-worker-fake: the real worker around a fake compiler, so that tests of the service need no LLVM. Its build id
// is the name that it is called by.
#include <string>

#include "tests/support/fake_compiler.h"
#include "tests/support/inject_fault.h"
#include "workers/runner/command_line.h"

#ifdef __SANITIZE_ADDRESS__
// AddressSanitizer asks. Its search for leaks is a debugger's work, which the sandbox of a worker forbids.
extern "C" int __lsan_is_turned_off() { return 1; }
#endif

int main(int argc, char** argv) {
  const std::string path = argv[0];
  const std::string build_id = "fake-build " + path.substr(path.rfind('/') + 1);
  return tritond::workers::WorkerMain(
      argc, argv, [&] { return std::make_unique<tritond::tests::FakeCompiler>(build_id); },
      tritond::tests::InjectFault);
}
