// SPDX-License-Identifier: Apache-2.0
#include "workers/device/proxy_log.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "workers/device/shared_memory.h"

namespace tritond::workers {

void ProxyLog::Clear() {
  std::fill(bytes_.begin(), bytes_.end(), Byte());
  unfenced_.clear();
}

void ProxyLog::Wrote(int thread, const TritondHostSite* site, uint64_t offset, uint64_t bytes, uint32_t epoch) {
  const uint32_t mark = clocks_.Mark(WarpOf(thread));
  for (uint64_t i = offset; i < offset + bytes; ++i)
    bytes_[i] = {site, epoch, 0, 0, mark, 0, static_cast<uint16_t>(thread)};
  if (!unfenced_.empty() && unfenced_.back().offset + unfenced_.back().bytes == offset) {
    unfenced_.back().bytes += bytes;
  } else {
    unfenced_.push_back({offset, bytes});
  }
}

void ProxyLog::Forget(uint64_t offset, uint64_t bytes) {
  for (uint64_t i = offset; i < offset + bytes; ++i) bytes_[i] = Byte();
}

void ProxyLog::Fence(int thread, uint32_t epoch) {
  const auto done = [&](const Range& range) { return FenceRange(range, thread, epoch); };
  unfenced_.erase(std::remove_if(unfenced_.begin(), unfenced_.end(), done), unfenced_.end());
}

// A fence covers the thread's own writes, its warp's, those before the last barrier and those that were released to it.
bool ProxyLog::FenceRange(const Range& range, int thread, uint32_t epoch) {
  bool is_done = true;
  for (uint64_t i = range.offset; i < range.offset + range.bytes; ++i) {
    Byte& byte = bytes_[i];
    if (byte.write_epoch == 0 || (byte.fence_epoch != 0 && byte.fence_epoch < epoch)) continue;
    is_done = false;
    const int warp = WarpOf(thread), writer = WarpOf(byte.writer);
    const bool is_known =
        byte.write_epoch < epoch || (writer != warp && clocks_.Knows(thread, writer, byte.write_mark));
    if (writer != warp && !is_known) continue;
    if (byte.fence_epoch != epoch) byte.fence_warps = 0;
    byte.fence_epoch = epoch;
    // A write of this epoch is fenced for others by its own thread alone.
    if (byte.writer == thread || is_known) byte.fence_warps |= uint64_t{1} << warp;
    // The first one counts: whoever knows of it need not know of later ones.
    if (byte.writer == thread && byte.fence_mark == 0) byte.fence_mark = clocks_.Mark(warp);
    if (byte.fence_warps == 0) byte.fence_epoch = 0;
  }
  return is_done;
}

absl::optional<std::string> ProxyLog::Read(int thread, const TritondHostSite* site, uint64_t offset, uint64_t bytes,
                                           uint32_t epoch) const {
  for (uint64_t i = offset; i < offset + bytes; ++i) {
    const Byte& byte = bytes_[i];
    if (byte.write_epoch == 0) continue;
    const bool by_all = byte.fence_epoch != 0 && byte.fence_epoch < epoch;
    if (by_all || byte.fence_warps >> WarpOf(thread) & 1) continue;
    const int writer = WarpOf(byte.writer);
    if (byte.fence_mark != 0 && writer != WarpOf(thread) && clocks_.Knows(thread, writer, byte.fence_mark)) continue;
    return absl::StrCat("an asynchronous instruction reads byte ", i, " of shared memory at ", SiteText(site),
                        ", which thread ", byte.writer, " wrote at ", SiteText(byte.site),
                        ", with no fence.proxy.async between");
  }
  return absl::nullopt;
}

}  // namespace tritond::workers
