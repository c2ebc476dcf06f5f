// SPDX-License-Identifier: Apache-2.0
// Accesses to memory (PTX ISA, "Data Movement and Conversion Instructions", "Parallel Synchronization: atom, red").
// They become LLVM's own, after a check. Orders and scopes are the strongest; cache operators and policies mean nothing
// here.
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/targets/emulated/ptx_function.h"
#include "llvm/ADT/StringSwitch.h"

namespace tritond::compiler::emulated {
namespace {

using host::RuntimeFunction;
using Kind = PtxOperand::Kind;

// What the words of an access say.
struct Access {
  int bits = 0;   // of an element
  int count = 1;  // elements of a vector
  uint32_t space = 0;
  bool is_atomic = false;

  int bytes() const { return bits * count / 8; }
};

bool ParseAccess(const PtxStatement& statement, Access* access) {
  const std::string& type = statement.words.back();
  if (type.size() < 2 || !absl::SimpleAtoi(absl::string_view(type).substr(1), &access->bits)) return false;
  for (int count : {2, 4, 8})
    if (statement.Has(absl::StrCat("v", count))) access->count = count;
  if (statement.Has("shared") || statement.Has("shared::cta")) access->space = host::kSharedAccess;
  access->is_atomic = statement.Has("relaxed") || statement.Has("acquire") || statement.Has("release");
  const bool is_other = statement.Has("param") || statement.Has("shared::cluster");
  return !is_other && (access->bits == 8 || access->bits == 16 || access->bits == 32 || access->bits == 64);
}

// Operands without the cache policy, which comes last.
size_t NumOperands(const PtxStatement& statement) {
  return statement.operands.size() - (statement.Has("L2::cache_hint") ? 1 : 0);
}

absl::StatusOr<llvm::Value*> Pointer(PtxFunction& f, const PtxOperand& operand) {
  auto address = f.Address(operand);
  if (!address.ok()) return address.status();
  return f.b().CreateIntToPtr(*address, f.b().getPtrTy());
}

void Check(PtxFunction& f, llvm::Value* pointer, int bytes, uint32_t kind) {
  f.CallRuntime(RuntimeFunction::kCheckAccess, {f.Site(), pointer, f.b().getInt64(bytes), f.b().getInt32(kind)});
}

absl::Status EmitLoad(PtxFunction& f, const PtxStatement& statement) {
  Access access;
  if (NumOperands(statement) != 2 || !ParseAccess(statement, &access)) return f.Unknown(statement);
  auto pointer = Pointer(f, statement.operands[1]);
  if (!pointer.ok()) return pointer.status();
  const std::vector<PtxOperand> to = PtxFunction::Elements(statement.operands[0]);
  if (static_cast<int>(to.size()) != access.count) return f.Unknown(statement);
  Check(f, *pointer, access.bytes(), access.space | (access.is_atomic ? host::kAtomicAccess : host::kReadAccess));
  llvm::Type* type = f.b().getIntNTy(access.bits);
  const bool is_signed = statement.words.back()[0] == 's';
  for (int i = 0; i < access.count; ++i) {
    llvm::LoadInst* load = f.b().CreateLoad(type, f.b().CreateConstGEP1_32(type, *pointer, i), /*isVolatile=*/true);
    if (access.is_atomic) load->setAtomic(llvm::AtomicOrdering::SequentiallyConsistent);
    llvm::Value* value =
        is_signed ? f.b().CreateSExt(load, f.b().getInt64Ty()) : f.b().CreateZExt(load, f.b().getInt64Ty());
    if (absl::Status status = f.Write(to[i], value); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status EmitStore(PtxFunction& f, const PtxStatement& statement) {
  Access access;
  if (NumOperands(statement) != 2 || !ParseAccess(statement, &access)) return f.Unknown(statement);
  auto pointer = Pointer(f, statement.operands[0]);
  if (!pointer.ok()) return pointer.status();
  const std::vector<PtxOperand> from = PtxFunction::Elements(statement.operands[1]);
  if (static_cast<int>(from.size()) != access.count) return f.Unknown(statement);
  Check(f, *pointer, access.bytes(), access.space | (access.is_atomic ? host::kAtomicAccess : host::kWriteAccess));
  llvm::Type* type = f.b().getIntNTy(access.bits);
  for (int i = 0; i < access.count; ++i) {
    auto value = f.Read(from[i], statement.words.back());
    if (!value.ok()) return value.status();
    llvm::StoreInst* store = f.b().CreateStore(f.b().CreateTrunc(*value, type),
                                               f.b().CreateConstGEP1_32(type, *pointer, i), /*isVolatile=*/true);
    if (access.is_atomic) store->setAtomic(llvm::AtomicOrdering::SequentiallyConsistent);
  }
  return absl::OkStatus();
}

// The operation of an "atom" or "red", by its word and whether numbers are signed.
llvm::AtomicRMWInst::BinOp OperationOf(llvm::StringRef word, char kind) {
  using Op = llvm::AtomicRMWInst::BinOp;
  if (kind == 'f') return word == "add" ? Op::FAdd : Op::BAD_BINOP;
  return llvm::StringSwitch<Op>(word)
      .Case("add", Op::Add)
      .Case("and", Op::And)
      .Case("or", Op::Or)
      .Case("xor", Op::Xor)
      .Case("exch", Op::Xchg)
      .Case("inc", Op::UIncWrap)
      .Case("dec", Op::UDecWrap)
      .Case("min", kind == 's' ? Op::Min : Op::UMin)
      .Case("max", kind == 's' ? Op::Max : Op::UMax)
      .Default(Op::BAD_BINOP);
}

struct AtomicType {
  llvm::Type* type = nullptr;  // of one operation
  char kind = 0;
  int per_register = 1;
};

AtomicType AtomicTypeOf(llvm::IRBuilder<>& b, llvm::StringRef word) {
  int bits = 0;
  if (word == "f16" || word == "f16x2") return {b.getHalfTy(), 'f', word == "f16" ? 1 : 2};
  if (word == "bf16" || word == "bf16x2") return {b.getBFloatTy(), 'f', word == "bf16" ? 1 : 2};
  if (word == "f32") return {b.getFloatTy(), 'f', 1};
  if (word == "f64") return {b.getDoubleTy(), 'f', 1};
  if (word.size() < 2 || word.substr(1).getAsInteger(10, bits) || bits < 16 || bits > 64) return {};
  return {b.getIntNTy(bits), word[0], 1};
}

absl::Status EmitSwap(PtxFunction& f, const PtxStatement& statement, llvm::Value* pointer, llvm::Type* type,
                      uint32_t space) {
  if (statement.operands.size() != 4) return f.Unknown(statement);
  auto expected = f.Read(statement.operands[2]), desired = f.Read(statement.operands[3]);
  if (!expected.ok()) return expected.status();
  if (!desired.ok()) return desired.status();
  Check(f, pointer, type->getIntegerBitWidth() / 8, space | host::kAtomicAccess);
  llvm::Value* pair = f.b().CreateAtomicCmpXchg(
      pointer, f.b().CreateTrunc(*expected, type), f.b().CreateTrunc(*desired, type), llvm::MaybeAlign(),
      llvm::AtomicOrdering::SequentiallyConsistent, llvm::AtomicOrdering::SequentiallyConsistent);
  llvm::Value* old = f.b().CreateZExt(f.b().CreateExtractValue(pair, 0), f.b().getInt64Ty());
  return f.Write(statement.operands[0], old);
}

// The elements of a register, each added on its own; returns what was there.
llvm::Value* EmitUpdates(PtxFunction& f, llvm::Value* pointer, llvm::Value* word, const AtomicType& type,
                         llvm::AtomicRMWInst::BinOp op) {
  llvm::IRBuilder<>& b = f.b();
  const unsigned bits = type.type->getScalarSizeInBits();
  llvm::Type* as_integer = b.getIntNTy(bits);
  llvm::Value* old = b.getInt64(0);
  for (int i = 0; i < type.per_register; ++i) {
    llvm::Value* operand = b.CreateTrunc(b.CreateLShr(word, i * bits), as_integer);
    llvm::Value* before =
        b.CreateAtomicRMW(op, b.CreateConstGEP1_32(as_integer, pointer, i), b.CreateBitCast(operand, type.type),
                          llvm::MaybeAlign(), llvm::AtomicOrdering::SequentiallyConsistent);
    llvm::Value* part = b.CreateZExt(b.CreateBitCast(before, as_integer), b.getInt64Ty());
    old = b.CreateOr(old, b.CreateShl(part, i * bits));
  }
  return old;
}

// "atom" gives what was there, "red" does not.
absl::Status EmitAtomic(PtxFunction& f, const PtxStatement& statement) {
  const bool has_result = statement.words[0] == "atom";
  const size_t at = has_result ? 1 : 0;
  if (statement.operands.size() < at + 2) return f.Unknown(statement);
  const AtomicType type = AtomicTypeOf(f.b(), statement.words.back());
  auto pointer = Pointer(f, statement.operands[at]);
  if (!pointer.ok()) return pointer.status();
  const bool is_shared = statement.Has("shared") || statement.Has("shared::cta");
  const uint32_t space = is_shared ? host::kSharedAccess : 0;
  if (!type.type || statement.Has("shared::cluster")) return f.Unknown(statement);
  if (has_result && statement.Has("cas") && type.kind != 'f') return EmitSwap(f, statement, *pointer, type.type, space);
  llvm::AtomicRMWInst::BinOp op = llvm::AtomicRMWInst::BAD_BINOP;
  for (const std::string& word : statement.words)
    if (op == llvm::AtomicRMWInst::BAD_BINOP) op = OperationOf(word, type.kind);
  const std::vector<PtxOperand> values = PtxFunction::Elements(statement.operands[at + 1]);
  std::vector<PtxOperand> results(values.size());
  if (has_result) results = PtxFunction::Elements(statement.operands[0]);
  if (op == llvm::AtomicRMWInst::BAD_BINOP || results.size() != values.size()) return f.Unknown(statement);
  const int bytes = type.type->getScalarSizeInBits() / 8 * type.per_register;
  Check(f, *pointer, bytes * static_cast<int>(values.size()), space | host::kAtomicAccess);
  for (size_t i = 0; i < values.size(); ++i) {
    auto value = f.Read(values[i], statement.words.back());
    if (!value.ok()) return value.status();
    llvm::Value* element = f.b().CreateConstGEP1_32(f.b().getInt8Ty(), *pointer, i * bytes);
    if (absl::Status status = f.Write(results[i], EmitUpdates(f, element, *value, type, op)); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

// "cp.async.cg.shared.global [to], [from], bytes, read": a predicate instead of `read` skips the reading.
absl::Status EmitAsyncCopy(PtxFunction& f, const PtxStatement& statement) {
  llvm::IRBuilder<>& b = f.b();
  const size_t operands = NumOperands(statement);
  if (operands < 3 || operands > 4 || !statement.Has("global") ||
      !(statement.Has("shared") || statement.Has("shared::cta")))
    return f.Unknown(statement);
  auto to = Pointer(f, statement.operands[0]), from = Pointer(f, statement.operands[1]);
  auto bytes = f.Read(statement.operands[2]);
  if (!to.ok()) return to.status();
  if (!from.ok()) return from.status();
  if (!bytes.ok()) return bytes.status();
  llvm::Value* read = *bytes;
  if (operands == 4) {
    auto given = f.Read(statement.operands[3]);
    if (!given.ok()) return given.status();
    read = *given;
    if (f.IsPredicate(statement.operands[3]))
      read = b.CreateSelect(b.CreateTrunc(*given, b.getInt1Ty()), b.getInt64(0), *bytes);
  }
  llvm::Type* i32 = b.getInt32Ty();
  f.CallRuntime(RuntimeFunction::kAsyncCopy,
                {f.Site(), *to, *from, b.CreateTrunc(*bytes, i32), b.CreateTrunc(read, i32)});
  return absl::OkStatus();
}

absl::Status EmitCopyFamily(PtxFunction& f, const PtxStatement& statement) {
  const std::string name = statement.Name();
  if (name == "cp.async.commit_group") {
    f.CallRuntime(RuntimeFunction::kAsyncCommit, {});
    return absl::OkStatus();
  }
  if (name == "cp.async.wait_all") f.CallRuntime(RuntimeFunction::kAsyncCommit, {});
  if (name == "cp.async.wait_all" || name == "cp.async.wait_group") {
    PtxOperand none;
    none.kind = Kind::kImmediate;
    auto pending = f.Read(statement.operands.empty() ? none : statement.operands[0]);
    if (!pending.ok()) return pending.status();
    f.CallRuntime(RuntimeFunction::kAsyncWait, {f.Site(), f.b().CreateTrunc(*pending, f.b().getInt32Ty())});
    return absl::OkStatus();
  }
  if (absl::StartsWith(name, "cp.async.ca.") || absl::StartsWith(name, "cp.async.cg."))
    return EmitAsyncCopy(f, statement);
  return f.Unknown(statement);
}

}  // namespace

absl::Status EmitMemoryInstruction(PtxFunction& f, const PtxStatement& statement, bool* known) {
  const std::string& opcode = statement.words[0];
  *known = true;
  // Which policy it is means nothing here.
  if (opcode == "createpolicy" && !statement.operands.empty()) return f.Write(statement.operands[0], f.b().getInt64(0));
  if (opcode == "ld") return EmitLoad(f, statement);
  if (opcode == "st") return EmitStore(f, statement);
  if (opcode == "atom" || opcode == "red") return EmitAtomic(f, statement);
  if (opcode == "cp" && !absl::StartsWith(statement.Name(), "cp.async.bulk.") &&
      !absl::StartsWith(statement.Name(), "cp.reduce.async.bulk.") &&
      !absl::StartsWith(statement.Name(), "cp.async.mbarrier."))
    return EmitCopyFamily(f, statement);
  *known = false;
  return absl::OkStatus();
}

}  // namespace tritond::compiler::emulated
