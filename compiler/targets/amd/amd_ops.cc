// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/amd/amd_ops.h"

#include "compiler/targets/amd/inline_assembly.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

namespace {

// DPP controls ("Data Parallel Processing", DPP_CTRL). A row is 16 lanes, a bank four of them.
constexpr int kRowShiftLeft4 = 0x104, kRowShiftRight4 = 0x114, kRowRotate8 = 0x128, kRowMirror = 0x140,
              kRowHalfMirror = 0x141, kRowXor = 0x160, kRowShiftRight = 0x110, kBroadcast15 = 0x142,
              kBroadcast31 = 0x143;
constexpr int kAllRows = 0xf, kAllBanks = 0xf, kEvenBanks = 0x5, kOddBanks = 0xa;
constexpr int kRowLanes = 16, kSwizzleLanes = 32;

// Lane i of four takes from lane i xor mask: two bits a lane.
constexpr int QuadXor(int mask) {
  int control = 0;
  for (int lane = 0; lane < 4; ++lane) control |= (lane ^ mask) << (2 * lane);
  return control;
}

// The control by which a lane of a row takes from lane xor `mask`; nullopt: no single one.
std::optional<int> RowControl(int mask, bool has_row_xor) {
  if (mask < 4) return QuadXor(mask);
  if (has_row_xor && mask < kRowLanes) return kRowXor | mask;
  if (mask == 7) return kRowHalfMirror;
  if (mask == 8) return kRowRotate8;
  if (mask == 15) return kRowMirror;
  return std::nullopt;
}

mlir::Value EmitBool(mlir::OpBuilder& b, mlir::Location loc, bool value) {
  return LLVM::ConstantOp::create(b, loc, b.getI1Type(), b.getBoolAttr(value));
}

// v_mov_b32 with DPP. Lanes of other banks than `banks` keep `old`.
mlir::Value EmitDpp(mlir::OpBuilder& b, mlir::Location loc, mlir::Value old, mlir::Value value, int control,
                    int banks) {
  return EmitIntrinsic(b, loc, "llvm.amdgcn.update.dpp", b.getI32Type(),
                       {old, value, EmitI32(b, loc, control), EmitI32(b, loc, kAllRows), EmitI32(b, loc, banks),
                        EmitBool(b, loc, banks == kAllBanks)});
}

// Lane i of a row takes from lane i xor `mask` of the other row: four bits a lane.
mlir::Value EmitOtherRow(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, int mask) {
  uint64_t selectors = 0;
  for (uint64_t lane = 0; lane < kRowLanes; ++lane) selectors |= (lane ^ mask) << (4 * lane);
  mlir::Value old = LLVM::PoisonOp::create(b, loc, b.getI32Type());
  return EmitIntrinsic(
      b, loc, "llvm.amdgcn.permlanex16", b.getI32Type(),
      {old, value, EmitI32(b, loc, static_cast<int32_t>(selectors)),
       EmitI32(b, loc, static_cast<int32_t>(selectors >> 32)), EmitBool(b, loc, true), EmitBool(b, loc, false)});
}

// The value of lane xor `mask`, which is 16 or 32. The instruction exchanges the upper lanes of its first register with
// the lower ones of its second. Both are `value` here, so one of the results is the lane's own value, and one the
// other lane's: xor with the own value leaves that.
mlir::Value EmitSwap(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, int mask) {
  mlir::Type word = b.getI32Type(), pair = LLVM::LLVMStructType::getLiteral(b.getContext(), {word, word});
  mlir::Value none = EmitBool(b, loc, false);
  mlir::Value both =
      EmitIntrinsic(b, loc, mask == kRowLanes ? "llvm.amdgcn.permlane16.swap" : "llvm.amdgcn.permlane32.swap", pair,
                    {value, value, none, none});
  mlir::Value first = LLVM::ExtractValueOp::create(b, loc, both, 0);
  mlir::Value second = LLVM::ExtractValueOp::create(b, loc, both, 1);
  return LLVM::XOrOp::create(b, loc, LLVM::XOrOp::create(b, loc, first, second), value);
}

}  // namespace

mlir::Value AmdOps::ThreadId(mlir::OpBuilder& b, mlir::Location loc) const {
  return EmitIntrinsic(b, loc, "llvm.amdgcn.workitem.id.x", b.getI32Type(), {});
}

mlir::Value AmdOps::ProgramId(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const {
  const char letter = "xyz"[static_cast<int>(axis)];
  return EmitIntrinsic(b, loc, std::string("llvm.amdgcn.workgroup.id.") + letter, b.getI32Type(), {});
}

mlir::Value AmdOps::NumPrograms(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const {
  auto constant = LLVM::LLVMPointerType::get(b.getContext(), 4);
  mlir::Value hidden = EmitIntrinsic(b, loc, "llvm.amdgcn.implicitarg.ptr", constant, {});
  mlir::Value count = LLVM::GEPOp::create(b, loc, constant, b.getI32Type(), hidden,
                                          llvm::ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(axis)});
  return LLVM::LoadOp::create(b, loc, b.getI32Type(), count, /*alignment=*/4, /*isVolatile=*/false,
                              /*isNonTemporal=*/false, /*isInvariant=*/true);
}

void AmdOps::Barrier(mlir::OpBuilder& b, mlir::Location loc) const {
  LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::release, "workgroup");
  EmitIntrinsic(b, loc, "llvm.amdgcn.s.barrier", nullptr, {});
  LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::acquire, "workgroup");
}

// "User Guide for AMDGPU Backend", "Memory Model Relaxation Annotations": the fences are about shared memory.
void AmdOps::SharedBarrier(mlir::OpBuilder& b, mlir::Location loc) const {
  auto local = LLVM::MMRATagAttr::get(b.getContext(), "amdgpu-synchronize-as", "local");
  auto fence = [&](LLVM::AtomicOrdering ordering) {
    LLVM::FenceOp::create(b, loc, ordering, "workgroup")->setAttr(LLVM::LLVMDialect::getMmraAttrName(), local);
  };
  fence(LLVM::AtomicOrdering::release);
  EmitIntrinsic(b, loc, "llvm.amdgcn.s.barrier", nullptr, {});
  fence(LLVM::AtomicOrdering::acquire);
}

// The lanes of a wave run in step, and their accesses happen in order: only the compiler must keep it.
void AmdOps::WarpBarrier(mlir::OpBuilder& b, mlir::Location loc) const {
  LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::release, "wavefront");
  EmitIntrinsic(b, loc, "llvm.amdgcn.wave.barrier", nullptr, {});
  LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::acquire, "wavefront");
}

mlir::Value AmdOps::ShuffleXor(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, int mask) const {
  if (mask == 0) return value;
  mlir::Value old = LLVM::PoisonOp::create(b, loc, b.getI32Type());
  if (std::optional<int> control = RowControl(mask, arch_.has_row_xor))
    return EmitDpp(b, loc, old, value, *control, kAllBanks);
  if (mask == 4) {
    // The even banks from the lanes above, then the odd ones from those below.
    mlir::Value even = EmitDpp(b, loc, old, value, kRowShiftLeft4, kEvenBanks);
    return EmitDpp(b, loc, even, value, kRowShiftRight4, kOddBanks);
  }
  if (arch_.has_row_xor && mask < 2 * kRowLanes) return EmitOtherRow(b, loc, value, mask & (kRowLanes - 1));
  if (arch_.swaps_rows && mask >= kRowLanes) {
    value = ShuffleXor(b, loc, value, mask & (kRowLanes - 1));
    for (int swap : {kRowLanes, 2 * kRowLanes})
      if (mask & swap) value = EmitSwap(b, loc, value, swap);
    return value;
  }
  if (mask < kSwizzleLanes) {
    // ds_swizzle in bit mode: and, or and xor masks of five bits each.
    return EmitIntrinsic(b, loc, "llvm.amdgcn.ds.swizzle", b.getI32Type(),
                         {value, EmitI32(b, loc, mask << 10 | (kSwizzleLanes - 1))});
  }
  mlir::Value lane = LLVM::AndOp::create(b, loc, ThreadId(b, loc), EmitI32(b, loc, WarpSize() - 1));
  return ShuffleIndex(b, loc, value, LLVM::XOrOp::create(b, loc, lane, EmitI32(b, loc, mask)));
}

mlir::Value AmdOps::ShuffleIntoLast(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, int mask) const {
  mlir::Value old = LLVM::PoisonOp::create(b, loc, b.getI32Type());
  const int control = mask < kRowLanes ? kRowShiftRight | mask : mask == kRowLanes ? kBroadcast15 : kBroadcast31;
  return EmitDpp(b, loc, old, value, control, kAllBanks);
}

mlir::Value AmdOps::LastLane(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value) const {
  return EmitIntrinsic(b, loc, "llvm.amdgcn.readlane", b.getI32Type(), {value, EmitI32(b, loc, arch_.lanes - 1)});
}

mlir::Value AmdOps::ShuffleIndex(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, mlir::Value lane) const {
  mlir::Value bytes = LLVM::ShlOp::create(b, loc, lane, EmitI32(b, loc, 2));
  return EmitIntrinsic(b, loc, "llvm.amdgcn.ds.bpermute", b.getI32Type(), {bytes, value});
}

mlir::FailureOr<mlir::Value> AmdOps::Nanoseconds(mlir::OpBuilder& b, mlir::Location loc) const {
  mlir::Value ticks = EmitIntrinsic(b, loc, "llvm.readsteadycounter", b.getI64Type(), {});
  mlir::Value ten = LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(10));
  return LLVM::MulOp::create(b, loc, ticks, ten).getResult();
}

mlir::FailureOr<mlir::Value> AmdOps::InlineAsm(mlir::OpBuilder& b, mlir::Location loc, mlir::Type result,
                                               mlir::ValueRange args, llvm::StringRef text, llvm::StringRef constraints,
                                               bool has_side_effects) const {
  const absl::Status status = amd::CheckInlineAssembly({text.data(), text.size()});
  if (!status.ok()) return mlir::emitError(loc) << "assembly, " << std::string(status.message());
  return EmitInlineAssembly(b, loc, result, args, text, constraints, has_side_effects);
}

}  // namespace tritond::compiler
