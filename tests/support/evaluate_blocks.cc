// SPDX-License-Identifier: Apache-2.0
// Blocks of tensors in memory: block pointers and descriptors. Both name a base, sizes and strides; a block is where
// it begins along each dimension.
#include <limits>

#include "tests/support/evaluator_access.h"

namespace tritond::tests {
namespace {

using llvm::APInt;
using mlir::Operation;
using mlir::RankedTensorType;

// A block of a tensor: base, sizes, strides and where the block begins.
struct Block {
  uint64_t base = 0;
  std::vector<int64_t> sizes, strides, begin;
  RankedTensorType type;
  bool poison = false;

  // The address of the element at `at`, counted from the block's begin. `inside` says whether it is part of the
  // tensor, judged by the dimensions of `checked`.
  uint64_t Address(llvm::ArrayRef<int64_t> at, llvm::ArrayRef<int32_t> checked, bool& inside) const {
    int64_t offset = 0;
    inside = true;
    for (size_t dim = 0; dim < at.size(); ++dim) {
      int64_t index = begin[dim] + at[dim];
      offset += index * strides[dim];
      if (llvm::is_contained(checked, static_cast<int32_t>(dim))) inside &= index >= 0 && index < sizes[dim];
    }
    return base + offset * BytesOf(type.getElementType());
  }
};

// From what the value of a block pointer or a descriptor holds; a descriptor's `begin` is left to the caller.
Block BlockOf(const Datum& datum, RankedTensorType type) {
  Block block;
  block.type = type;
  int64_t rank = type.getRank();
  for (const Element& element : datum.elements) block.poison |= element.poison;
  block.base = datum.elements[0].bits;
  for (int64_t i = 0; i < rank; ++i) {
    block.sizes.push_back(datum.elements[1 + i].bits);
    block.strides.push_back(datum.elements[1 + rank + i].bits);
    block.begin.push_back(1 + 2 * rank + i < CountOf(datum.type) ? datum.elements[1 + 2 * rank + i].bits : 0);
  }
  return block;
}

RankedTensorType BlockType(const Datum& ptr) {
  return llvm::cast<RankedTensorType>(llvm::cast<tt::PtrType>(ptr.type).getPointeeType());
}

Element NotANumber(mlir::Type element) {
  return FromDouble(std::numeric_limits<double>::quiet_NaN(), llvm::cast<mlir::FloatType>(element));
}

// Both kinds of values list integers in order; those of 32 bits are extended.
Data Collect(Evaluation&, Operation* op, Operands x) {
  Datum result{op->getResult(0).getType(), {}};
  for (const Datum* part : x) {
    Element element = part->elements[0];
    if (!element.poison) element = FromInt(ToInt(element, WidthOf(tt::ElementOf(part->type))).sext(64));
    result.elements.push_back(element);
  }
  if (auto desc = llvm::dyn_cast<tt::MakeTensorDescOp>(op))
    result.elements.push_back(Element{static_cast<uint64_t>(desc.getPadding())});
  return {result};
}

Data Advance(Evaluation&, Operation*, Operands x) {
  Datum result = *x[0];
  size_t rank = x.size() - 1;
  for (size_t i = 0; i < rank; ++i) {
    Element& offset = result.elements[1 + 2 * rank + i];
    offset.bits += SignedOf(x[1 + i]->elements[0], 32);
    offset.poison |= x[1 + i]->elements[0].poison;
  }
  return {result};
}

// What a descriptor's loads give outside the tensor.
Element PaddingOf(const Datum& desc, mlir::Type element) {
  bool nan = desc.elements.back().bits == static_cast<uint64_t>(tt::PaddingOption::kNan);
  return nan && llvm::isa<mlir::FloatType>(element) ? NotANumber(element) : Element{};
}

// Calls visit(address or nothing when outside, position in the block's elements) for each element of the block that
// begins at `indices`.
template <typename Visit>
void ForEachOfBlock(Evaluation& e, Operation* op, const Datum& desc, llvm::ArrayRef<const Datum*> indices,
                    Visit visit) {
  RankedTensorType type = llvm::cast<tt::TensorDescType>(desc.type).getBlockType();
  Block block = BlockOf(desc, type);
  llvm::SmallVector<int32_t> all;
  for (int i = 0; i < type.getRank(); ++i) {
    all.push_back(i);
    block.begin[i] = SignedOf(*indices[i]->elements.begin(), 32);
    block.poison |= indices[i]->elements[0].poison;
  }
  if (block.poison) return e.Fail(op, "an undefined descriptor or index");
  for (int64_t i = 0; i < type.getNumElements() && !e.failed(); ++i) {
    bool inside;
    Element address{block.Address(CoordinatesOf(i, type.getShape()), all, inside)};
    visit(inside ? std::optional<Element>(address) : std::nullopt, i);
  }
}

// As ForEachOfBlock for rows: `rows` lists the first coordinate of each, `column` is where they begin.
template <typename Visit>
void ForEachOfRows(Evaluation& e, Operation* op, const Datum& desc, const Datum& rows, const Datum& column,
                   Visit visit) {
  int64_t width = llvm::cast<tt::TensorDescType>(desc.type).getBlockType().getDimSize(1);
  unsigned bits = WidthOf(tt::ElementOf(rows.type));
  for (size_t row = 0; row < rows.elements.size() && !e.failed(); ++row) {
    Element first = rows.elements[row];
    if (!first.poison) first = FromInt(ToInt(first, bits).sext(32));
    Datum index{column.type, {first}};
    ForEachOfBlock(e, op, desc, {&index, &column},
                   [&](std::optional<Element> address, int64_t i) { visit(address, row * width + i); });
  }
}

mlir::Type ElementOfDescriptor(const Datum& desc) {
  return llvm::cast<tt::TensorDescType>(desc.type).getBlockType().getElementType();
}

// Reads what `for_each` visits into the result.
template <typename ForEach>
Data ReadBlock(Evaluation& e, Operation* op, const Datum& desc, ForEach for_each) {
  mlir::Type element = tt::ElementOf(op->getResult(0).getType());
  Datum result{op->getResult(0).getType(), {}};
  result.elements.resize(CountOf(result.type));
  for_each([&](std::optional<Element> address, int64_t i) {
    result.elements[i] = address ? LoadElement(e, op, *address, element) : PaddingOf(desc, element);
  });
  return {result};
}

Data DescriptorLoad(Evaluation& e, Operation* op, Operands x) {
  return ReadBlock(e, op, *x[0], [&](auto visit) { ForEachOfBlock(e, op, *x[0], x.drop_front(), visit); });
}

Data DescriptorGather(Evaluation& e, Operation* op, Operands x) {
  return ReadBlock(e, op, *x[0], [&](auto visit) { ForEachOfRows(e, op, *x[0], *x[1], *x[2], visit); });
}

Data DescriptorStore(Evaluation& e, Operation* op, Operands x) {
  ForEachOfBlock(e, op, *x[0], x.drop_front(2), [&](std::optional<Element> address, int64_t i) {
    if (address) StoreElement(e, op, *address, ElementOfDescriptor(*x[0]), x[1]->elements[i]);
  });
  return {};
}

Data DescriptorScatter(Evaluation& e, Operation* op, Operands x) {
  ForEachOfRows(e, op, *x[0], *x[1], *x[2], [&](std::optional<Element> address, int64_t i) {
    if (address) StoreElement(e, op, *address, ElementOfDescriptor(*x[0]), x[3]->elements[i]);
  });
  return {};
}

Element Reduced(tt::DescriptorReduceKind kind, Element before, Element value, mlir::Type element) {
  using K = tt::DescriptorReduceKind;
  switch (kind) {
    case K::kAdd:
      return Combine(tt::RmwOp::kAdd, before, value, element);
    case K::kMin:
      return Combine(element.isUnsignedInteger() ? tt::RmwOp::kUmin : tt::RmwOp::kMin, before, value, element);
    case K::kMax:
      return Combine(element.isUnsignedInteger() ? tt::RmwOp::kUmax : tt::RmwOp::kMax, before, value, element);
    case K::kAnd:
      return Combine(tt::RmwOp::kAnd, before, value, element);
    case K::kOr:
      return Combine(tt::RmwOp::kOr, before, value, element);
    case K::kXor:
      return Combine(tt::RmwOp::kXor, before, value, element);
    case K::kInc:
      return Element{before.bits >= value.bits ? 0 : before.bits + 1};
    case K::kDec:
      return before.bits == 0 || before.bits > value.bits ? value : Element{before.bits - 1};
  }
  llvm_unreachable("kind");
}

Data DescriptorReduce(Evaluation& e, Operation* op, Operands x) {
  mlir::Type element = ElementOfDescriptor(*x[0]);
  tt::DescriptorReduceKind kind = llvm::cast<tt::DescriptorReduceOp>(op).getKind();
  ForEachOfBlock(e, op, *x[0], x.drop_front(2), [&](std::optional<Element> address, int64_t i) {
    if (!address) return;
    Element before = LoadElement(e, op, *address, element), value = x[1]->elements[i];
    if (value.poison) e.Fail(op, "an undefined value reaches memory");
    if (!e.failed()) StoreElement(e, op, *address, element, Reduced(kind, before, value, element));
  });
  return {};
}

}  // namespace

Data LoadThroughBlockPointer(Evaluation& e, tt::LoadOp op, const Datum& ptr) {
  Block block = BlockOf(ptr, BlockType(ptr));
  if (block.poison) return e.Fail(op, "an undefined block pointer"), Data();
  auto checked = op.getBoundaryCheck().value_or(llvm::ArrayRef<int32_t>());
  mlir::Type element = block.type.getElementType();
  return {MakeDatum(op.getType(), [&](int64_t i) {
    bool inside;
    uint64_t address = block.Address(CoordinatesOf(i, block.type.getShape()), checked, inside);
    if (inside) return LoadElement(e, op, Element{address}, element);
    if (!op.getPadding()) return Element::Poison();
    return *op.getPadding() == tt::PaddingOption::kNan ? NotANumber(element) : Element{};
  })};
}

void StoreThroughBlockPointer(Evaluation& e, tt::StoreOp op, const Datum& ptr, const Datum& value) {
  Block block = BlockOf(ptr, BlockType(ptr));
  if (block.poison) return e.Fail(op, "an undefined block pointer");
  auto checked = op.getBoundaryCheck().value_or(llvm::ArrayRef<int32_t>());
  for (size_t i = 0; i < value.elements.size() && !e.failed(); ++i) {
    bool inside;
    uint64_t address = block.Address(CoordinatesOf(i, block.type.getShape()), checked, inside);
    if (inside) StoreElement(e, op, Element{address}, block.type.getElementType(), value.elements[i]);
  }
}

void AddBlocks(HandlerTable& table) {
  table["tt.make_tensor_ptr"] = table["tt.make_tensor_descriptor"] = Collect;
  table["tt.advance"] = Advance;
  table["tt.descriptor_load"] = DescriptorLoad;
  table["tt.descriptor_store"] = DescriptorStore;
  table["tt.descriptor_reduce"] = DescriptorReduce;
  table["tt.descriptor_gather"] = DescriptorGather;
  table["tt.descriptor_scatter"] = DescriptorScatter;
}

}  // namespace tritond::tests
