// SPDX-License-Identifier: Apache-2.0
// How a program executes instructions of emulated GPUs: alone, or when all lanes of the warp have come.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "workers/device/host_cluster.h"
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
  const char* PeekSharedAsync(int thread, const TritondHostSite* site, uint64_t address, uint64_t bytes,
                              emulated::Fault* fault) override {
    char* at = PointerTo(address);
    *fault = program_.shared_.PeekAsync(thread, site, at, bytes);
    return at;
  }
  char* AccessGlobal(const TritondHostSite* site, uint64_t address, uint64_t bytes, uint32_t kind,
                     emulated::Fault* fault) override {
    const MemoryMap& memory = *program_.launch_.memory;
    const bool reads_words = program_.launch_.reads_whole_words && (kind & 3) == TRITOND_HOST_READ;
    if (memory.Find(address, bytes) == nullptr && !(reads_words && memory.HoldsPartOfWord(address, bytes)))
      *fault = absl::StrCat("out of bounds: ", bytes, " bytes ", program_.launch_.memory->Describe(address, bytes));
    return reinterpret_cast<char*>(address);
  }
  char* ReceiveShared(const TritondHostSite* site, uint64_t address, uint64_t bytes, emulated::Fault* fault) override {
    char* at = PointerTo(address);
    *fault = program_.shared_.Receive(site, at, bytes);
    return at;
  }
  char* StartReceiving(int thread, const TritondHostSite* site, uint64_t address, uint64_t bytes,
                       emulated::Fault* fault) override {
    char* at = PointerTo(address);
    *fault = program_.shared_.Access(thread, site, at, bytes, SharedMemory::kBulkCopied);
    return at;
  }
  emulated::BulkCopies& Copies() override { return program_.copies_; }
  emulated::TensorMapLog& Maps() override { return program_.maps_; }
  void Release(int thread, emulated::ReleaseClocks::Times* times) override { program_.shared_.Release(thread, times); }
  void Acquire(int thread, const emulated::ReleaseClocks::Times& times) override {
    program_.shared_.Acquire(thread, times);
  }
  emulated::Moment Now(int thread) override { return program_.shared_.Now(thread); }
  bool Knows(int thread, const emulated::Moment& moment) override { return program_.shared_.Knows(thread, moment); }
  emulated::TensorMemory& Tensors() override { return program_.tensors_; }
  void FenceAsyncProxy(int thread) override { program_.shared_.FenceAsync(thread); }
  emulated::AsynchronousProducts& ProductsOf(int thread) override {
    return program_.warps_[thread / program_.launch_.warp_size].products;
  }
  void StartCopy(int thread, const TritondHostSite* site, uint64_t to, uint64_t from, uint32_t bytes, uint32_t read,
                 emulated::Fault* fault) override {
    const Copy copy = {site, PointerTo(to), reinterpret_cast<const char*>(from), bytes, read};
    *fault = program_.shared_.Access(thread, site, copy.to, bytes, SharedMemory::kCopied);
    if (!*fault && to % 4 != 0) *fault = absl::StrCat("misaligned address: ", bytes, " bytes at 0x", absl::Hex(to));
    if (!*fault && read > 0) AccessGlobal(site, from, read, TRITOND_HOST_READ, fault);
    if (!*fault) program_.Start(program_.threads_[thread], copy);
  }
  void CommitCopies(int thread) override { Commit(program_.threads_[thread]); }
  void WaitForCopies(int thread, uint32_t pending, emulated::Fault* fault) override {
    *fault = program_.Finish(program_.threads_[thread], pending);
  }
  bool& HasSignalled(int thread) override { return program_.threads_[thread].has_signalled; }
  uint64_t StartedCopies(int thread) override { return program_.threads_[thread].started; }
  emulated::Fault FinishCopies(int thread, uint64_t started) override {
    return program_.FinishFirst(program_.threads_[thread], started);
  }
  void StartWithRegisters(uint32_t registers) override { program_.exchange_.StartWith(registers); }
  emulated::Fault SetRegisters(int thread, uint32_t registers, bool more) override {
    return program_.exchange_.Set(thread / program_.launch_.warp_size, registers, more);
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

bool HostProgram::MayExecuteTogether(const emulated::Instruction& instruction, const TritondHostSite* site,
                                     const char* name, const Meeting& meeting) {
  if (meeting.lanes == 0) return MayExecute(instruction, site, name, CurrentWarp().lanes);
  std::vector<emulated::Lane> lanes = CurrentWarp().lanes;
  for (size_t l = 0; l < lanes.size(); ++l)
    if (!meeting.Takes(meeting.first + static_cast<int>(l))) lanes[l] = emulated::Lane();
  return MayExecute(instruction, site, name, lanes);
}

HostProgram::Meeting* HostProgram::MeetingFor(const emulated::Instruction& instruction, const TritondHostSite* site,
                                              const char* name, const uint64_t* in) {
  Warp& warp = CurrentWarp();
  const uint64_t all = ~uint64_t{0} >> (64 - warp.meeting.count);
  const uint64_t mask = instruction.mask_slot < 0 ? all : in[instruction.mask_slot] & 0xffffffffu;
  if (mask == all) return &warp.meeting;
  const int lane = current_ - warp.meeting.first;
  if ((mask & ~all) != 0 || (mask >> lane & 1) == 0) {
    const char* const wrong = (mask & ~all) != 0 ? ", which names lanes that do not exist" : ", which lacks it";
    Complain(absl::StatusCode::kInvalidArgument,
             absl::StrCat("lane ", lane, " executes ", Mnemonic(name), " with the member mask 0x", absl::Hex(mask),
                          wrong, ", at ", SiteText(site)));
    return nullptr;
  }
  Meeting& meeting = warp.partial[mask];
  if (meeting.count == 0) {
    meeting.first = warp.meeting.first;
    meeting.count = __builtin_popcountll(mask);
    meeting.lanes = mask;
  }
  return &meeting;
}

// PTX ISA, "bar": whole warps take part, and all of them say how many threads the barrier is for.
bool HostProgram::MayArriveAt(const PartBarrier& barrier, const TritondHostSite* site, const char* name,
                              const uint64_t* in) {
  constexpr uint64_t kBarriers = 16;
  const uint64_t number = in[0] & 0xffffffffu, threads = in[1] & 0xffffffffu;
  std::string wrong;
  if (number >= kBarriers)
    wrong = absl::StrCat("there is no barrier ", number);
  else if (threads == 0 || threads % launch_.warp_size != 0 || threads > static_cast<uint64_t>(launch_.threads))
    wrong = absl::StrCat("a barrier for ", threads, " threads, of a program with ", launch_.threads);
  else if ((barrier.arrived > 0 || !barrier.lanes.empty()) && barrier.expected != threads)
    wrong = absl::StrCat("barrier ", number, " is for ", barrier.expected, " threads, and here for ", threads);
  return wrong.empty() || Complain(absl::StatusCode::kInvalidArgument,
                                   absl::StrCat(wrong, ", in ", Mnemonic(name), " at ", SiteText(site)));
}

void HostProgram::ArriveAt(const emulated::Instruction& instruction, const TritondHostSite* site, const char* name,
                           const uint64_t* in) {
  const bool is_of_all = (in[0] & 0xffffffffu) == 0 && (in[1] & 0xffffffffu) == static_cast<uint64_t>(launch_.threads);
  if (is_of_all && instruction.waits) return Barrier(site);
  PartBarrier& barrier = barriers_[in[0] & 0xffffffffu];
  if (!MaySettle() || !MayArriveAt(barrier, site, name, in)) return Suspend();
  barrier.expected = in[1] & 0xffffffffu;
  const int warp = current_ / launch_.warp_size;
  PartBarrier::Lanes& lanes = barrier.lanes[warp];
  shared_.Release(current_, &lanes.told);
  if (instruction.waits) lanes.waiting.push_back(current_);
  if (++lanes.count == warps_[warp].meeting.count && Arrive(barrier, warp)) return;
  if (!instruction.waits) return;
  threads_[current_].wait = Wait::kPartBarrier;
  threads_[current_].site = site;
  Suspend();
}

// The warp's lanes have all come. True where it was the last one.
bool HostProgram::Arrive(PartBarrier& barrier, int warp) {
  const PartBarrier::Lanes lanes = std::move(barrier.lanes[warp]);
  barrier.lanes.erase(warp);
  emulated::ReleaseClocks::Join(&barrier.told, lanes.told);
  barrier.waiting.insert(barrier.waiting.end(), lanes.waiting.begin(), lanes.waiting.end());
  barrier.arrived += launch_.warp_size;
  if (barrier.arrived < barrier.expected) return false;
  Complete(barrier);
  return true;
}

// PTX ISA, "barrier.cluster".
void HostProgram::StepAtCluster(emulated::ClusterStep step, const TritondHostSite* site) {
  if (!MaySettle()) return Suspend();
  Thread& thread = threads_[current_];
  polls_ = 0;
  if (step == emulated::ClusterStep::kArrive) {
    thread.cluster_phase = cluster_.phase();
    return cluster_.Arrive();
  }
  if (thread.cluster_phase < cluster_.phase()) return;
  thread.wait = Wait::kCluster;
  thread.site = site;
  at_cluster_.push_back(current_);
  Suspend();
}

void HostProgram::PassClusterBarrier() {
  for (int thread : at_cluster_) {
    threads_[thread].wait = Wait::kNothing;
    ready_[(ready_begin_ + ready_count_) % ready_.size()] = thread;
    ++ready_count_;
  }
  at_cluster_.clear();
}

void HostProgram::Complete(PartBarrier& barrier) {
  uint64_t warps = 0;
  for (int thread : barrier.waiting) {
    shared_.Acquire(thread, barrier.told);
    warps |= uint64_t{1} << (thread / launch_.warp_size);
    threads_[thread].wait = Wait::kNothing;
    if (thread == current_) continue;
    ready_[(ready_begin_ + ready_count_) % ready_.size()] = thread;
    ++ready_count_;
  }
  for (int warp = 0; warp < static_cast<int>(warps_.size()); ++warp)
    if ((warps >> warp & 1) != 0) shared_.PassWarpBarrier(warp);
  PartBarrier next;
  next.expected = barrier.expected;
  next.lanes = std::move(barrier.lanes);
  barrier = std::move(next);
  polls_ = 0;
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
  if (instruction->is_barrier) return ArriveAt(*instruction, site, name, in);
  if (instruction->cluster != emulated::ClusterStep::kNone) return StepAtCluster(instruction->cluster, site);
  const emulated::Lane lane = {current_, in, out};
  if (instruction->order_slot >= 0) return Gather(*instruction, site, name, lane);
  if (!instruction->is_collective) {
    if (!MayExecute(*instruction, site, name, {&lane, 1})) return Suspend();
    if (instruction->is_poll && (out[0] & 1) == 0) return Poll(site);
    if (!instruction->is_arithmetic) polls_ = 0;
    return;
  }
  Meeting* meeting = MeetingFor(*instruction, site, name, in);
  if (meeting == nullptr) return Suspend();
  CurrentWarp().lanes[current_ - meeting->first] = lane;
  threads_[current_].instruction = name;
  const bool is_last = Meet(*meeting, Wait::kInstruction, site);
  threads_[current_].instruction = nullptr;
  if (is_last && !MayExecuteTogether(*instruction, site, name, *meeting)) Suspend();
}

void HostProgram::Gather(const emulated::Instruction& instruction, const TritondHostSite* site, const char* name,
                         const emulated::Lane& lane) {
  if (!MaySettle()) return Suspend();
  Warp& warp = CurrentWarp();
  Thread& thread = threads_[current_];
  warp.lanes[current_ - warp.meeting.first] = lane;
  thread.wait = Wait::kOthersOfWarp;
  thread.site = site;
  thread.instruction = name;
  thread.order = lane.in[instruction.order_slot];
  if (++warp.gathered < warp.meeting.count || !HasGathered(warp)) return Suspend();
  // It queues with the others, whether or not it is the first one of them, which is the current thread now.
  RunGathered(warp);
  thread.fiber->Suspend();
}

// Whether all lanes have come to one call.
bool HostProgram::HasGathered(const Warp& warp) const {
  const uint64_t order = threads_[warp.meeting.first].order;
  for (int i = warp.meeting.first; i < warp.meeting.first + warp.meeting.count; ++i)
    if (threads_[i].order != order) return false;
  return true;
}

bool HostProgram::RunGathered(Warp& warp) {
  const int first = warp.meeting.first;
  const Thread* earliest = nullptr;
  for (int i = first; i < first + warp.meeting.count; ++i)
    if (threads_[i].wait == Wait::kOthersOfWarp && (!earliest || threads_[i].order < earliest->order))
      earliest = &threads_[i];
  const uint64_t order = earliest->order;
  std::vector<emulated::Lane> lanes(warp.meeting.count);
  for (int i = 0; i < warp.meeting.count; ++i) {
    lanes[i].thread = first + i;
    if (threads_[first + i].wait == Wait::kOthersOfWarp && threads_[first + i].order == order) lanes[i] = warp.lanes[i];
  }
  current_ = earliest->index;
  polls_ = 0;
  const char* const name = earliest->instruction;
  const TritondHostSite* const site = earliest->site;
  const emulated::Instruction* instruction = InstructionNamed(name);
  if (instruction == nullptr || !MayExecute(*instruction, site, name, lanes)) return false;
  for (int i = 0; i < warp.meeting.count; ++i) {
    if (lanes[i].in == nullptr) continue;
    threads_[first + i].wait = Wait::kNothing;
    threads_[first + i].instruction = nullptr;
    --warp.gathered;
    ready_[(ready_begin_ + ready_count_) % ready_.size()] = first + i;
    ++ready_count_;
  }
  return true;
}

bool HostProgram::RunAnyGathered() {
  for (Warp& warp : warps_)
    if (warp.gathered > 0 && RunGathered(warp)) return true;
  return false;
}

}  // namespace tritond::workers
