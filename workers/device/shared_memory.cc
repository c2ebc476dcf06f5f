// SPDX-License-Identifier: Apache-2.0
#include "workers/device/shared_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace tritond::workers {
namespace {

constexpr uint64_t kAlignment = 1024;
// Of the window below 4 GiB: its addresses are offsets in their lower 18 bits, which matrix descriptors hold.
constexpr uint64_t kWindowBytes = 256 << 10;
constexpr char kPoison = static_cast<char>(0xA5);

// Fresh memory below 4 GiB; null when there is none. Linux takes a flag for that on x86-64 alone. Elsewhere it follows
// a hint where the place is free.
void* MapLow(uint64_t bytes) {
#ifdef MAP_32BIT
  void* const hint = nullptr;
  constexpr int kLow = MAP_32BIT;
#else
  void* const hint = reinterpret_cast<void*>(uintptr_t{1} << 30);
  constexpr int kLow = 0;
#endif
  void* const memory = mmap(hint, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | kLow, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (reinterpret_cast<uintptr_t>(memory) + bytes <= uint64_t{1} << 32) return memory;
  munmap(memory, bytes);
  return nullptr;
}

bool SameText(const char* a, const char* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a == b || std::strcmp(a, b) == 0;
}

}  // namespace

std::string SiteText(const TritondHostSite* site) {
  const bool has_file = site != nullptr && site->file != nullptr && *site->file != '\0';
  if (!has_file && (site == nullptr || site->line == 0)) return "an unknown place";
  std::string text = has_file ? site->file : "line";
  if (site->line > 0) absl::StrAppend(&text, has_file ? ":" : " ", site->line);
  if (site->line > 0 && site->column > 0) absl::StrAppend(&text, ":", site->column);
  if (site->function != nullptr && *site->function != '\0') absl::StrAppend(&text, " (", site->function, ")");
  return text;
}

bool SameSite(const TritondHostSite* a, const TritondHostSite* b) {
  if (a == nullptr || b == nullptr || a == b) return a == b;
  return a->line == b->line && a->column == b->column && SameText(a->file, b->file) &&
         SameText(a->function, b->function);
}

SharedMemory::SharedMemory(uint64_t bytes, int threads, int warp_size, bool check_uninitialized, bool is_emulated,
                           bool copies_need_fences)
    : bytes_(bytes),
      warp_size_(warp_size),
      check_uninitialized_(check_uninitialized),
      copies_need_fences_(copies_need_fences),
      storage_(is_emulated ? 0 : bytes + kAlignment),
      log_(bytes),
      warp_epochs_(threads / warp_size + 1, 1),
      clocks_(threads, warp_size) {
  if (is_emulated) {
    window_ = MapLow(2 * kWindowBytes);
    proxies_ = std::make_unique<ProxyLog>(bytes, warp_size, clocks_);
  }
  char* const memory = is_emulated ? static_cast<char*>(window_) : storage_.data();
  const uintptr_t start = reinterpret_cast<uintptr_t>(memory), alignment = is_emulated ? kWindowBytes : kAlignment;
  data_ = memory == nullptr ? nullptr : memory + (alignment - start % alignment) % alignment;
}

SharedMemory::~SharedMemory() {
  if (window_ != nullptr) munmap(window_, 2 * kWindowBytes);
}

void SharedMemory::StartProgram() {
  if (epoch_ > UINT32_MAX / 2) {
    std::fill(log_.begin(), log_.end(), Byte());
    epoch_ = 0;
  }
  first_epoch_ = ++epoch_;
  suspicions_.clear();
  clocks_.Clear();
  if (proxies_) proxies_->Clear();
  if (bytes_ > 0) std::memset(data_, kPoison, bytes_);
}

absl::optional<std::string> SharedMemory::Access(int thread, const TritondHostSite* site, const void* address,
                                                 uint64_t bytes, uint32_t kind) {
  const uint64_t offset = static_cast<uint64_t>(static_cast<const char*>(address) - data_);
  if (offset > bytes_ || bytes > bytes_ - offset) {
    return absl::StrCat("access of ", bytes, " bytes at byte ", static_cast<int64_t>(offset), " of the program's ",
                        bytes_, " bytes of shared memory, at ", SiteText(site));
  }
  const uint32_t what = kind & 3;
  for (uint64_t i = offset; i < offset + bytes; ++i) {
    auto wrong =
        what == TRITOND_HOST_READ ? Read(thread, site, i) : Write(thread, site, i, what == TRITOND_HOST_ATOMIC);
    if (wrong.has_value()) return wrong;
  }
  if (proxies_ && (kind == kBulkCopied || (kind == kCopied && !copies_need_fences_))) {
    proxies_->Forget(offset, bytes);
  } else if (proxies_ && what != TRITOND_HOST_READ) {
    proxies_->Wrote(thread, site, offset, bytes, epoch_);
  }
  return absl::nullopt;
}

absl::optional<std::string> SharedMemory::ReadAsync(int thread, const TritondHostSite* site, const void* address,
                                                    uint64_t bytes) {
  if (auto wrong = Access(thread, site, address, bytes, TRITOND_HOST_READ | TRITOND_HOST_SHARED)) return wrong;
  const uint64_t offset = static_cast<uint64_t>(static_cast<const char*>(address) - data_);
  return proxies_ ? proxies_->Read(thread, site, offset, bytes, epoch_) : absl::nullopt;
}

absl::optional<std::string> SharedMemory::PeekAsync(int thread, const TritondHostSite* site, const void* address,
                                                    uint64_t bytes) {
  const uint64_t offset = static_cast<uint64_t>(static_cast<const char*>(address) - data_);
  if (offset > bytes_ || bytes > bytes_ - offset)
    return absl::StrCat("a read of byte ", static_cast<int64_t>(offset), " of the program's ", bytes_,
                        " bytes of shared memory, at ", SiteText(site));
  for (uint64_t i = offset; i < offset + bytes; ++i)
    if (auto wrong = CheckRead(thread, site, i)) return wrong;
  return proxies_ ? proxies_->Read(thread, site, offset, bytes, epoch_) : absl::nullopt;
}

absl::optional<std::string> SharedMemory::Receive(const TritondHostSite* site, const void* address, uint64_t bytes) {
  const uint64_t offset = static_cast<uint64_t>(static_cast<const char*>(address) - data_);
  if (offset > bytes_ || bytes > bytes_ - offset)
    return absl::StrCat("a copy to byte ", static_cast<int64_t>(offset), " of the program's ", bytes_,
                        " bytes of shared memory, at ", SiteText(site));
  for (uint64_t i = offset; i < offset + bytes; ++i) {
    log_[i].write = Touch();
    log_[i].write.epoch = first_epoch_;
    log_[i].write.site = site;
  }
  if (proxies_) proxies_->Forget(offset, bytes);
  return absl::nullopt;
}

void SharedMemory::Release(int thread, emulated::ReleaseClocks::Times* times) {
  if (!has_released_) {
    // Nobody has released anything: all accesses so far have the same marks.
    marks_.resize(MarkIndex(bytes_, false, 0));
    for (size_t i = 0; i < marks_.size(); ++i) marks_[i] = clocks_.Mark(static_cast<int>(i % clocks_.warps()));
    has_released_ = true;
  }
  clocks_.Release(thread, times);
}

// Whether a thread other than `thread` is among those of the record since the last barrier that orders the two.
bool SharedMemory::Unordered(uint64_t offset, bool is_write, int thread) const {
  const Touch& earlier = is_write ? log_[offset].write : log_[offset].read;
  if (earlier.epoch != epoch_) return false;
  const int warp = thread / warp_size_;
  const uint64_t others = earlier.warps & ~(uint64_t{1} << warp);
  if (others != 0 && !has_released_) return true;
  for (int other = 0; other < clocks_.warps() && others != 0; ++other)
    if ((others >> other & 1) != 0 && !clocks_.Knows(thread, other, marks_[MarkIndex(offset, is_write, other)]))
      return true;
  if (earlier.thread / warp_size_ != warp) return false;
  return earlier.warp_epoch == warp_epochs_[warp] && (earlier.thread != thread || earlier.is_several);
}

void SharedMemory::Record(uint64_t offset, bool is_write, int thread, const TritondHostSite* site, bool is_atomic) {
  Touch& record = is_write ? log_[offset].write : log_[offset].read;
  const int warp = thread / warp_size_;
  if (has_released_) marks_[MarkIndex(offset, is_write, warp)] = clocks_.Mark(warp);
  const bool is_first = record.epoch != epoch_;
  const bool is_near = !is_first && record.thread / warp_size_ == warp && record.warp_epoch == warp_epochs_[warp];
  // What the warp alone has done before its last barrier is over.
  const bool is_ordered = record.warps == uint64_t{1} << warp && record.warp_epoch != warp_epochs_[warp];
  record.warps = (is_first ? 0 : record.warps) | uint64_t{1} << warp;
  record.is_several = is_near && (record.is_several || record.thread != thread);
  record.is_atomic = is_atomic && (is_first || is_ordered || record.is_atomic);
  record.epoch = epoch_;
  record.warp_epoch = warp_epochs_[warp];
  record.thread = static_cast<uint16_t>(thread);
  record.site = site;
}

absl::optional<std::string> SharedMemory::Read(int thread, const TritondHostSite* site, uint64_t offset) {
  if (auto wrong = CheckRead(thread, site, offset)) return wrong;
  Record(offset, false, thread, site, false);
  return absl::nullopt;
}

absl::optional<std::string> SharedMemory::CheckRead(int thread, const TritondHostSite* site, uint64_t offset) const {
  const Touch& write = log_[offset].write;
  if (write.epoch < first_epoch_) {
    if (check_uninitialized_) {
      return absl::StrCat("thread ", thread, " reads byte ", offset, " of shared memory at ", SiteText(site),
                          ", which the program has not written");
    }
  } else if (Unordered(offset, true, thread)) {
    // Where the reader's own warp has written too, the others wrote the same: only the order within the warp counts.
    const int warp = thread / warp_size_;
    const bool has_copy = write.warps >> warp & 1;
    const bool is_ordered = write.thread / warp_size_ != warp || write.warp_epoch != warp_epochs_[warp] ||
                            (write.thread == thread && !write.is_several);
    if (!has_copy || !is_ordered) return Conflict(offset, "wrote", write.thread, write.site, "reads", thread, site);
  }
  return absl::nullopt;
}

absl::optional<std::string> SharedMemory::Write(int thread, const TritondHostSite* site, uint64_t offset,
                                                bool is_atomic) {
  Byte& byte = log_[offset];
  const bool after_write = Unordered(offset, true, thread) && !(is_atomic && byte.write.is_atomic);
  if (after_write || Unordered(offset, false, thread)) {
    const Touch& other = after_write ? byte.write : byte.read;
    suspicions_.push_back({offset, data_[offset], after_write, other.thread, other.site, site});
  }
  Record(offset, true, thread, site, is_atomic);
  return absl::nullopt;
}

absl::optional<std::string> SharedMemory::Settle(int thread) {
  if (suspicions_.empty()) return absl::nullopt;
  absl::optional<std::string> wrong;
  for (const Suspicion& suspicion : suspicions_) {
    if (data_[suspicion.offset] == suspicion.before) continue;
    wrong = Conflict(suspicion.offset, suspicion.after_write ? "wrote" : "read", suspicion.other_thread,
                     suspicion.other, "writes", thread, suspicion.site);
    break;
  }
  suspicions_.clear();
  return wrong;
}

std::string SharedMemory::Conflict(uint64_t offset, const char* first_did, int first, const TritondHostSite* first_site,
                                   const char* then_did, int then, const TritondHostSite* then_site) const {
  return absl::StrCat("race on byte ", offset, " of shared memory: thread ", first, " ", first_did, " it at ",
                      SiteText(first_site), " and thread ", then, " ", then_did, " it at ", SiteText(then_site),
                      ", with no barrier between");
}

}  // namespace tritond::workers
