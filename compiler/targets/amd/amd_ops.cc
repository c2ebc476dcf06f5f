// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/amd/amd_ops.h"

#include "compiler/targets/amd/inline_assembly.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

namespace {

constexpr int kHalfLanes = 32;

mlir::Value EmitBool(mlir::OpBuilder& b, mlir::Location loc, bool value) {
  return LLVM::ConstantOp::create(b, loc, b.getI1Type(), b.getBoolAttr(value));
}

// v_mov_b32 with DPP. `kept` null: what is not moved is any value, so that LLVM may make one instruction of this and
// what uses it.
mlir::Value EmitDpp(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, mlir::Value kept,
                    const amd::LaneMove& move) {
  const bool keeps = kept != nullptr;
  if (!keeps) kept = LLVM::PoisonOp::create(b, loc, b.getI32Type());
  return EmitIntrinsic(b, loc, "llvm.amdgcn.update.dpp", b.getI32Type(),
                       {kept, value, EmitI32(b, loc, static_cast<int>(move.control)), EmitI32(b, loc, move.rows),
                        EmitI32(b, loc, move.banks), EmitBool(b, loc, !keeps)});
}

mlir::Value EmitPermLane(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, llvm::StringRef name,
                         uint64_t selectors) {
  mlir::Value old = LLVM::PoisonOp::create(b, loc, b.getI32Type());
  return EmitIntrinsic(
      b, loc, name, b.getI32Type(),
      {old, value, EmitI32(b, loc, static_cast<int32_t>(selectors)),
       EmitI32(b, loc, static_cast<int32_t>(selectors >> 32)), EmitBool(b, loc, true), EmitBool(b, loc, false)});
}

mlir::Value EmitReadLane(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, int lane) {
  return EmitIntrinsic(b, loc, "llvm.amdgcn.readlane", b.getI32Type(), {value, EmitI32(b, loc, lane)});
}

// The instruction exchanges the upper lanes of its first register with the lower ones of its second. Both are `value`
// here. So the first result is the value of the lane without the bit `size`, the second that of the lane with it. One
// of them is the lane's own: xor with the own value leaves the other one.
mlir::Value EmitSwap(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, amd::LaneMove::Kind kind, int size) {
  mlir::Type word = b.getI32Type(), pair = LLVM::LLVMStructType::getLiteral(b.getContext(), {word, word});
  mlir::Value none = EmitBool(b, loc, false);
  mlir::Value both =
      EmitIntrinsic(b, loc, size == kHalfLanes ? "llvm.amdgcn.permlane32.swap" : "llvm.amdgcn.permlane16.swap", pair,
                    {value, value, none, none});
  const auto result = [&](int i) -> mlir::Value { return LLVM::ExtractValueOp::create(b, loc, both, i); };
  if (kind == amd::LaneMove::Kind::kClear) return result(0);
  if (kind == amd::LaneMove::Kind::kSet) return result(1);
  mlir::Value first = result(0), second = result(1);
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

mlir::Value AmdOps::Move(mlir::OpBuilder& b, mlir::Location loc, const amd::LaneMove& move, mlir::Value value,
                         mlir::Value kept) const {
  using Kind = amd::LaneMove::Kind;
  switch (move.kind) {
    case Kind::kDpp:
      return EmitDpp(b, loc, value, kept, move);
    case Kind::kSameRow:
      return EmitPermLane(b, loc, value, "llvm.amdgcn.permlane16", move.control);
    case Kind::kOtherRow:
      return EmitPermLane(b, loc, value, "llvm.amdgcn.permlanex16", move.control);
    case Kind::kOneLane:
      return EmitReadLane(b, loc, value, static_cast<int>(move.control));
    case Kind::kTwoLanes: {
      mlir::Value lower = EmitReadLane(b, loc, value, static_cast<int>(move.control % 64));
      mlir::Value upper = EmitReadLane(b, loc, value, static_cast<int>(move.control / 64));
      mlir::Value half = LLVM::AndOp::create(b, loc, ThreadId(b, loc), EmitI32(b, loc, kHalfLanes));
      mlir::Value is_lower = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, half, EmitI32(b, loc, 0));
      return LLVM::SelectOp::create(b, loc, is_lower, lower, upper);
    }
    case Kind::kSwap:
    case Kind::kClear:
    case Kind::kSet:
      return EmitSwap(b, loc, value, move.kind, static_cast<int>(move.control));
    case Kind::kSwizzle:
      return EmitIntrinsic(b, loc, "llvm.amdgcn.ds.swizzle", b.getI32Type(),
                           {value, EmitI32(b, loc, static_cast<int>(move.control))});
  }
  return {};
}

int AmdOps::MoveCost(llvm::ArrayRef<int> sources) const {
  const std::optional<amd::LaneMoves> found = amd::FindLaneMoves(arch_, sources);
  return found ? found->cycles : amd::kPermuteCycles;
}

mlir::Value AmdOps::MoveLanes(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value,
                              llvm::ArrayRef<int> sources) const {
  const std::optional<amd::LaneMoves> found = amd::FindLaneMoves(arch_, sources);
  if (!found) return {};
  llvm::SmallVector<mlir::Value> values = {value};
  for (const amd::LaneMove& move : found->moves) {
    mlir::Value kept = move.kept == amd::LaneMove::kNothing ? mlir::Value() : values[move.kept];
    values.push_back(Move(b, loc, move, values[move.value], kept));
  }
  return values.back();
}

mlir::Value AmdOps::ShuffleXor(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, int mask) const {
  llvm::SmallVector<int, 64> sources;
  for (int lane = 0; lane < arch_.lanes; ++lane) sources.push_back(lane ^ mask);
  if (mlir::Value moved = MoveLanes(b, loc, value, sources)) return moved;
  mlir::Value lane = LLVM::AndOp::create(b, loc, ThreadId(b, loc), EmitI32(b, loc, WarpSize() - 1));
  return ShuffleIndex(b, loc, value, LLVM::XOrOp::create(b, loc, lane, EmitI32(b, loc, mask)));
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
