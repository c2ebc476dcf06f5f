// SPDX-License-Identifier: Apache-2.0
// Gives the partitions of warp-specialised kernels their warps, and shares the registers out among them.
//
//   module attributes {"ttg.num-warps" = 4 : i32} {
//     ttg.warp_specialize(%a) attributes {requestedRegisters = array<i32: 24, 232>}
//     default {…} partition0(%b: i32) num_warps(1) {…} partition1(%b: i32) num_warps(4) {…}
// becomes
//   module attributes {"ttg.maxnreg" = 168 : i32, "ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 12 : i32} {
//     ttg.warp_specialize(%a) attributes {actualRegisters = array<i32: 248, 24, 232>, …,
//                                         warpGroupStartIds = array<i32: 8, 4>}
//
// The warps of partitions follow those of the default region, larger partitions first. So each begins at a multiple of
// its size, or of the warps that the device takes together (`group-warps`). A launch has whole groups.
//
// Devices that move registers between warps do so for whole groups. A group has what the partition in it that wants
// most has, and one without a partition as few as that with the fewest. The default region has what all of them leave
// of the registers that the kernel starts with. Where that is too little, or groups are shared with the default region,
// the requests have no effect: they are advice.
#include <algorithm>
#include <numeric>

#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/IR/Builders.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_ALLOCATEWARPGROUPSPASS
#include "compiler/passes/passes.h.inc"

namespace {

using llvm::alignTo;
using Counts = llvm::SmallVector<int32_t>;
using ttg::WarpSpecializeOp;

// No device has larger blocks, however narrow its warps.
constexpr int kMostWarps = 1024;

struct AllocateWarpGroupsPass : impl::AllocateWarpGroupsPassBase<AllocateWarpGroupsPass> {
  using AllocateWarpGroupsPassBase::AllocateWarpGroupsPassBase;

  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    llvm::SmallVector<WarpSpecializeOp> ops;
    module.walk([&](WarpSpecializeOp op) { ops.push_back(op); });
    if (ops.empty()) return;
    base_ = ttg::NumWarps(module);
    lanes_ = ttg::ThreadsPerWarp(module);
    int end = base_;
    for (WarpSpecializeOp op : ops) {
      if (!op.getWarpGroupStartIds()) op.setWarpGroupStartIds(ChooseFirstWarps(op.getPartitionNumWarps()));
      if (failed(CheckFirstWarps(op))) return signalPassFailure();
      for (auto [first, warps] : llvm::zip(*op.getWarpGroupStartIds(), op.getPartitionNumWarps()))
        end = std::max(end, first + warps);
    }
    total_ = base_ + static_cast<int>(alignTo(end - base_, group_warps));
    mlir::Builder b(module.getContext());
    module->setAttr(ttg::kTotalNumWarpsAttr, b.getI32IntegerAttr(total_));
    bool any = false;
    for (WarpSpecializeOp op : ops) any |= ShareRegisters(op);
    if (any) module->setAttr(ttg::kMaxRegistersAttr, b.getI32IntegerAttr(EntryRegisters()));
  }

 private:
  // Partitions of the given sizes, larger ones first.
  Counts ChooseFirstWarps(llvm::ArrayRef<int32_t> sizes) const {
    llvm::SmallVector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::stable_sort(order, [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
    Counts first(sizes.size());
    int next = base_;
    for (size_t partition : order) {
      first[partition] = static_cast<int32_t>(alignTo(next, Alignment(sizes[partition])));
      next = first[partition] + sizes[partition];
    }
    return first;
  }

  int Alignment(int32_t warps) const { return std::min<int>(warps, group_warps); }

  mlir::LogicalResult CheckFirstWarps(WarpSpecializeOp op) const {
    llvm::BitVector taken;
    for (auto [i, first, warps] : llvm::enumerate(*op.getWarpGroupStartIds(), op.getPartitionNumWarps())) {
      if (first < base_ || first % Alignment(warps) != 0)
        return op.emitOpError() << "has its partition " << i << " of " << warps << " warps begin at warp " << first
                                << ", which is none of the multiples of " << Alignment(warps) << " from " << base_
                                << " on";
      if (first > kMostWarps - warps)
        return op.emitOpError() << "has its partition " << i << " of " << warps << " warps begin at warp " << first
                                << "; no block has that many warps";
      if (static_cast<int>(taken.size()) < first + warps) taken.resize(first + warps);
      if (taken.find_first_in(first, first + warps) >= 0)
        return op.emitOpError() << "has its partition " << i << " begin at warp " << first
                                << ", where another partition is";
      taken.set(first, first + warps);
    }
    return mlir::success();
  }

  // A thread that has all that it can address would need no more; and the compilers of devices keep some for
  // themselves.
  int MostToStartWith() const { return most_registers - register_step; }

  // With which a kernel starts.
  int EntryRegisters() {
    int64_t share = registers / (int64_t{total_} * lanes_);
    auto given = getOperation()->getAttrOfType<mlir::IntegerAttr>(ttg::kMaxRegistersAttr);
    if (given) share = given.getInt();
    if (entry_registers > 0) share = entry_registers;
    share = std::clamp<int64_t>(share, least_registers, MostToStartWith());
    return static_cast<int>(share / register_step * register_step);
  }

  // Whether warps of `op` change their registers.
  bool ShareRegisters(WarpSpecializeOp op) {
    if (registers == 0 || base_ % group_warps != 0) return op.removeActualRegistersAttr(), false;
    if (op.getActualRegisters()) return true;
    if (!op.getRequestedRegisters()) return false;
    Counts of_group((total_ - base_) / group_warps, 0);
    auto groups_of = [&](size_t partition) {
      int first = (*op.getWarpGroupStartIds())[partition] - base_, warps = op.getPartitionNumWarps()[partition];
      return llvm::MutableArrayRef(of_group).slice(first / group_warps,
                                                   llvm::divideCeil(first % group_warps + warps, group_warps));
    };
    int32_t fewest = most_registers;
    for (auto [i, request] : llvm::enumerate(*op.getRequestedRegisters())) {
      int32_t asked = alignTo(std::clamp<int32_t>(request, least_registers, most_registers), register_step);
      for (int32_t& of_one : groups_of(i)) of_one = std::max(of_one, asked);
      fewest = std::min(fewest, groups_of(i).front());
    }
    for (int32_t& of_one : of_group) of_one = std::max(of_one, fewest);
    int left = EntryRegisters() * total_ - std::accumulate(of_group.begin(), of_group.end(), 0) * group_warps;
    int of_default = std::min(left / base_ / register_step * register_step, MostToStartWith());
    if (of_default < least_registers) return false;
    Counts actual = {of_default};
    for (size_t i = 0; i < op.getPartitionNumWarps().size(); ++i) actual.push_back(groups_of(i).front());
    op.setActualRegisters(actual);
    return true;
  }

  int base_ = 0, lanes_ = 0, total_ = 0;
};

}  // namespace
}  // namespace tritond::compiler
