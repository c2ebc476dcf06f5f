// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics through scalars and tensors of pointers. Block pointers: evaluate_blocks.cc.
#include "compiler/ir/tt_dialect.h"
#include "tests/support/evaluation.h"
#include "tests/support/evaluator_access.h"

namespace tritond::tests {
namespace {

using llvm::APFloat;
using llvm::APInt;
using mlir::Operation;
using mlir::Value;

mlir::Type Pointee(mlir::Type ptr) { return llvm::cast<tt::PtrType>(tt::ElementOf(ptr)).getPointeeType(); }

Data AddPtr(Evaluation&, Operation* op, Operands x) {
  unsigned width = WidthOf(tt::ElementOf(x[1]->type));
  int64_t size = BytesOf(Pointee(x[0]->type));
  return {MakeDatum(x[0]->type, [&](int64_t i) {
    Element ptr = x[0]->elements[i], offset = x[1]->elements[i];
    if (ptr.poison || offset.poison) return Element::Poison();
    return Element{ptr.bits + static_cast<uint64_t>(SignedOf(offset, width) * size)};
  })};
}

// Whether element i takes part; `mask` is null where there is none.
bool Active(Evaluation& e, Operation* op, const Datum* mask, int64_t i) {
  if (!mask) return true;
  if (mask->elements[i].poison) e.Fail(op, "a mask is undefined");
  return mask->elements[i].bits;
}

Data Load(Evaluation& e, Operation* op, Operands x) {
  auto load = llvm::cast<tt::LoadOp>(op);
  if (IsBlockPointer(x[0]->type)) return LoadThroughBlockPointer(e, load, *x[0]);
  const Datum* mask = x.size() > 1 ? x[1] : nullptr;
  const Datum* other = x.size() > 2 ? x[2] : nullptr;
  mlir::Type element = Pointee(x[0]->type);
  return {MakeDatum(load.getType(), [&](int64_t i) {
    if (Active(e, op, mask, i)) return LoadElement(e, op, x[0]->elements[i], element);
    return other ? other->elements[i] : Element::Poison();
  })};
}

Data Store(Evaluation& e, Operation* op, Operands x) {
  auto store = llvm::cast<tt::StoreOp>(op);
  if (IsBlockPointer(x[0]->type)) return StoreThroughBlockPointer(e, store, *x[0], *x[1]), Data();
  const Datum* mask = x.size() > 2 ? x[2] : nullptr;
  for (size_t i = 0; i < x[0]->elements.size() && !e.failed(); ++i)
    if (Active(e, op, mask, i)) StoreElement(e, op, x[0]->elements[i], Pointee(x[0]->type), x[1]->elements[i]);
  return {};
}

Data AtomicRmw(Evaluation& e, Operation* op, Operands x) {
  tt::RmwOp kind = llvm::cast<tt::AtomicRMWOp>(op).getAtomicRmwOp();
  const Datum* mask = x.size() > 2 ? x[2] : nullptr;
  mlir::Type element = Pointee(x[0]->type);
  return {MakeDatum(op->getResult(0).getType(), [&](int64_t i) {
    if (!Active(e, op, mask, i)) return Element::Poison();
    Element before = LoadElement(e, op, x[0]->elements[i], element);
    if (x[1]->elements[i].poison) e.Fail(op, "an undefined value reaches memory");
    if (e.failed()) return Element::Poison();
    StoreElement(e, op, x[0]->elements[i], element, Combine(kind, before, x[1]->elements[i], element));
    return before;
  })};
}

Data AtomicCas(Evaluation& e, Operation* op, Operands x) {
  mlir::Type element = Pointee(x[0]->type);
  return {MakeDatum(op->getResult(0).getType(), [&](int64_t i) {
    Element before = LoadElement(e, op, x[0]->elements[i], element), expected = x[1]->elements[i];
    if (expected.poison) e.Fail(op, "an undefined value is compared with memory");
    if (before.bits == expected.bits) StoreElement(e, op, x[0]->elements[i], element, x[2]->elements[i]);
    return before;
  })};
}

// Programs run one after another: what is not there yet never comes.
Data AtomicPoll(Evaluation& e, Operation* op, Operands x) {
  Element value = LoadElement(e, op, x[0]->elements[0], op->getOperand(1).getType());
  bool there = !e.failed() && value.bits == e.Steering(op, *x[1]);
  if (!there && x.size() < 3) e.Fail(op, "waits for ever");
  return {Datum{op->getResult(0).getType(), {Element{there}}}};
}

Data Nothing(Evaluation&, Operation*, Operands) { return {}; }

Data Assert(Evaluation& e, Operation* op, Operands x) {
  for (const Element& condition : x[0]->elements) {
    if (condition.poison) e.Fail(op, "an assertion is undefined");
    if (!condition.bits) e.Fail(op, "assertion failed: " + llvm::cast<tt::AssertOp>(op).getMessage());
  }
  return {};
}

Data ProgramId(Evaluation& e, Operation* op, Operands) {
  auto axis = static_cast<int>(llvm::cast<tt::GetProgramIdOp>(op).getAxis());
  return {Datum{op->getResult(0).getType(), {Element{e.program(axis)}}}};
}

Data NumPrograms(Evaluation& e, Operation* op, Operands) {
  auto axis = static_cast<int>(llvm::cast<tt::GetNumProgramsOp>(op).getAxis());
  return {Datum{op->getResult(0).getType(), {Element{e.grid(axis)}}}};
}

}  // namespace

bool IsBlockPointer(mlir::Type type) {
  auto ptr = llvm::dyn_cast<tt::PtrType>(type);
  return ptr && llvm::isa<mlir::RankedTensorType>(ptr.getPointeeType());
}

int BytesOf(mlir::Type element) { return (WidthOf(element) + 7) / 8; }

Element LoadElement(Evaluation& e, Operation* op, Element address, mlir::Type element) {
  if (e.failed()) return Element::Poison();
  if (address.poison) return e.Fail(op, "an undefined address is read"), Element::Poison();
  auto bits = e.memory().Load(address.bits, BytesOf(element));
  if (!bits) return e.Fail(op, "a read outside all buffers"), Element::Poison();
  return Element{element.isInteger(1) ? *bits & 1 : *bits};
}

void StoreElement(Evaluation& e, Operation* op, Element address, mlir::Type element, Element value) {
  if (e.failed()) return;
  if (address.poison) return e.Fail(op, "an undefined address is written");
  if (value.poison) return e.Fail(op, "an undefined value reaches memory");
  if (!e.memory().Store(address.bits, BytesOf(element), value.bits)) e.Fail(op, "a write outside all buffers");
}

Element Combine(tt::RmwOp kind, Element before, Element value, mlir::Type element) {
  if (kind == tt::RmwOp::kXchg) return value;
  if (auto type = llvm::dyn_cast<mlir::FloatType>(element)) {
    APFloat a = ToFloat(before, type), b = ToFloat(value, type);
    if (kind == tt::RmwOp::kMax || kind == tt::RmwOp::kMin)
      return FromFloat(kind == tt::RmwOp::kMax ? maxnum(a, b) : minnum(a, b));
    return FromFloat(a + b);
  }
  APInt a = ToInt(before, WidthOf(element)), b = ToInt(value, WidthOf(element));
  switch (kind) {
    case tt::RmwOp::kAnd:
      return FromInt(a & b);
    case tt::RmwOp::kOr:
      return FromInt(a | b);
    case tt::RmwOp::kXor:
      return FromInt(a ^ b);
    case tt::RmwOp::kMax:
      return FromInt(a.sgt(b) ? a : b);
    case tt::RmwOp::kMin:
      return FromInt(a.slt(b) ? a : b);
    case tt::RmwOp::kUmax:
      return FromInt(a.ugt(b) ? a : b);
    case tt::RmwOp::kUmin:
      return FromInt(a.ult(b) ? a : b);
    default:
      return FromInt(a + b);
  }
}

void AddMemory(HandlerTable& table) {
  table["tt.addptr"] = AddPtr;
  table["tt.load"] = Load;
  table["tt.store"] = Store;
  table["tt.atomic_rmw"] = AtomicRmw;
  table["tt.atomic_cas"] = AtomicCas;
  table["tt.atomic_poll"] = AtomicPoll;
  table["tt.get_program_id"] = ProgramId;
  table["tt.get_num_programs"] = NumPrograms;
  table["tt.assert"] = Assert;
  for (const char* name : {"tt.print", "tt.grid_dependency_wait", "tt.grid_dependency_launch_dependents", "ttg.barrier",
                           "gpu.barrier", "llvm.intr.assume"})
    table[name] = Nothing;
}

}  // namespace tritond::tests
