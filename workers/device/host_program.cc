// SPDX-License-Identifier: Apache-2.0
#include "workers/device/host_program.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "timing/steady/steady_time.h"
#include "workers/device/host_cluster.h"

namespace tritond::workers {
namespace {

// What the place of a copy in flight holds.
constexpr int kInFlight = 0x5A;
constexpr int kClusterAxis = 3;  // host_abi.h

}  // namespace

const char* HostProgram::WaitText(Wait wait) {
  static const char* const kTexts[] = {"nothing",
                                       "a barrier",
                                       "a barrier of its warp",
                                       "a shuffle",
                                       "an instruction of its warp",
                                       "a barrier of some threads",
                                       "an instruction of its warp",
                                       "a barrier of the cluster"};
  return kTexts[static_cast<int>(wait)];
}

void HostLaunch::Fail(absl::Status why) {
  absl::MutexLock lock(&mu);
  if (status.ok()) status = std::move(why);
  has_failed.store(true, std::memory_order_relaxed);
}

HostProgram::HostProgram(HostLaunch& launch, StackPool& stacks, HostCluster& cluster, int rank)
    : launch_(launch),
      stacks_(stacks),
      cluster_(cluster),
      rank_(rank),
      shared_(launch.shared_bytes, launch.threads, launch.warp_size, launch.check_uninitialized, launch.is_emulated,
              launch.copies_need_fences),
      ready_(launch.threads),
      exchange_((launch.threads + launch.warp_size - 1) / launch.warp_size) {
  for (int first = 0; first < launch.threads; first += launch.warp_size) {
    Warp warp;
    warp.meeting.first = first;
    warp.meeting.count = std::min(launch.warp_size, launch.threads - first);
    for (auto& values : warp.values) values.resize(launch.warp_size);
    warp.lanes.resize(warp.meeting.count);
    warps_.push_back(std::move(warp));
  }
  all_.count = launch.threads;
  registers_ = MakeRegisters();
}

HostProgram::~HostProgram() = default;

absl::Status HostProgram::MakeThreads() {
  if (shared_.data() == nullptr) return absl::ResourceExhaustedError("no memory below 4 GiB for shared memory");
  threads_.resize(launch_.threads);
  for (int i = 0; i < launch_.threads; ++i) {
    Thread& thread = threads_[i];
    thread.program = this;
    thread.index = i;
    auto stack = stacks_.Take();
    if (!stack.ok()) return stack.status();
    thread.fiber = std::make_unique<Fiber>(stacks_, *stack, &RunThread, &thread);
  }
  return absl::OkStatus();
}

// A fiber outlives its thread: it serves the thread of the same index in the next program.
void HostProgram::RunThread(void* argument) {
  Thread& thread = *static_cast<Thread*>(argument);
  HostProgram& program = *thread.program;
  for (;;) {
    program.launch_.entry(program.launch_.parameters);
    if (program.MaySettle()) {
      thread.has_ended = true;
      ++program.ended_;
      program.cluster_.Leave();
    }
    thread.fiber->Suspend();
  }
}

void HostProgram::Start(uint64_t program) {
  block_index_ = program * launch_.blocks + rank_;
  program_[0] = program % launch_.grid.x;
  program_[1] = program / launch_.grid.x % launch_.grid.y;
  program_[2] = program / launch_.grid.x / launch_.grid.y;
  shared_.StartProgram();
  for (Warp& warp : warps_) {
    warp.products.Clear();
    warp.partial.clear();
    std::fill(warp.lanes.begin(), warp.lanes.end(), emulated::Lane());
    warp.gathered = 0;
  }
  copies_.Clear();
  maps_.Clear();
  tensors_.Clear();
  exchange_.Clear();
  barriers_.clear();
  at_cluster_.clear();
  ended_ = 0;
  ready_begin_ = 0;
  ready_count_ = threads_.size();
  for (Thread& thread : threads_) {
    thread.has_ended = false;
    thread.copies.clear();
    thread.groups.clear();
    thread.uncommitted = 0;
    thread.started = 0;
    thread.has_signalled = false;
    ready_[thread.index] = thread.index;
  }
}

bool HostProgram::RunReady() {
  RunningProgram running(*this);
  bool has_run = false;
  while (ready_count_ > 0 || RunAnyGathered()) {
    has_run = true;
    current_ = ready_[ready_begin_];
    ready_begin_ = ready_begin_ + 1 == ready_.size() ? 0 : ready_begin_ + 1;
    --ready_count_;
    threads_[current_].fiber->Resume();
    if (launch_.has_failed.load(std::memory_order_relaxed)) return false;
  }
  return has_run;
}

void HostProgram::End() {
  if (launch_.has_failed.load(std::memory_order_relaxed)) return;
  if (ended_ < launch_.threads) {
    Complain(absl::StatusCode::kInvalidArgument, Deadlock());
  } else if (const auto wrong = exchange_.End()) {
    Complain(absl::StatusCode::kInvalidArgument, *wrong);
  } else if (const auto unread = copies_.FinishStores()) {
    Complain(absl::StatusCode::kInvalidArgument, *unread);
  } else if (!tensors_.Clear()) {
    Complain(absl::StatusCode::kInvalidArgument, "the program ends with tensor memory that it has not given back");
  }
}

int32_t HostProgram::ProgramId(int axis) const {
  return axis == kClusterAxis ? rank_ : static_cast<int32_t>(program_[axis]);
}

int32_t HostProgram::NumPrograms(int axis) const {
  if (axis == kClusterAxis) return launch_.blocks;
  return static_cast<int32_t>(axis == 0 ? launch_.grid.x : axis == 1 ? launch_.grid.y : launch_.grid.z);
}

void HostProgram::Barrier(const TritondHostSite* site) {
  if (!Meet(all_, Wait::kBarrier, site)) return;
  shared_.PassBarrier();
  tensors_.MeetAll();
}

void HostProgram::WarpBarrier(const TritondHostSite* site) {
  if (Meet(CurrentWarp().meeting, Wait::kWarpBarrier, site)) {
    shared_.PassWarpBarrier(current_ / launch_.warp_size);
  }
}

uint32_t HostProgram::Shuffle(const TritondHostSite* site, uint32_t value, uint32_t lane) {
  Warp& warp = CurrentWarp();
  if (!MayShuffle(site, lane, warp.meeting.count)) Suspend();
  std::vector<uint32_t>& values = warp.values[warp.turn];
  values[current_ - warp.meeting.first] = value;
  if (Meet(warp.meeting, Wait::kShuffle, site)) warp.turn ^= 1;
  return values[lane];
}

void HostProgram::CheckAccess(const TritondHostSite* site, const void* address, uint64_t bytes, uint32_t kind) {
  if (!MayGoOn() || !MayAccess(site, address, bytes, kind) || !IsAligned(site, address, bytes)) Suspend();
}

void HostProgram::Fail(const TritondHostSite* site, const char* message) {
  Complain(absl::StatusCode::kAborted, absl::StrCat(SiteText(site), ": ", message));
  Suspend();
}

void HostProgram::AsyncCopy(const TritondHostSite* site, void* to, const void* from, uint32_t bytes, uint32_t read) {
  if (bytes == 0) return;
  const Copy copy = {site, static_cast<char*>(to), static_cast<const char*>(from), bytes, read};
  if (!MayGoOn() || !MayCopy(copy)) Suspend();
  Start(threads_[current_], copy);
}

void HostProgram::AsyncCommit() { Commit(threads_[current_]); }

void HostProgram::AsyncWait(const TritondHostSite* site, uint32_t num) {
  if (!MayGoOn() || !MayFinish(num)) Suspend();
}

bool HostProgram::MayFinish(uint32_t num) {
  const auto wrong = Finish(threads_[current_], num);
  return !wrong.has_value() || Complain(absl::StatusCode::kInvalidArgument, *wrong);
}

void HostProgram::Start(Thread& thread, const Copy& copy) {
  std::memset(copy.to, kInFlight, copy.bytes);
  thread.copies.push_back(copy);
  ++thread.uncommitted;
  ++thread.started;
}

void HostProgram::Commit(Thread& thread) {
  thread.groups.push_back(thread.uncommitted);
  thread.uncommitted = 0;
}

absl::optional<std::string> HostProgram::Finish(Thread& thread, uint32_t pending) {
  while (thread.groups.size() > pending) {
    for (size_t left = thread.groups.front(); left > 0; --left)
      if (auto wrong = FinishOne(thread)) return wrong;
    thread.groups.pop_front();
  }
  return absl::nullopt;
}

absl::optional<std::string> HostProgram::FinishOne(Thread& thread) {
  const Copy& copy = thread.copies.front();
  // Other threads see these bytes only from here on.
  auto wrong = shared_.Access(thread.index, copy.site, copy.to, copy.bytes, SharedMemory::kCopied);
  if (wrong.has_value()) return wrong;
  std::memcpy(copy.to, copy.from, copy.read);
  std::memset(copy.to + copy.read, 0, copy.bytes - copy.read);
  thread.copies.pop_front();
  return absl::nullopt;
}

// The groups that they are of lose them.
absl::optional<std::string> HostProgram::FinishFirst(Thread& thread, uint64_t started) {
  while (thread.started - thread.copies.size() < started) {
    const auto group = std::find_if(thread.groups.begin(), thread.groups.end(), [](size_t size) { return size > 0; });
    --(group == thread.groups.end() ? thread.uncommitted : *group);
    if (auto wrong = FinishOne(thread)) return wrong;
  }
  return absl::nullopt;
}

void HostProgram::Print(absl::string_view text) { (*launch_.print)(text); }

bool HostProgram::Meet(Meeting& meeting, Wait wait, const TritondHostSite* site) {
  if (!MayGoOn() || !MaySettle() || !MayMeet(meeting, wait, site)) Suspend();
  if (meeting.arrived == 0) meeting.first_arrived = current_;
  Thread& thread = threads_[current_];
  thread.wait = wait;
  thread.site = site;
  if (++meeting.arrived < meeting.count) {
    Suspend();
    return false;
  }
  meeting.arrived = 0;
  polls_ = 0;
  for (int i = meeting.first; i < std::min(meeting.end(), launch_.threads); ++i) {
    if (!meeting.Takes(i)) continue;
    threads_[i].wait = Wait::kNothing;
    if (i == current_) continue;
    ready_[(ready_begin_ + ready_count_) % ready_.size()] = i;
    ++ready_count_;
  }
  return true;
}

// Looks only once in a while whether another system thread has failed or the time is up.
bool HostProgram::MayGoOn() {
  if (++ticks_ % 4096 != 0) return true;
  if (launch_.has_failed.load(std::memory_order_relaxed)) return false;
  if (timing::SteadyNow() < launch_.deadline) return true;
  return Complain(absl::StatusCode::kDeadlineExceeded, "the launch has run longer than it may");
}

bool HostProgram::MaySettle() {
  const auto wrong = shared_.Settle(current_);
  return !wrong.has_value() || Complain(absl::StatusCode::kInvalidArgument, *wrong);
}

bool HostProgram::MayAccess(const TritondHostSite* site, const void* address, uint64_t bytes, uint32_t kind) {
  if ((kind & TRITOND_HOST_SHARED) || (launch_.is_emulated && shared_.Holds(address))) {
    const auto wrong = shared_.Access(current_, site, address, bytes, kind);
    return !wrong.has_value() || Complain(absl::StatusCode::kInvalidArgument, *wrong);
  }
  const uint64_t at = reinterpret_cast<uint64_t>(address);
  const bool is_near = last_range_ != nullptr && last_range_->Holds(at, bytes);
  if (const MemoryRange* range = is_near ? last_range_ : launch_.memory->Find(at, bytes)) {
    last_range_ = range;
    return MayUpdate(site, at, kind);
  }
  if (launch_.reads_whole_words && (kind & 3) == TRITOND_HOST_READ && launch_.memory->HoldsPartOfWord(at, bytes))
    return true;
  const char* const verbs[] = {"reads ", "writes ", "updates "};
  return Complain(absl::StatusCode::kInvalidArgument,
                  absl::StrCat("out of bounds: ", verbs[kind & 3], bytes, " bytes ",
                               launch_.memory->Describe(at, bytes), ", at ", SiteText(site)));
}

bool HostProgram::MayUpdate(const TritondHostSite* site, uint64_t address, uint32_t kind) {
  if (!launch_.is_emulated || (kind & 3) != TRITOND_HOST_ATOMIC) return true;
  const bool of_work_group = (kind & TRITOND_HOST_WORK_GROUP) != 0;
  return launch_.atomic_scopes.Update(address, block_index_, of_work_group) ||
         Complain(
             absl::StatusCode::kInvalidArgument,
             absl::StrCat("programs update the same place in global memory, and not all by atomic operations of the "
                          "device's scope, at ",
                          SiteText(site)));
}

bool HostProgram::MayCopy(const Copy& copy) {
  if (copy.read > copy.bytes) {
    return Complain(
        absl::StatusCode::kInvalidArgument,
        absl::StrCat("an asynchronous copy of ", copy.bytes, " bytes reads ", copy.read, ", at ", SiteText(copy.site)));
  }
  if (!MayAccess(copy.site, copy.to, copy.bytes, SharedMemory::kCopied) || !IsAligned(copy.site, copy.to, copy.bytes))
    return false;
  return copy.read == 0 ||
         (MayAccess(copy.site, copy.from, copy.read, TRITOND_HOST_READ) && IsAligned(copy.site, copy.from, copy.bytes));
}

bool HostProgram::IsAligned(const TritondHostSite* site, const void* address, uint64_t bytes) {
  const uint64_t at = reinterpret_cast<uint64_t>(address);
  if (bytes == 0 || bytes > 16 || (bytes & (bytes - 1)) != 0 || (at & (bytes - 1)) == 0) return true;
  return Complain(absl::StatusCode::kInvalidArgument,
                  absl::StrCat("misaligned address: ", bytes, " bytes at 0x", absl::Hex(at), ", at ", SiteText(site)));
}

bool HostProgram::MayShuffle(const TritondHostSite* site, uint32_t lane, int lanes) {
  if (lane < static_cast<uint32_t>(lanes)) return true;
  return Complain(absl::StatusCode::kInvalidArgument,
                  absl::StrCat("shuffle from lane ", lane, " of a warp of ", lanes, ", at ", SiteText(site)));
}

bool HostProgram::MayMeet(const Meeting& meeting, Wait wait, const TritondHostSite* site) {
  const Thread& other = threads_[meeting.first_arrived];
  if (meeting.arrived == 0 ||
      (other.wait == wait && SameSite(other.site, site) && other.instruction == threads_[current_].instruction))
    return true;
  return Complain(absl::StatusCode::kInvalidArgument,
                  absl::StrCat("threads diverge: this one waits at ", WaitText(wait), " at ", SiteText(site),
                               ", thread ", other.index, " at ", WaitText(other.wait), " at ", SiteText(other.site)));
}

bool HostProgram::Complain(absl::StatusCode code, absl::string_view what) {
  launch_.Fail(absl::Status(code, absl::StrCat("program (", program_[0], ", ", program_[1], ", ", program_[2],
                                               "), thread ", current_, ": ", what)));
  return false;
}

// Nobody can go on. Says where one thread waits, and where another is that should have come.
std::string HostProgram::Deadlock() {
  const auto waits = std::find_if(threads_.begin(), threads_.end(), [](const Thread& t) { return !t.has_ended; });
  const auto other = std::find_if(threads_.begin(), threads_.end(), [&](const Thread& t) {
    return t.has_ended || t.wait != waits->wait || !SameSite(t.site, waits->site);
  });
  current_ = waits->index;
  const std::string text =
      absl::StrCat("threads diverge: this one waits at ", WaitText(waits->wait), " at ", SiteText(waits->site));
  if (other == threads_.end()) return text;
  if (other->has_ended) return absl::StrCat(text, ", thread ", other->index, " has ended");
  return absl::StrCat(text, ", thread ", other->index, " at ", WaitText(other->wait), " at ", SiteText(other->site));
}

}  // namespace tritond::workers
