// SPDX-License-Identifier: Apache-2.0
#include "workers/device/proxy_log.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "workers/device/shared_memory.h"

namespace tritond::workers {

void ProxyLog::Clear() {
  std::fill(bytes_.begin(), bytes_.end(), Byte());
  std::fill(granules_.begin(), granules_.end(), Granule());
  pending_.clear();
}

void ProxyLog::Wrote(int thread, const TritondHostSite* site, uint64_t offset, uint64_t bytes, uint32_t epoch) {
  if (bytes == 0) return;
  const uint32_t mark = clocks_.Mark(WarpOf(thread));
  const uint64_t end = offset + bytes;
  for (uint64_t i = offset; i < end; ++i) bytes_[i] = {site, epoch, 0, 0, mark, 0, static_cast<uint16_t>(thread)};
  for (uint64_t i = offset / kGranuleBytes; i * kGranuleBytes < end; ++i) {
    const bool is_whole = offset <= i * kGranuleBytes && (i + 1) * kGranuleBytes <= end;
    Granule& granule = granules_[i];
    if (!granule.is_pending) pending_.push_back(static_cast<uint32_t>(i));
    granule = Granule();
    granule.is_pending = true;
    if (is_whole) granule.write_epoch = epoch, granule.write_mark = mark, granule.writer = thread;
  }
}

void ProxyLog::Forget(uint64_t offset, uint64_t bytes) {
  for (uint64_t i = offset; i < offset + bytes; ++i) bytes_[i] = Byte();
}

void ProxyLog::Fence(int thread, uint32_t epoch) {
  const auto done = [&](uint32_t index) { return FenceGranule(index, thread, epoch); };
  pending_.erase(std::remove_if(pending_.begin(), pending_.end(), done), pending_.end());
}

bool ProxyLog::Concerns(const Granule& granule, int thread, uint32_t epoch) const {
  const int warp = WarpOf(thread);
  if (granule.epoch == epoch && granule.is_marked && (granule.covered_warps >> warp & 1) != 0) return false;
  if (granule.writer < 0 || granule.writer == thread || granule.write_epoch < epoch) return true;
  const int writer = WarpOf(granule.writer);
  return writer != warp && clocks_.Knows(thread, writer, granule.write_mark);
}

bool ProxyLog::FenceGranule(uint32_t index, int thread, uint32_t epoch) {
  Granule& granule = granules_[index];
  if (!Concerns(granule, thread, epoch)) return false;
  bool is_done = true, is_covered = true, is_marked = true;
  const uint64_t begin = index * kGranuleBytes, end = std::min<uint64_t>(begin + kGranuleBytes, bytes_.size());
  for (uint64_t i = begin; i < end; ++i) {
    Byte& byte = bytes_[i];
    if (byte.write_epoch == 0 || (byte.fence_epoch != 0 && byte.fence_epoch < epoch)) continue;
    is_done = false;
    FenceByte(byte, thread, epoch);
    is_covered &= (byte.fence_warps >> WarpOf(thread) & 1) != 0;
    is_marked &= byte.fence_mark != 0;
  }
  if (granule.epoch != epoch) granule.covered_warps = 0;
  granule.epoch = epoch;
  granule.is_marked = is_marked;
  if (is_covered) granule.covered_warps |= uint64_t{1} << WarpOf(thread);
  granule.is_pending = !is_done;
  return is_done;
}

// A fence covers the thread's own writes, its warp's, those before the last barrier and those that were released to it.
void ProxyLog::FenceByte(Byte& byte, int thread, uint32_t epoch) {
  const int warp = WarpOf(thread), writer = WarpOf(byte.writer);
  const bool is_known = byte.write_epoch < epoch || (writer != warp && clocks_.Knows(thread, writer, byte.write_mark));
  if (writer != warp && !is_known) return;
  if (byte.fence_epoch != epoch) byte.fence_warps = 0;
  byte.fence_epoch = epoch;
  // A write of this epoch is fenced for others by its own thread alone.
  if (byte.writer == thread || is_known) byte.fence_warps |= uint64_t{1} << warp;
  // The first one counts: whoever knows of it need not know of later ones.
  if (byte.writer == thread && byte.fence_mark == 0) byte.fence_mark = clocks_.Mark(warp);
  if (byte.fence_warps == 0) byte.fence_epoch = 0;
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
