// SPDX-License-Identifier: Apache-2.0
// How a program executes instructions of emulated GPUs: alone, or when all lanes of the warp have come.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "workers/device/host_program.h"

namespace tritond::workers {
namespace {

// Addresses below this are offsets in the window of shared memory.
constexpr uint64_t kWindowBytes = 256 << 10;

// "mma.sync.aligned…" of "ptx:mma.sync.aligned… 4 4 2 4".
std::string Mnemonic(absl::string_view name) {
  name = name.substr(0, name.find(' '));
  return absl::StrReplaceAll(name.substr(name.find(':') + 1), {{"/", "."}});
}

}  // namespace

class HostProgram::Registers final : public emulated::Machine {
 public:
  explicit Registers(HostProgram& program) : program_(program) {}

  char* AccessShared(int thread, const TritondHostSite* site, uint64_t address, uint64_t bytes, uint32_t kind,
                     emulated::Fault* fault) override {
    char* at = PointerTo(address);
    *fault = program_.shared_.Access(thread, site, at, bytes, kind | TRITOND_HOST_SHARED);
    return at;
  }
  const char* ReadSharedAsync(int thread, const TritondHostSite* site, uint64_t address, uint64_t bytes,
                              emulated::Fault* fault) override {
    char* at = PointerTo(address);
    *fault = program_.shared_.ReadAsync(thread, site, at, bytes);
    return at;
  }
  char* AccessGlobal(const TritondHostSite* site, uint64_t address, uint64_t bytes, uint32_t kind,
                     emulated::Fault* fault) override {
    if (program_.launch_.memory->Find(address, bytes) == nullptr)
      *fault = absl::StrCat("out of bounds: ", bytes, " bytes ", program_.launch_.memory->Describe(address, bytes));
    return reinterpret_cast<char*>(address);
  }
  char* ReceiveShared(const TritondHostSite* site, uint64_t address, uint64_t bytes, emulated::Fault* fault) override {
    char* at = PointerTo(address);
    *fault = program_.shared_.Receive(site, at, bytes);
    return at;
  }
  emulated::BulkCopies& Copies() override { return program_.copies_; }
  void FenceAsyncProxy(int thread) override { program_.shared_.FenceAsync(thread); }
  emulated::AsynchronousProducts& ProductsOf(int thread) override {
    return program_.warps_[thread / program_.launch_.warp_size].products;
  }
  void Print(absl::string_view text) override { program_.Print(text); }

 private:
  char* PointerTo(uint64_t address) const {
    return address < kWindowBytes ? program_.shared_.data() + address : reinterpret_cast<char*>(address);
  }

  HostProgram& program_;
};

std::unique_ptr<emulated::Machine> HostProgram::MakeRegisters() { return std::make_unique<Registers>(*this); }

const emulated::Instruction* HostProgram::InstructionNamed(const char* name) {
  const auto known = instructions_.find(name);
  if (known != instructions_.end()) return &known->second;
  auto found = emulated::FindInstruction(name);
  if (found.ok()) return &(instructions_[name] = *std::move(found));
  Complain(found.status().code(), found.status().message());
  return nullptr;
}

bool HostProgram::MayExecute(const emulated::Instruction& instruction, const TritondHostSite* site, const char* name,
                             absl::Span<const emulated::Lane> lanes) {
  const emulated::Fault fault = instruction.run({*registers_, site, lanes});
  if (!fault) return true;
  return Complain(absl::StatusCode::kInvalidArgument,
                  absl::StrCat(*fault, ", in ", Mnemonic(name), " at ", SiteText(site)));
}

// What somebody waits for comes only when nobody else can go on: when every thread that is ready has asked in vain.
bool HostProgram::MayPoll(const TritondHostSite* site) {
  if (++polls_ <= static_cast<int>(ready_count_) + 1) return true;
  polls_ = 0;
  if (!copies_.HasLoads())
    return Complain(absl::StatusCode::kInvalidArgument,
                    absl::StrCat("threads wait for an mbarrier that nobody completes, at ", SiteText(site)));
  const emulated::Fault fault = copies_.FinishLoad();
  return !fault || Complain(absl::StatusCode::kInvalidArgument, absl::StrCat(*fault, ", at ", SiteText(site)));
}

void HostProgram::Poll(const TritondHostSite* site) {
  if (!MayGoOn() || !MaySettle() || !MayPoll(site)) return Suspend();
  ready_[(ready_begin_ + ready_count_) % ready_.size()] = current_;
  ++ready_count_;
  Suspend();
}

void HostProgram::Execute(const TritondHostSite* site, const char* name, const uint64_t* in, uint64_t* out) {
  const emulated::Instruction* instruction = MayGoOn() ? InstructionNamed(name) : nullptr;
  if (instruction == nullptr) return Suspend();
  const emulated::Lane lane = {current_, in, out};
  if (!instruction->is_collective) {
    if (!MayExecute(*instruction, site, name, {&lane, 1})) return Suspend();
    if (instruction->is_poll && (out[0] & 1) == 0) return Poll(site);
    polls_ = 0;
    return;
  }
  Warp& warp = CurrentWarp();
  warp.lanes[current_ - warp.meeting.first] = lane;
  threads_[current_].instruction = name;
  const bool is_last = Meet(warp.meeting, Wait::kInstruction, site);
  threads_[current_].instruction = nullptr;
  if (is_last && !MayExecute(*instruction, site, name, warp.lanes)) Suspend();
}

}  // namespace tritond::workers
