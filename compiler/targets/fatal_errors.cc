// SPDX-License-Identifier: Apache-2.0
// LLVM is built without exceptions and calls a handler before it aborts. The handler jumps back over its frames, none
// of which holds a lock: back ends work on the one thread with data of their own.
#include "compiler/targets/fatal_errors.h"

#include <csetjmp>
#include <string>

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"

namespace tritond::compiler {
namespace {

struct Landing {
  std::jmp_buf place;
  std::string message;
};

void Land(void* data, const char* reason, bool) {
  auto* landing = static_cast<Landing*>(data);
  landing->message = reason;
  std::longjmp(landing->place, 1);
}

}  // namespace

absl::Status CatchFatalErrors(llvm::function_ref<void()> work) {
  Landing landing;
  llvm::ScopedFatalErrorHandler handler(Land, &landing);
  // The frames that are jumped over are on a list of the thread, for reports of crashes.
  const void* frames = llvm::SavePrettyStackState();
  if (setjmp(landing.place)) {
    llvm::RestorePrettyStackState(frames);
    return absl::InternalError(landing.message);
  }
  work();
  return absl::OkStatus();
}

}  // namespace tritond::compiler
