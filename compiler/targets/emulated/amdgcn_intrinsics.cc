// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/emulated/amdgcn_calls.h"

namespace tritond::compiler::emulated {
namespace {

struct Row {
  llvm::StringLiteral name;
  AmdUse use;
};

constexpr Row kRows[] = {
    {"workitem.id.x", AmdUse::kWorkitemX},
    {"workitem.id.y", AmdUse::kZero},
    {"workitem.id.z", AmdUse::kZero},
    {"workgroup.id.x", AmdUse::kWorkgroup},
    {"workgroup.id.y", AmdUse::kWorkgroup},
    {"workgroup.id.z", AmdUse::kWorkgroup},
    {"wave.id", AmdUse::kWaveId},
    {"wavefrontsize", AmdUse::kWaveSize},
    {"implicitarg.ptr", AmdUse::kHiddenPointer},
    {"dispatch.ptr", AmdUse::kHiddenPointer},
    {"make.buffer.rsrc", AmdUse::kMakeBuffer},
    {"is.shared", AmdUse::kIsShared},
    {"mbcnt.lo", AmdUse::kMaskedCount},
    {"mbcnt.hi", AmdUse::kMaskedCount},
    {"s.barrier", AmdUse::kBarrier},
    {"s.barrier.signal", AmdUse::kSignal},
    {"s.barrier.wait", AmdUse::kWait},
    {"wave.barrier", AmdUse::kWaveBarrier},
    {"global.atomic.fmin.num", AmdUse::kAtomicFloat},
    {"global.atomic.fmax.num", AmdUse::kAtomicFloat},
    {"flat.atomic.fmin.num", AmdUse::kAtomicFloat},
    {"flat.atomic.fmax.num", AmdUse::kAtomicFloat},
    // Waits that hold nothing up: what they wait for is done when the code goes on.
    {"s.wait.bvhcnt", AmdUse::kDrop},
    {"s.wait.dscnt", AmdUse::kDrop},
    {"s.wait.expcnt", AmdUse::kDrop},
    {"s.wait.kmcnt", AmdUse::kDrop},
    {"s.wait.loadcnt", AmdUse::kDrop},
    {"s.wait.samplecnt", AmdUse::kDrop},
    {"s.wait.storecnt", AmdUse::kDrop},
    {"sched.barrier", AmdUse::kDrop},
    {"sched.group.barrier", AmdUse::kDrop},
    {"iglp.opt", AmdUse::kDrop},
    {"s.setprio", AmdUse::kDrop},
    {"s.sleep", AmdUse::kDrop},
    {"s.sleep.var", AmdUse::kDrop},
    {"s.nop", AmdUse::kDrop},
    {"s.dcache.inv", AmdUse::kDrop},
    {"s.dcache.wb", AmdUse::kDrop},
    {"buffer.wbinvl1", AmdUse::kDrop},
    {"buffer.wbinvl1.sc", AmdUse::kDrop},
    {"buffer.wbinvl1.vol", AmdUse::kDrop},
    {"s.prefetch.data", AmdUse::kDrop},
    {"s.buffer.prefetch.data", AmdUse::kDrop},
    {"global.prefetch", AmdUse::kDrop},
    {"flat.prefetch", AmdUse::kDrop},
    {"s.waitcnt", AmdUse::kRunTogether},
    {"s.wait.asynccnt", AmdUse::kRunTogether},
    {"s.memtime", AmdUse::kRun},
    {"s.memrealtime", AmdUse::kRun},
    {"s.getreg", AmdUse::kRun},
    {"s.buffer.load", AmdUse::kRun},
    {"raw.buffer.load", AmdUse::kRun},
    {"raw.buffer.store", AmdUse::kRun},
    {"raw.ptr.buffer.load", AmdUse::kRun},
    {"raw.ptr.buffer.store", AmdUse::kRun},
    {"raw.ptr.buffer.load.lds", AmdUse::kRunTogether},
    {"global.load.lds", AmdUse::kRunTogether},
    {"load.to.lds", AmdUse::kRunTogether},
    {"sin", AmdUse::kRun},
    {"cos", AmdUse::kRun},
    {"log", AmdUse::kRun},
    {"log.clamp", AmdUse::kRun},
    {"exp2", AmdUse::kRun},
    {"rcp", AmdUse::kRun},
    {"rsq", AmdUse::kRun},
    {"rsq.clamp", AmdUse::kRun},
    {"sqrt", AmdUse::kRun},
    {"fract", AmdUse::kRun},
    {"tanh", AmdUse::kRun},
    {"frexp.mant", AmdUse::kRun},
    {"frexp.exp", AmdUse::kRun},
    {"fmed3", AmdUse::kRun},
    {"fma.legacy", AmdUse::kRun},
    {"fmad.ftz", AmdUse::kRun},
    {"class", AmdUse::kRun},
    {"trig.preop", AmdUse::kRun},
    {"perm", AmdUse::kRun},
    {"ubfe", AmdUse::kRun},
    {"sbfe", AmdUse::kRun},
    {"alignbyte", AmdUse::kRun},
    {"sffbh", AmdUse::kRun},
    {"mov.dpp", AmdUse::kRunTogether},
    {"mov.dpp8", AmdUse::kRunTogether},
    {"update.dpp", AmdUse::kRunTogether},
    {"ds.swizzle", AmdUse::kRunTogether},
    {"ds.permute", AmdUse::kRunTogether},
    {"ds.bpermute", AmdUse::kRunTogether},
    {"readlane", AmdUse::kRunTogether},
    {"writelane", AmdUse::kRunTogether},
    {"readfirstlane", AmdUse::kRunTogether},
    {"ballot", AmdUse::kRunTogether},
    {"inverse.ballot", AmdUse::kRunTogether},
    {"permlane16", AmdUse::kRunTogether},
    {"permlanex16", AmdUse::kRunTogether},
    {"permlane16.var", AmdUse::kRunTogether},
    {"permlanex16.var", AmdUse::kRunTogether},
    {"permlane16.swap", AmdUse::kRunTogether},
    {"permlane32.swap", AmdUse::kRunTogether},
    {"permlane64", AmdUse::kRunTogether},
    {"wave.shuffle", AmdUse::kRunTogether},
};

// Families of which the run-time reads the rest of the name.
constexpr Row kFamilies[] = {
    {"mfma.", AmdUse::kRunTogether},
    {"wmma.", AmdUse::kRunTogether},
    {"wave.reduce.", AmdUse::kRunTogether},
    {"ds.read.tr", AmdUse::kRunTogether},
    {"ds.load.tr", AmdUse::kRunTogether},
    {"global.load.async.to.lds.", AmdUse::kRunTogether},
    {"raw.ptr.buffer.atomic.", AmdUse::kRun},
    {"raw.buffer.atomic.", AmdUse::kRun},
    {"cvt.", AmdUse::kRun},
    {"div.", AmdUse::kRun},
    {"mul.", AmdUse::kRun},
    {"mulhi.", AmdUse::kRun},
    {"fdot2", AmdUse::kRun},
    {"sdot", AmdUse::kRun},
    {"udot", AmdUse::kRun},
    {"sudot", AmdUse::kRun},
    {"dot4.", AmdUse::kRun},
};

}  // namespace

AmdUse AmdUseOf(llvm::StringRef name) {
  for (const Row& row : kRows)
    if (name == row.name) return row.use;
  for (const Row& family : kFamilies)
    if (name.starts_with(family.name)) return family.use;
  return AmdUse::kUnknown;
}

}  // namespace tritond::compiler::emulated
