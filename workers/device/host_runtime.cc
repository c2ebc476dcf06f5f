// SPDX-License-Identifier: Apache-2.0
// The functions of host_abi.h. They carry no context of their own, so each system thread remembers whose code it runs.
#include <cstdarg>
#include <cstdio>
#include <string>

#include "workers/device/host_program.h"

namespace tritond::workers {
namespace {

thread_local HostProgram* running = nullptr;

int32_t ThreadId() { return running->ThreadId(); }
int32_t ProgramId(int32_t axis) { return running->ProgramId(axis); }
int32_t NumPrograms(int32_t axis) { return running->NumPrograms(axis); }
void* Shared() { return running->Shared(); }
void Barrier(const TritondHostSite* site) { running->Barrier(site); }
void WarpBarrier(const TritondHostSite* site) { running->WarpBarrier(site); }
uint32_t Shuffle(const TritondHostSite* site, uint32_t value, uint32_t lane) {
  return running->Shuffle(site, value, lane);
}
void CheckAccess(const TritondHostSite* site, const void* address, uint64_t bytes, uint32_t kind) {
  running->CheckAccess(site, address, bytes, kind);
}
void Fail(const TritondHostSite* site, const char* message) { running->Fail(site, message); }
void AsyncCopy(const TritondHostSite* site, void* to, const void* from, uint32_t bytes, uint32_t read) {
  running->AsyncCopy(site, to, from, bytes, read);
}
void AsyncCommit() { running->AsyncCommit(); }
void AsyncWait(const TritondHostSite* site, uint32_t num) { running->AsyncWait(site, num); }
void Execute(const TritondHostSite* site, const char* name, const uint64_t* in, uint64_t* out) {
  running->Execute(site, name, in, out);
}

void Print(const char* format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  if (size > 0) {
    std::string text(size + 1, '\0');
    std::vsnprintf(text.data(), text.size(), format, again);
    text.pop_back();
    running->Print(text);
  }
  va_end(again);
}

}  // namespace

RunningProgram::RunningProgram(HostProgram& program) { running = &program; }
RunningProgram::~RunningProgram() { running = nullptr; }

const TritondHostRuntime& HostRuntime() {
  static const TritondHostRuntime runtime = {
      TRITOND_HOST_ABI_VERSION,
      ThreadId,
      ProgramId,
      NumPrograms,
      Shared,
      Barrier,
      WarpBarrier,
      Shuffle,
      CheckAccess,
      Fail,
      Print,
      AsyncCopy,
      AsyncCommit,
      AsyncWait,
      Execute,
  };
  return runtime;
}

}  // namespace tritond::workers
