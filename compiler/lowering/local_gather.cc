// SPDX-License-Identifier: Apache-2.0
// Accesses of a buffer at indices that are data: gather, scatter, and scatter that combines atomically. The coordinates
// that are not indexed have offsets known but for the thread. The indexed one is sent through the inverse of the
// buffer's layout, bit by bit. An index outside the buffer reaches some element of it.
#include "compiler/analysis/scratch.h"
#include "compiler/layout/layout_algebra.h"
#include "compiler/lowering/memory_groups.h"
#include "compiler/lowering/shared_access.h"

namespace tritond::compiler {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;
namespace LLVM = mlir::LLVM;

// `layout` with coordinate 0 along `dim`.
LinearLayout WithoutDim(const LinearLayout& layout, unsigned dim) {
  LinearLayout::Columns columns = layout.columns();
  const LayoutDim& out = layout.OutDims()[dim];
  for (uint64_t& column : columns) column &= ~(out.mask() << out.shift);
  return LinearLayout::FromColumns(layout.InDims(), layout.OutDims(), columns);
}

// The addresses of the elements that the registers of `indices` name.
mlir::FailureOr<Values> AddressesOf(FunctionLowering& f, mlir::Operation* op, Value buffer, Value indices,
                                    unsigned axis) {
  Emitter& e = f.e;
  auto buffer_type = llvm::cast<ttg::MemDescType>(buffer.getType());
  LinearLayout layout = ttg::ToLinearLayout(buffer_type);
  auto inverse = PseudoInvert(layout);
  auto others = InvertAndCompose(WithoutDim(f.LayoutOf(llvm::cast<RankedTensorType>(indices.getType())), axis), layout);
  if (!inverse.ok() || !others.ok()) return op->emitOpError("cannot address the buffer");
  std::string dim = ttg::DimNames(axis + 1)[axis];
  int64_t size = buffer_type.getShape()[axis];
  mlir::Type stored = SharedType(e, f.ConvertType(buffer_type.getElementType()));
  SharedPlace place = PlaceOf(f, buffer);
  Value thread = f.ThreadPart(*others, "offset"), part = place.offset;
  Values addresses;
  for (auto [r, index] : llvm::enumerate(f.Get(indices))) {
    unsigned width = index.getType().getIntOrFloatBitWidth();
    Value narrow = width < 32 ? e.ZExt(index, 32) : width > 32 ? e.Trunc(index, 32) : index;
    Value coordinate = e.And(narrow, e.Int(size - 1));
    Value indexed = ApplyBases(e, *inverse, dim, "offset", [&] { return coordinate; });
    place.offset = part ? e.Xor(part, indexed) : indexed;
    addresses.push_back(place.Address(f, *others, thread, OffsetOf(*others, r), stored));
  }
  return addresses;
}

LogicalResult LowerGather(FunctionLowering& f, ttg::LocalGatherOp op) {
  auto addresses = AddressesOf(f, op, op.getSrc(), op.getIndices(), op.getAxis());
  if (failed(addresses)) return mlir::failure();
  mlir::Type element = f.ConvertType(tt::ElementOf(op.getType())), stored = SharedType(f.e, element);
  Values results;
  for (Value ptr : *addresses) results.push_back(FromShared(f.e, LoadVector(f.e, ptr, stored, 1)[0], element));
  f.Set(op, results);
  return mlir::success();
}

LogicalResult LowerScatter(FunctionLowering& f, ttg::LocalScatterOp op) {
  auto addresses = AddressesOf(f, op, op.getDst(), op.getIndices(), op.getAxis());
  if (failed(addresses)) return mlir::failure();
  for (auto [ptr, value] : llvm::zip(*addresses, f.Get(op.getValues()))) StoreVector(f.e, ptr, {ToShared(f.e, value)});
  return mlir::success();
}

// LLVM's name of the operation on elements of `type`; nullopt where there is none.
std::optional<LLVM::AtomicBinOp> BinOpOf(tt::RmwOp op, mlir::Type type) {
  bool is_float = llvm::isa<mlir::FloatType>(type);
  using Op = LLVM::AtomicBinOp;
  switch (op) {
    case tt::RmwOp::kXchg:
      return Op::xchg;
    case tt::RmwOp::kFadd:
      return is_float ? std::optional(Op::fadd) : std::nullopt;
    case tt::RmwOp::kMax:
      return is_float ? Op::fmax : Op::max;
    case tt::RmwOp::kMin:
      return is_float ? Op::fmin : Op::min;
    default:
      break;
  }
  if (is_float) return std::nullopt;
  switch (op) {
    case tt::RmwOp::kAnd:
      return Op::_and;
    case tt::RmwOp::kOr:
      return Op::_or;
    case tt::RmwOp::kXor:
      return Op::_xor;
    case tt::RmwOp::kAdd:
      return Op::add;
    case tt::RmwOp::kUmax:
      return Op::umax;
    case tt::RmwOp::kUmin:
      return Op::umin;
    default:
      return std::nullopt;
  }
}

// The value before, undefined where `predicate` (may be null) is false: there the thread goes around it.
Value AtomicWhere(Emitter& e, Value predicate, LLVM::AtomicBinOp op, Value ptr, Value value) {
  auto emit = [&]() -> Value {
    return LLVM::AtomicRMWOp::create(e.b, e.loc, op, ptr, value, LLVM::AtomicOrdering::monotonic);
  };
  if (!predicate) return emit();
  mlir::Block* here = e.b.getInsertionBlock();
  mlir::Block* after = here->splitBlock(e.b.getInsertionPoint());
  mlir::Block* act = e.b.createBlock(after);
  Value result = after->addArgument(value.getType(), e.loc);
  Value before = emit();
  LLVM::BrOp::create(e.b, e.loc, before, after);
  e.b.setInsertionPointToEnd(here);
  LLVM::CondBrOp::create(e.b, e.loc, predicate, act, mlir::ValueRange(), after,
                         mlir::ValueRange(e.Zero(value.getType())));
  e.b.setInsertionPointToStart(after);
  return result;
}

LogicalResult LowerAtomic(FunctionLowering& f, ttg::LocalAtomicScatterRMWOp op) {
  Emitter& e = f.e;
  mlir::Type element = f.ConvertType(tt::ElementOf(op.getType()));
  std::optional<LLVM::AtomicBinOp> bin_op = BinOpOf(op.getAtomicRmwOp(), tt::ElementOf(op.getType()));
  bool narrow_float = llvm::isa<mlir::FloatType>(tt::ElementOf(op.getType())) && !llvm::isa<mlir::FloatType>(element);
  if (!bin_op || !element.isIntOrFloat() || element.isInteger(1) || narrow_float)
    return op.emitOpError() << "is not available for " << tt::ElementOf(op.getType());
  auto addresses = AddressesOf(f, op, op.getDst(), op.getIndices(), op.getAxis());
  if (failed(addresses)) return mlir::failure();
  auto type = llvm::cast<RankedTensorType>(op.getType());
  int copies = 0;
  for (auto [dim, bits] : llvm::zip(f.LayoutOf(type).InDims(), f.LayoutOf(type).FreeVariableMasks()))
    if (dim.name == "register") copies = bits;
  Value acts = FirstCopyOf(f, op.getIndices());
  ValueList values = f.Get(op.getValues()), masks = op.getMask() ? f.Get(op.getMask()) : ValueList();
  Values results(values.size());
  for (size_t r = 0; r < values.size(); ++r) {
    if (r & copies) {
      results[r] = results[r & ~copies];
      continue;
    }
    Value predicate = acts;
    if (!masks.empty()) predicate = acts ? e.And(masks[r], acts) : masks[r];
    results[r] = AtomicWhere(e, predicate, *bin_op, (*addresses)[r], values[r]);
  }
  if (ScratchBytes(op) > 0) results = ShareResults(f, op, acts, results);
  f.Set(op, results);
  return mlir::success();
}

}  // namespace

void AddLocalGather(LoweringTable& table) {
  table.Add<ttg::LocalGatherOp>(LowerGather);
  table.Add<ttg::LocalScatterOp>(LowerScatter);
  table.Add<ttg::LocalAtomicScatterRMWOp>(LowerAtomic);
}

}  // namespace tritond::compiler
