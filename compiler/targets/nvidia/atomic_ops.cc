// SPDX-License-Identifier: Apache-2.0
// Atomic operations on global memory: PTX "atom", or a loop around a 16-bit compare-and-swap where the type has no
// instruction. Both are predicated inline PTX, so that a masked atomic needs no branch in the IR.
#include "compiler/targets/nvidia/nvidia_ops.h"
#include "compiler/targets/nvidia/ptx_builder.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;
using nvidia::PtxBuilder;

namespace {

std::string Semantic(const AtomicAccess& access) {
  switch (access.semantic) {
    case tt::MemSemantic::kRelaxed:
      return ".relaxed";
    case tt::MemSemantic::kAcquire:
      return ".acquire";
    case tt::MemSemantic::kRelease:
      return ".release";
    case tt::MemSemantic::kAcqRel:
      return ".acq_rel";
  }
  return "";
}

std::string NameOf(tt::MemSyncScope scope) {
  switch (scope) {
    case tt::MemSyncScope::kGpu:
      return ".gpu";
    case tt::MemSyncScope::kCta:
      return ".cta";
    case tt::MemSyncScope::kSys:
      return ".sys";
  }
  return "";
}

std::string Scope(const AtomicAccess& access) { return NameOf(access.scope); }

// The assembler takes qualifiers in any order. Both are in upstream's, which users' tests look for.
std::string Rmw(const AtomicAccess& access) { return "atom.global" + Scope(access) + Semantic(access); }
std::string Cas(const AtomicAccess& access, int bits) {
  return "atom.global" + Semantic(access) + Scope(access) + ".cas.b" + std::to_string(bits);
}

// "red" gives nothing back and acquires nothing, so that no thread waits for it.
bool IsReduction(const AtomicAccess& access) {
  return !access.result_is_used &&
         (access.semantic == tt::MemSemantic::kRelaxed || access.semantic == tt::MemSemantic::kRelease);
}
std::string Reduction(const AtomicAccess& access) { return "red.global" + Scope(access) + Semantic(access); }

// The operation and type of one "atom" instruction, such as ".add.u32"; empty when there is none.
std::string AtomKind(tt::RmwOp op, mlir::Type type, int compute_capability) {
  const int bits = BitsOf(type);
  if (op == tt::RmwOp::kFadd) {
    if (type.isF32()) return ".add.f32";
    if (type.isF64()) return ".add.f64";
    if (type.isF16()) return ".add.noftz.f16";
    if (type.isBF16() && compute_capability >= 90) return ".add.noftz.bf16";
    return "";
  }
  if (bits != 32 && bits != 64) return "";
  const std::string width = std::to_string(bits);
  if (op == tt::RmwOp::kXchg) return ".exch.b" + width;
  if (!type.isIntOrIndex()) return "";
  switch (op) {
    case tt::RmwOp::kAnd:
      return ".and.b" + width;
    case tt::RmwOp::kOr:
      return ".or.b" + width;
    case tt::RmwOp::kXor:
      return ".xor.b" + width;
    case tt::RmwOp::kAdd:
      return ".add.u" + width;
    case tt::RmwOp::kMax:
      return ".max.s" + width;
    case tt::RmwOp::kMin:
      return ".min.s" + width;
    case tt::RmwOp::kUmax:
      return ".max.u" + width;
    case tt::RmwOp::kUmin:
      return ".min.u" + width;
    default:
      return "";
  }
}

// One PTX statement on 16-bit registers that computes `next` from `old` and the operand; empty when there is none.
std::string NextOf16Bits(tt::RmwOp op, mlir::Type type, const std::string& operand) {
  const std::string args = " next, old, " + operand + ";";
  if (op == tt::RmwOp::kXchg) return "mov.b16 next, " + operand + ";";
  if (op == tt::RmwOp::kFadd && type.isBF16()) {
    // Before compute capability 9.0 there is no add, but a fused multiply-add: old * 1 + operand, rounded once.
    return "{ .reg .b16 one; mov.b16 one, 0x3F80; fma.rn.bf16 next, old, one, " + operand + "; }";
  }
  if (!type.isInteger(16)) return "";
  switch (op) {
    case tt::RmwOp::kAnd:
      return "and.b16" + args;
    case tt::RmwOp::kOr:
      return "or.b16" + args;
    case tt::RmwOp::kXor:
      return "xor.b16" + args;
    case tt::RmwOp::kAdd:
      return "add.u16" + args;
    case tt::RmwOp::kMax:
      return "max.s16" + args;
    case tt::RmwOp::kMin:
      return "min.s16" + args;
    case tt::RmwOp::kUmax:
      return "max.u16" + args;
    case tt::RmwOp::kUmin:
      return "min.u16" + args;
    default:
      return "";
  }
}

mlir::Value EmitSwapLoop(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access, tt::RmwOp op,
                         mlir::Value value) {
  PtxBuilder ptx(b, loc);
  const std::string result = ptx.AddOutput(b.getI16Type());
  const std::string ptr = ptx.AddInput(access.ptr);
  const std::string operand = ptx.AddInput(ToInteger(b, loc, value));
  const std::string skip = access.predicate ? "@!" + ptx.AddPredicate(access.predicate) + " bra done;\n" : "";
  // Names and labels are local to the braces, so that several copies of this text live in one function.
  const std::string text = "{\n.reg .pred again;\n.reg .b16 old, next, seen;\nmov.b16 old, 0;\n" + skip +
                           "ld.relaxed.gpu.global.b16 old, [" + ptr + "];\n" + "retry:\n" +
                           NextOf16Bits(op, value.getType(), operand) + "\n" + Cas(access, 16) + " seen, [" + ptr +
                           "], old, next;\n" +
                           "setp.ne.u16 again, seen, old;\nmov.b16 old, seen;\n@again bra retry;\n" +
                           "done:\nmov.b16 " + result + ", old;\n}";
  return FromInteger(b, loc, value.getType(), ptx.Emit(text, /*touches_memory=*/true)[0]);
}

}  // namespace

void NvidiaOps::Fence(mlir::OpBuilder& b, mlir::Location loc, bool releases, tt::MemSyncScope scope,
                      mlir::Value predicate) const {
  const char* order = compute_capability_ < 90 ? ".acq_rel" : releases ? ".release" : ".acquire";
  PtxBuilder ptx(b, loc);
  std::string text = "fence" + std::string(order) + NameOf(scope) + ";";
  if (predicate) text = "@" + ptx.AddPredicate(predicate) + " " + text;
  ptx.Emit(text, /*touches_memory=*/true);
}

mlir::FailureOr<mlir::Value> NvidiaOps::AtomicRmw(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                                  tt::RmwOp op, mlir::Value value) const {
  mlir::Type type = value.getType();
  const std::string kind = AtomKind(op, type, compute_capability_);
  if (kind.empty()) {
    if (BitsOf(type) == 16 && !NextOf16Bits(op, type, "").empty()) return EmitSwapLoop(b, loc, access, op, value);
    mlir::emitError(loc) << "no atomic " << tt::stringifyRmwOp(op) << " of " << type << " on compute capability "
                         << compute_capability_ / 10 << "." << compute_capability_ % 10;
    return mlir::failure();
  }
  PtxBuilder ptx(b, loc);
  const bool is_float_add = op == tt::RmwOp::kFadd && (type.isF32() || type.isF64());
  const bool is_reduction = IsReduction(access) && op != tt::RmwOp::kXchg;
  mlir::Value operand = is_float_add ? value : ToInteger(b, loc, value);
  std::string text = (is_reduction ? Reduction(access) : Rmw(access)) + kind + " ";
  if (!is_reduction) text += ptx.AddOutput(operand.getType()) + ", ";
  text += "[" + ptx.AddInput(access.ptr) + "], ";
  text += ptx.AddInput(operand) + ";";
  if (access.predicate) text = "@" + ptx.AddPredicate(access.predicate) + " " + text;
  auto results = ptx.Emit(text, /*touches_memory=*/true);
  if (is_reduction) return mlir::Value(LLVM::ZeroOp::create(b, loc, type));
  return FromInteger(b, loc, type, results[0]);
}

int NvidiaOps::MaxAtomicAdds(mlir::Type element) const {
  bool has_vectors = compute_capability_ >= 90 && (element.isF32() || element.isF16() || element.isBF16());
  return has_vectors ? 128 / BitsOf(element) : 1;
}

mlir::FailureOr<llvm::SmallVector<mlir::Value>> NvidiaOps::AtomicAdds(mlir::OpBuilder& b, mlir::Location loc,
                                                                      const AtomicAccess& access,
                                                                      mlir::ValueRange values) const {
  mlir::Type type = values[0].getType();
  PtxBuilder ptx(b, loc);
  const mlir::Type in_register = type.isF32() ? type : mlir::Type(b.getIntegerType(BitsOf(type)));
  const bool is_reduction = IsReduction(access);
  std::string before, added;
  for (size_t i = 0; i < values.size() && !is_reduction; ++i)
    before += (before.empty() ? "{" : ", ") + ptx.AddOutput(in_register);
  std::string ptr = ptx.AddInput(access.ptr);
  for (mlir::Value value : values)
    added += (added.empty() ? "" : ", ") + ptx.AddInput(type.isF32() ? value : ToInteger(b, loc, value));
  const std::string width = ".v" + std::to_string(values.size());
  const std::string kind = type.isF32() ? width + ".f32" : ".noftz" + width + (type.isF16() ? ".f16" : ".bf16");
  std::string text = (is_reduction ? Reduction(access) : Rmw(access)) + ".add" + kind + " ";
  if (!is_reduction) text += before + "}, ";
  text += "[" + ptr + "], {" + added + "};";
  if (access.predicate) text = "@" + ptx.AddPredicate(access.predicate) + " " + text;
  llvm::SmallVector<mlir::Value> results;
  for (mlir::Value result : ptx.Emit(text, /*touches_memory=*/true))
    results.push_back(FromInteger(b, loc, type, result));
  if (is_reduction) results.assign(values.size(), LLVM::ZeroOp::create(b, loc, type));
  return results;
}

mlir::FailureOr<mlir::Value> NvidiaOps::AtomicCas(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                                  mlir::Value compare, mlir::Value value) const {
  mlir::Type type = value.getType();
  const int bits = BitsOf(type);
  if (bits != 16 && bits != 32 && bits != 64) {
    mlir::emitError(loc) << "no atomic compare and swap of " << type;
    return mlir::failure();
  }
  PtxBuilder ptx(b, loc);
  std::string text = Cas(access, bits) + " ";
  text += ptx.AddOutput(b.getIntegerType(bits)) + ", ";
  text += "[" + ptx.AddInput(access.ptr) + "], ";
  text += ptx.AddInput(ToInteger(b, loc, compare)) + ", ";
  text += ptx.AddInput(ToInteger(b, loc, value)) + ";";
  if (access.predicate) text = "@" + ptx.AddPredicate(access.predicate) + " " + text;
  return FromInteger(b, loc, type, ptx.Emit(text, /*touches_memory=*/true)[0]);
}

mlir::FailureOr<mlir::Value> NvidiaOps::AtomicLoad(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                                   mlir::Type type) const {
  const int bits = BitsOf(type);
  const bool publishes = access.semantic == tt::MemSemantic::kRelease || access.semantic == tt::MemSemantic::kAcqRel;
  if (publishes) return TargetOps::AtomicLoad(b, loc, access, type);  // only what writes can
  if (bits != 16 && bits != 32 && bits != 64) {
    mlir::emitError(loc) << "no atomic load of " << type;
    return mlir::failure();
  }
  PtxBuilder ptx(b, loc);
  std::string text =
      "ld" + Semantic(access) + Scope(access) + ".global.b" + std::to_string(bits) + " " + ptx.AddOutput(type);
  text += ", [" + ptx.AddInput(access.ptr) + "];";
  if (access.predicate) text = "@" + ptx.AddPredicate(access.predicate) + " " + text;
  return ptx.Emit(text, /*touches_memory=*/true)[0];
}

mlir::FailureOr<mlir::Value> NvidiaOps::Nanoseconds(mlir::OpBuilder& b, mlir::Location loc) const {
  return EmitIntrinsic(b, loc, "llvm.nvvm.read.ptx.sreg.globaltimer", b.getI64Type(), {});
}

}  // namespace tritond::compiler
