// SPDX-License-Identifier: Apache-2.0
// Replaces tensor descriptors by their parts: the base, for each dimension the size and the stride as i64, and two
// flags. The flags say whether elements outside are NaN, and whether f32 elements are rounded to tf32. Where a
// descriptor is accessed, the parts become a tensor of pointers and a mask over all dimensions:
//
//   %d = tt.make_tensor_descriptor %base, [%m, %n], [%s, %c1] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16>>
//   %v = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
// becomes
//   %r = make_range, %c = make_range                                          // rows and columns of the block
//   %q = tt.addptr %base, %i * %s + %j                                        : !tt.ptr<f16>
//   %p = tt.addptr (splat %q), %r * %s + %c                                   : tensor<64x64x!tt.ptr<f16>>
//   %k = -%i <= %r < %m - %i and -%j <= %c < %n - %j                          : tensor<64x64xi1>
//   %v = tt.load %p, %k, 0.0
//
// Dimensions along which the block has one element go into the base, so that the pointers have as few dimensions as the
// data. The result is reshaped to the block, which the program most often undoes.
//
// Where a program makes rows of a block's leading dimensions, the pointers are to such rows. So a dot of images sees a
// matrix:
//
//   %v = tt.descriptor_load %d[%n, %h, %w, %c] : !tt.tensordesc<tensor<1x8x16x64xf16>> -> tensor<1x8x16x64xf16>
//   %x = tt.reshape %v : tensor<1x8x16x64xf16> -> tensor<128x64xf16>
// becomes
//   %i = make_range : tensor<128xi32>                                         // row %i / 16, %i % 16 of the block
//   %p = tt.addptr (splat %q), %i / 16 * %sh + %i % 16 * %sw + %c             : tensor<128x64x!tt.ptr<f16>>
//   %x = tt.load %p, %k, 0.0
//
// The same holds for a store of rows that become a block. Operations on single elements may be between.
//
// Where a bulk copy may take the place of a load or a store, its mask says so: tt.block_mask. So do those of kernels
// without dots, whose blocks are rows then.
//
// Where `names_blocks` says that the device has bulk copies, other loads are as wide as memory allows. A group of 16
// bytes of a row has one address that is aligned, so what lies behind its last element in the tensor may be read, and
// is replaced:
//
//   %k = … and -%j <= %c < (%n + 7) / 8 * 8 - %j ; %w = tt.load %p, %k, 0.0       // %j is a multiple of 8
//   %v = arith.select (%c < %n - %j), %w, 0.0
//
// A store is masked likewise, a reduction becomes an atomic, a gather takes its rows from a tensor.
//
// The order of floats follows from their bits as integers. Numbers without the sign bit have the order of signed
// integers. Numbers with it have the reverse order of unsigned integers. So a maximum of floats is an atomic signed
// maximum where the new element has no sign, and an unsigned minimum where it has one. The minimum likewise. NaNs count
// as beyond infinity.
//
// A kernel that takes a descriptor takes the parts instead, as a launcher passes a descriptor that has no hardware
// form. Their order is base, sizes, strides, then `flags` flags (the number of these depends on the launcher's
// release). The launcher has checked that the base and all strides but the last are multiples of 16 bytes and that the
// last stride is one. The kernel is compiled for that. So is one for a device with bulk copies that makes descriptors
// itself: Triton asks the same of these, and no map has other strides.
//
// With `marks_arguments` a later pass may find that a launcher could make a tensor map of a descriptor. The first part
// of each that a kernel takes says then how many parts it has (tt.descriptor_parts), and blocks have their names also
// where it is not known what lies outside: the launcher's map says that.
#include "compiler/analysis/axis_info.h"
#include "compiler/encoding/block_access.h"
#include "compiler/encoding/collapsed_uses.h"
#include "compiler/ir/collapsed_block.h"
#include "compiler/ir/contains.h"
#include "compiler/passes/passes.h"
#include "compiler/pipelining/loop_iterations.h"
#include "llvm/ADT/BitVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_REWRITETENSORDESCRIPTORPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::ConversionPatternRewriter;
using mlir::Location;
using mlir::LogicalResult;
using mlir::OpBuilder;
using mlir::RankedTensorType;
using mlir::Type;
using mlir::Value;

constexpr llvm::StringLiteral kDivisibility = "tt.divisibility";
constexpr int kNumFlags = 2;
constexpr int kAlignmentBytes = 16;
constexpr int64_t kMostBulkRank = 5;  // dimensions of a tensor that bulk copies know
// Of a block that bulk copies load or store in no loop. A copy moves rows of up to 128 bytes and takes a warp as many
// instructions as two groups of 16 bytes of each lane. Before the first one a mbarrier is made.
constexpr int64_t kLeastBulkRowBytes = 32, kMostBulkRowBytes = 128, kLeastBulkBytes = 4096, kLeastBulkGroups = 4;

bool IsDescriptor(Type type) { return llvm::isa<tt::TensorDescType>(type); }

RankedTensorType BlockOf(Type type) { return llvm::cast<tt::TensorDescType>(type).getBlockType(); }

// The element in registers: a descriptor may tell signed from unsigned integers.
Type ElementOf(RankedTensorType block) {
  Type element = block.getElementType();
  return element.isInteger() ? mlir::IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth()) : element;
}

// Elements between two addresses that are aligned.
int64_t ElementsAligned(RankedTensorType block) {
  return std::max<int64_t>(1, kAlignmentBytes * 8 / std::max(8u, ElementOf(block).getIntOrFloatBitWidth()));
}

std::optional<LogicalResult> PartsOf(tt::TensorDescType type, llvm::SmallVectorImpl<Type>& parts) {
  mlir::MLIRContext* context = type.getContext();
  parts.push_back(tt::PtrType::get(ElementOf(type.getBlockType())));
  parts.append(2 * type.getBlockType().getRank(), mlir::IntegerType::get(context, 64));
  parts.append(kNumFlags, mlir::IntegerType::get(context, 1));
  return mlir::success();
}

// Base, shape and strides of a descriptor; no indices yet.
BlockAccess TensorOf(mlir::ValueRange parts) {
  size_t rank = (parts.size() - 1 - kNumFlags) / 2;
  return {parts[0], llvm::to_vector(parts.slice(1, rank)), llvm::to_vector(parts.slice(1 + rank, rank)), {}};
}
Value PaddingFlag(mlir::ValueRange parts) { return parts[parts.size() - 2]; }
Value RoundingFlag(mlir::ValueRange parts) { return parts[parts.size() - 1]; }

// An access to a block whose dimensions of one element are left out.
struct DescriptorAccess {
  BlockAccess block;  // its base has these dimensions' offsets in it
  Value inside;       // i1: they lie within the tensor; null: there are none

  // Whether each element lies within the tensor.
  Value Mask(OpBuilder& b, Location loc) const {
    Value mask = BlockMask(b, loc, block, llvm::to_vector(llvm::seq<int32_t>(0, block.indices.size())));
    if (!inside) return mask;
    return arith::AndIOp::create(b, loc, mask, tt::SplatOp::create(b, loc, mask.getType(), inside));
  }
};

llvm::ArrayRef<int64_t> ShapeOf(Value tensor) { return llvm::cast<RankedTensorType>(tensor.getType()).getShape(); }

// The last dimension stays, whatever its size. `shape`: the sizes that the program gives the block elsewhere. Where
// these collapse neighbours, the pointers do, too.
DescriptorAccess AccessAt(OpBuilder& b, Location loc, mlir::ValueRange parts, RankedTensorType block,
                          mlir::ValueRange offsets, llvm::ArrayRef<int64_t> shape) {
  const BlockAccess tensor = TensorOf(parts);
  const auto axes = CollapsedDims(block.getShape(), WithoutOnes(shape));
  DescriptorAccess access{{tensor.base, {}, {}, {}}, Value()};
  for (auto [dim, offset] : llvm::enumerate(ExtendToI64(b, loc, offsets))) {
    const Value size = tensor.shape[dim], stride = tensor.strides[dim];
    if (block.getDimSize(dim) > 1 || static_cast<int64_t>(dim) + 1 == block.getRank()) {
      access.block.shape.push_back(size);
      access.block.strides.push_back(stride);
      access.block.indices.push_back({offset, block.getDimSize(dim)});
      if (axes) access.block.axes.push_back((*axes)[dim]);
      continue;
    }
    Value distance = arith::MulIOp::create(b, loc, offset, stride);
    access.block.base = tt::AddPtrOp::create(b, loc, tensor.base.getType(), access.block.base, distance);
    Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
    Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, offset, zero);
    Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, offset, size);
    Value both = arith::AndIOp::create(b, loc, low, high);
    access.inside = access.inside ? arith::AndIOp::create(b, loc, access.inside, both).getResult() : both;
  }
  return access;
}

// Rows `x` of a gather or scatter, `columns` columns from `y` on.
DescriptorAccess AccessRows(OpBuilder& b, Location loc, mlir::ValueRange parts, Value x, Value y, int64_t columns) {
  BlockAccess access = TensorOf(parts);
  access.indices.push_back({ExtendToI64(b, loc, x)[0]});
  access.indices.push_back({ExtendToI64(b, loc, y)[0], columns});
  return {access, Value()};
}

Value Reshaped(OpBuilder& b, Location loc, Value value, llvm::ArrayRef<int64_t> shape) {
  auto type = llvm::cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape) return value;
  return tt::ReshapeOp::create(b, loc, RankedTensorType::get(shape, type.getElementType()), value, false, false);
}

// Zeros, or NaNs where the flag says so.
Value PaddingTensor(OpBuilder& b, Location loc, RankedTensorType type, Value nan_flag) {
  Value padding = arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
  if (auto element = llvm::dyn_cast<mlir::FloatType>(type.getElementType())) {
    auto nan = b.getFloatAttr(element, llvm::APFloat::getNaN(element.getFloatSemantics()));
    padding = arith::SelectOp::create(b, loc, nan_flag, arith::ConstantOp::create(b, loc, nan), padding);
  }
  return tt::SplatOp::create(b, loc, type, padding);
}

// f32 to the nearest tf32 (10 bits of mantissa), ties away from zero, where the flag says so. NaNs stay.
Value Rounded(OpBuilder& b, Location loc, Value value, Value flag) {
  auto type = llvm::cast<RankedTensorType>(value.getType());
  if (!type.getElementType().isF32() || mlir::matchPattern(flag, mlir::m_Zero())) return value;
  auto bits_type = RankedTensorType::get(type.getShape(), b.getI32Type());
  auto constant = [&](uint32_t bits) -> Value {
    return arith::ConstantOp::create(b, loc, mlir::DenseElementsAttr::get(bits_type, llvm::APInt(32, bits)));
  };
  Value bits = tt::BitcastOp::create(b, loc, bits_type, value);
  bits = arith::AndIOp::create(b, loc, arith::AddIOp::create(b, loc, bits, constant(0x1000)), constant(0xffffe000));
  Value nan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  Value rounded = arith::SelectOp::create(b, loc, nan, value, tt::BitcastOp::create(b, loc, type, bits));
  return arith::SelectOp::create(b, loc, flag, rounded, value);
}

// The same, but that the last dimension ends with a group of `elements`.
DescriptorAccess WithWholeGroups(OpBuilder& b, Location loc, DescriptorAccess access, int64_t elements) {
  auto constant = [&](int64_t value) -> Value { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); };
  Value& size = access.block.shape.back();
  size =
      arith::AndIOp::create(b, loc, arith::AddIOp::create(b, loc, size, constant(elements - 1)), constant(-elements));
  return access;
}

// How a block is loaded.
struct LoadWays {
  tt::CacheModifier cache = tt::CacheModifier::kNone;
  tt::EvictionPolicy evict = tt::EvictionPolicy::kNormal;
  llvm::function_ref<Value(Value)> name = nullptr;  // makes of the mask one that names the block
  int64_t group = 1;  // elements of the last dimension that are read as soon as one of them lies within the tensor
};

Value LoadBlock(OpBuilder& b, mlir::Operation* op, mlir::ValueRange parts, const DescriptorAccess& access,
                RankedTensorType result, const LoadWays& ways) {
  Location loc = op->getLoc();
  Value pointers = BlockPointers(b, loc, access.block);
  auto type = llvm::cast<RankedTensorType>(tt::PointeeTypeOf(pointers.getType()));
  Value other = PaddingTensor(b, loc, type, PaddingFlag(parts));
  Value mask = ways.group > 1 ? WithWholeGroups(b, loc, access, ways.group).Mask(b, loc) : access.Mask(b, loc);
  auto load = tt::LoadOp::create(b, loc, pointers, ways.name ? ways.name(mask) : mask, other, ways.cache, ways.evict);
  load->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  Value loaded = load;
  if (ways.group > 1) {
    Value inside = BlockMask(b, loc, access.block, {static_cast<int32_t>(access.block.indices.size()) - 1});
    loaded = arith::SelectOp::create(b, loc, inside, loaded, other);
  }
  return Reshaped(b, loc, Rounded(b, loc, loaded, RoundingFlag(parts)), result.getShape());
}

// Whether a dot takes it, as it is or with its elements in another order.
bool FeedsDot(Value block) {
  return llvm::any_of(block.getUsers(), [](mlir::Operation* user) {
    return llvm::isa<tt::DotOp>(user) || (llvm::isa<tt::TransOp, tt::ReshapeOp>(user) && FeedsDot(user->getResult(0)));
  });
}

// Whether they are those of a descriptor that a kernel takes. Descriptors that it makes have flags that are known.
bool AreFromLaunch(mlir::ValueRange parts) {
  auto flag = llvm::dyn_cast<mlir::BlockArgument>(PaddingFlag(parts));
  auto func = flag ? llvm::dyn_cast<tt::FuncOp>(flag.getOwner()->getParentOp()) : tt::FuncOp();
  return func && func.isPublic() && flag.getOwner()->isEntryBlock();
}

// Whether the elements of a row are neighbours.
bool HasUnitStride(mlir::ValueRange parts) {
  return AreFromLaunch(parts) || mlir::matchPattern(TensorOf(parts).strides.back(), mlir::m_One());
}

// Whether bulk copies know the tensor: it has whole rows of 16 bytes at least, and as far as it is known none begins
// between two groups of 16 bytes.
bool IsOfBulkCopies(RankedTensorType block, mlir::ValueRange parts) {
  const BlockAccess tensor = TensorOf(parts);
  const int64_t bits = ElementOf(block).getIntOrFloatBitWidth();
  auto begins_between = [&](Value stride) {
    llvm::APInt value;
    return mlir::matchPattern(stride, mlir::m_ConstantInt(&value)) &&
           value.getSExtValue() * bits % (8 * kAlignmentBytes) != 0;
  };
  return HasUnitStride(parts) && block.getRank() >= 2 && block.getRank() <= kMostBulkRank &&
         block.getShape().back() * bits >= 8 * kAlignmentBytes &&
         llvm::none_of(llvm::ArrayRef(tensor.strides).drop_back(), begins_between);
}

// Whether the innermost loop around `op` has other loops in it. Such a loop has no pipeline, so nothing copies what it
// loads itself.
bool IsBesideLoops(mlir::Operation* op) {
  auto loop = op->getParentOfType<mlir::scf::ForOp>();
  return loop && !IsInnermost(loop);
}

// Whether a bulk copy may take the place of the load: in a loop with dots, beside which it can go on. It fills in
// zeros, or NaNs where a flag says so.
bool MayBeCopied(tt::DescriptorLoadOp op, mlir::ValueRange parts) {
  RankedTensorType block = BlockOf(op.getDesc().getType());
  const int64_t bits = block.getElementTypeBitWidth();
  auto loop = op->getParentOfType<mlir::scf::ForOp>();
  return !mlir::matchPattern(PaddingFlag(parts), mlir::m_One()) && loop && !IsBesideLoops(op) &&
         (FeedsDot(op) || Contains<tt::DotOp>(loop)) && (bits == 8 || bits == 16 || bits == 32) &&
         IsOfBulkCopies(block, parts);
}

// Whether the outermost loop around `op` has dots.
bool IsBesideDots(mlir::Operation* op) {
  mlir::Operation* outermost = nullptr;
  for (auto loop = op->getParentOfType<mlir::scf::ForOp>(); loop; loop = loop->getParentOfType<mlir::scf::ForOp>())
    outermost = loop;
  return outermost && Contains<tt::DotOp>(outermost);
}

// Whether a bulk copy may take the place of the store, or of the reduction: in a loop with dots, beside which it can go
// on. Where the launcher makes the map, it pays for a reduction anywhere. A store's has an end to wait for, in place of
// masks and addresses: it pays where accumulators take the registers.
template <typename Op>
bool MayBeCopied(Op op, mlir::ValueRange parts, bool launcher_makes_maps) {
  constexpr bool is_store = std::is_same_v<Op, tt::DescriptorStoreOp>;
  RankedTensorType block = BlockOf(op.getDesc().getType());
  const int64_t bits = block.getElementTypeBitWidth();
  const bool pays_outside = !is_store || Contains<tt::DotOp>(op->template getParentOfType<tt::FuncOp>());
  return ((bits == 8 && is_store) || bits == 16 || bits == 32) && IsOfBulkCopies(block, parts) &&
         ((launcher_makes_maps && AreFromLaunch(parts) && pays_outside) || IsBesideDots(op));
}

// The mask of an access to the block at `indices`, which says so.
Value NamedMask(OpBuilder& b, Location loc, Value mask, mlir::ValueRange parts, RankedTensorType block,
                mlir::ValueRange indices) {
  const BlockAccess tensor = TensorOf(parts);
  return tt::BlockMaskOp::create(b, loc, mask.getType(), mask, tensor.base, indices, tensor.shape, tensor.strides,
                                 block.getShape());
}

// `value`, which is a multiple of `by` wherever the descriptor is made. Elsewhere it may be another one, so an
// operation of its own says so. As it is, where nothing can be said of it.
Value Promised(OpBuilder& b, Value value, int64_t by) {
  mlir::Operation* op = value.getDefiningOp();
  if (!op || !mlir::isPure(op) || op->getNumResults() != 1 || op->hasTrait<mlir::OpTrait::ConstantLike>()) return value;
  if (auto said = op->getAttrOfType<mlir::IntegerAttr>(kDivisibility); said && said.getInt() % by == 0) return value;
  mlir::Operation* own = b.clone(*op);
  own->setAttr(kDivisibility, b.getI32IntegerAttr(static_cast<int32_t>(by)));
  return own->getResult(0);
}

// Whether the numbers are one, or extensions of one.
bool IsSame(Value x, Value y) {
  auto narrow = [](Value value) {
    auto wide = value.getDefiningOp<arith::ExtSIOp>();
    return wide ? wide.getIn() : value;
  };
  return narrow(x) == narrow(y);
}

struct ConvertMake : public mlir::OpConversionPattern<tt::MakeTensorDescOp> {
  ConvertMake(const mlir::TypeConverter& converter, mlir::MLIRContext* context, bool is_of_bulk_copies)
      : OpConversionPattern(converter, context), is_of_bulk_copies_(is_of_bulk_copies) {}

  LogicalResult matchAndRewrite(tt::MakeTensorDescOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const final {
    Value base = OnlyPart(adaptor.getBase());
    Type base_type = tt::PtrType::get(ElementOf(BlockOf(op.getType())));
    if (base.getType() != base_type) base = tt::BitcastOp::create(rewriter, op.getLoc(), base_type, base);
    llvm::SmallVector<Value> parts{base};
    parts.append(ExtendToI64(rewriter, op.getLoc(), OnlyParts(adaptor.getShape())));
    parts.append(ExtendToI64(rewriter, op.getLoc(), OnlyParts(adaptor.getStrides())));
    if (is_of_bulk_copies_) PromiseAlignment(rewriter, BlockOf(op.getType()), parts);
    for (bool flag : {op.getPadding() == tt::PaddingOption::kNan, false})
      parts.push_back(arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getBoolAttr(flag)));
    rewriter.replaceOpWithMultiple(op, {parts});
    return mlir::success();
  }

 private:
  // Of the base and of all strides but the last; so of a size that is one of these strides.
  static void PromiseAlignment(OpBuilder& b, RankedTensorType block, llvm::MutableArrayRef<Value> parts) {
    const int64_t rank = block.getRank();
    llvm::MutableArrayRef<Value> shape = parts.slice(1, rank), strides = parts.slice(1 + rank, rank);
    parts.front() = Promised(b, parts.front(), kAlignmentBytes);
    for (Value& stride : strides.drop_back()) {
      const Value promised = Promised(b, stride, ElementsAligned(block));
      if (IsSame(shape.back(), stride)) shape.back() = promised;
      stride = promised;
    }
  }

  bool is_of_bulk_copies_;
};

// Loads whose blocks begin with a group of 16 bytes.
using AlignedLoads = llvm::DenseSet<mlir::Operation*>;
// Accesses to a kernel's own descriptors that bulk copies may make in one piece: those of kernels without dots.
using WholeAccesses = llvm::DenseSet<mlir::Operation*>;

// The shape of a block as rows.
llvm::SmallVector<int64_t> RowsOf(RankedTensorType block) {
  const int64_t last = block.getShape().back();
  return {block.getNumElements() / last, last};
}

struct ConvertLoad : public mlir::OpConversionPattern<tt::DescriptorLoadOp> {
  ConvertLoad(const mlir::TypeConverter& converter, mlir::MLIRContext* context, bool names_blocks,
              const AlignedLoads& aligned, const WholeAccesses& whole)
      : OpConversionPattern(converter, context), names_blocks_(names_blocks), aligned_(aligned), whole_(whole) {}

  LogicalResult matchAndRewrite(tt::DescriptorLoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const final {
    RankedTensorType block = BlockOf(op.getDesc().getType());
    llvm::SmallVector<Value> indices = OnlyParts(adaptor.getIndices());
    const bool is_whole = whole_.contains(op);
    DescriptorAccess access = AccessAt(rewriter, op.getLoc(), adaptor.getDesc(), block, indices,
                                       is_whole ? llvm::ArrayRef<int64_t>(RowsOf(block)) : ShapeOfUses(op.getResult()));
    auto name = [&](Value mask) { return NamedMask(rewriter, op.getLoc(), mask, adaptor.getDesc(), block, indices); };
    LoadWays ways{op.getCache(), op.getEvict()};
    if (is_whole || (names_blocks_ && MayBeCopied(op, adaptor.getDesc())))
      ways.name = name;
    else if (aligned_.contains(op) && (IsBesideLoops(op) || !FeedsDot(op)) && HasUnitStride(adaptor.getDesc()))
      ways.group = ElementsAligned(block);
    rewriter.replaceOp(
        op, LoadBlock(rewriter, op, adaptor.getDesc(), access, llvm::cast<RankedTensorType>(op.getType()), ways));
    return mlir::success();
  }

 private:
  bool names_blocks_;
  const AlignedLoads& aligned_;
  const WholeAccesses& whole_;
};

struct ConvertGather : public mlir::OpConversionPattern<tt::DescriptorGatherOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::DescriptorGatherOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const final {
    auto type = llvm::cast<RankedTensorType>(op.getType());
    DescriptorAccess access = AccessRows(rewriter, op.getLoc(), adaptor.getDesc(), OnlyPart(adaptor.getXOffsets()),
                                         OnlyPart(adaptor.getYOffset()), type.getDimSize(1));
    rewriter.replaceOp(op, LoadBlock(rewriter, op, adaptor.getDesc(), access, type, LoadWays()));
    return mlir::success();
  }
};

struct ConvertStore : public mlir::OpConversionPattern<tt::DescriptorStoreOp> {
  ConvertStore(const mlir::TypeConverter& converter, mlir::MLIRContext* context, bool names_blocks,
               bool launcher_makes_maps, const WholeAccesses& whole)
      : OpConversionPattern(converter, context),
        names_blocks_(names_blocks),
        launcher_makes_maps_(launcher_makes_maps),
        whole_(whole) {}

  LogicalResult matchAndRewrite(tt::DescriptorStoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const final {
    RankedTensorType block = BlockOf(op.getDesc().getType());
    llvm::SmallVector<Value> indices = OnlyParts(adaptor.getIndices());
    const bool is_whole = whole_.contains(op);
    DescriptorAccess access = AccessAt(rewriter, op.getLoc(), adaptor.getDesc(), block, indices,
                                       is_whole ? llvm::ArrayRef<int64_t>(RowsOf(block)) : ShapeOfSource(op.getSrc()));
    Value pointers = BlockPointers(rewriter, op.getLoc(), access.block);
    Value value = Reshaped(rewriter, op.getLoc(), OnlyPart(adaptor.getSrc()), ShapeOf(pointers));
    Value mask = access.Mask(rewriter, op.getLoc());
    if (is_whole || (names_blocks_ && MayBeCopied(op, adaptor.getDesc(), launcher_makes_maps_)))
      mask = NamedMask(rewriter, op.getLoc(), mask, adaptor.getDesc(), block, indices);
    rewriter.replaceOpWithNewOp<tt::StoreOp>(op, pointers, value, mask);
    return mlir::success();
  }

 private:
  bool names_blocks_, launcher_makes_maps_;
  const WholeAccesses& whole_;
};

struct ConvertScatter : public mlir::OpConversionPattern<tt::DescriptorScatterOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::DescriptorScatterOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const final {
    int64_t columns = llvm::cast<RankedTensorType>(op.getSrc().getType()).getDimSize(1);
    DescriptorAccess access = AccessRows(rewriter, op.getLoc(), adaptor.getDesc(), OnlyPart(adaptor.getXOffsets()),
                                         OnlyPart(adaptor.getYOffset()), columns);
    Value pointers = BlockPointers(rewriter, op.getLoc(), access.block);
    rewriter.replaceOpWithNewOp<tt::StoreOp>(op, pointers, OnlyPart(adaptor.getSrc()),
                                             access.Mask(rewriter, op.getLoc()));
    return mlir::success();
  }
};

// The atomics that combine elements of `block` as `kind` says: one for all, or one each for elements without and with
// the sign bit. Nothing where there is none.
struct Combination {
  tt::RmwOp without_sign, with_sign;
};

std::optional<Combination> CombinationOf(tt::DescriptorReduceKind kind, RankedTensorType block) {
  using Rmw = tt::RmwOp;
  auto one = [](Rmw op) { return Combination{op, op}; };
  Type element = block.getElementType();
  bool is_float = llvm::isa<mlir::FloatType>(element), is_unsigned = element.isUnsignedInteger();
  switch (kind) {
    case tt::DescriptorReduceKind::kAdd:
      return one(is_float ? Rmw::kFadd : Rmw::kAdd);
    case tt::DescriptorReduceKind::kMin:
      return is_float ? Combination{Rmw::kMin, Rmw::kUmax} : one(is_unsigned ? Rmw::kUmin : Rmw::kMin);
    case tt::DescriptorReduceKind::kMax:
      return is_float ? Combination{Rmw::kMax, Rmw::kUmin} : one(is_unsigned ? Rmw::kUmax : Rmw::kMax);
    default:
      break;
  }
  if (is_float) return std::nullopt;
  switch (kind) {
    case tt::DescriptorReduceKind::kAnd:
      return one(Rmw::kAnd);
    case tt::DescriptorReduceKind::kOr:
      return one(Rmw::kOr);
    case tt::DescriptorReduceKind::kXor:
      return one(Rmw::kXor);
    default:
      return std::nullopt;
  }
}

struct ConvertReduce : public mlir::OpConversionPattern<tt::DescriptorReduceOp> {
  ConvertReduce(const mlir::TypeConverter& converter, mlir::MLIRContext* context, bool names_blocks,
                bool launcher_makes_maps)
      : OpConversionPattern(converter, context),
        names_blocks_(names_blocks),
        launcher_makes_maps_(launcher_makes_maps) {}

  LogicalResult matchAndRewrite(tt::DescriptorReduceOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const final {
    RankedTensorType block = BlockOf(op.getDesc().getType());
    DescriptorAccess access = AccessAt(rewriter, op.getLoc(), adaptor.getDesc(), block, OnlyParts(adaptor.getIndices()),
                                       ShapeOfSource(op.getSrc()));
    Value pointers = BlockPointers(rewriter, op.getLoc(), access.block), mask = access.Mask(rewriter, op.getLoc());
    Value value = Reshaped(rewriter, op.getLoc(), OnlyPart(adaptor.getSrc()), ShapeOf(pointers));
    Combination combination = *CombinationOf(op.getKind(), block);
    if (names_blocks_ && MayBeCopied(op, adaptor.getDesc(), launcher_makes_maps_))
      mask = NamedMask(rewriter, op.getLoc(), mask, adaptor.getDesc(), block, OnlyParts(adaptor.getIndices()));
    if (combination.without_sign == combination.with_sign) {
      Combine(rewriter, op.getLoc(), combination.with_sign, pointers, value, mask);
    } else {
      CombineBySign(rewriter, op.getLoc(), combination, pointers, value, mask);
    }
    rewriter.eraseOp(op);
    return mlir::success();
  }

 private:
  static void Combine(OpBuilder& b, Location loc, tt::RmwOp rmw, Value pointers, Value value, Value mask) {
    tt::AtomicRMWOp::create(b, loc, value.getType(), rmw, pointers, value, mask, tt::MemSemantic::kRelaxed,
                            tt::MemSyncScope::kGpu);
  }

  static void CombineBySign(OpBuilder& b, Location loc, Combination combination, Value pointers, Value value,
                            Value mask) {
    auto type = llvm::cast<RankedTensorType>(value.getType());
    Type integer = b.getIntegerType(type.getElementTypeBitWidth());
    auto bits_type = RankedTensorType::get(type.getShape(), integer);
    Value bits = tt::BitcastOp::create(b, loc, bits_type, value);
    Value words =
        tt::BitcastOp::create(b, loc, RankedTensorType::get(type.getShape(), tt::PtrType::get(integer)), pointers);
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(bits_type));
    for (auto [sign, rmw] : {std::pair(arith::CmpIPredicate::sge, combination.without_sign),
                             std::pair(arith::CmpIPredicate::slt, combination.with_sign)}) {
      Value here = arith::CmpIOp::create(b, loc, sign, bits, zero);
      Combine(b, loc, rmw, words, bits, arith::AndIOp::create(b, loc, mask, here));
    }
  }

  bool names_blocks_, launcher_makes_maps_;
};

// The descriptor parameters of a kernel, by the position of their first part after the rewriting.
struct KernelDescriptor {
  tt::FuncOp func;
  unsigned first;
  RankedTensorType block;
};

class RewriteTensorDescriptorPass : public impl::RewriteTensorDescriptorPassBase<RewriteTensorDescriptorPass> {
 public:
  using RewriteTensorDescriptorPassBase::RewriteTensorDescriptorPassBase;

 private:
  static bool IsAccess(mlir::Operation* op) {
    return llvm::isa<tt::MakeTensorDescOp, tt::DescriptorLoadOp, tt::DescriptorStoreOp, tt::DescriptorReduceOp,
                     tt::DescriptorGatherOp, tt::DescriptorScatterOp>(op);
  }

  LogicalResult CheckReductions() {
    auto result = getOperation().walk([](tt::DescriptorReduceOp op) -> mlir::WalkResult {
      if (CombinationOf(op.getKind(), BlockOf(op.getDesc().getType()))) return mlir::WalkResult::advance();
      return op.emitOpError() << "has no atomic for " << tt::stringifyDescriptorReduceKind(op.getKind()) << " of "
                              << BlockOf(op.getDesc().getType());
    });
    return mlir::failure(result.wasInterrupted());
  }

  // Whether the size of a row is a multiple of `group`, as it is known or as ConvertMake promises.
  static bool HasWholeGroups(const AxisInfoAnalysis& axes, tt::MakeTensorDescOp made, int64_t group) {
    const Value size = made.getShape().back();
    return axes.Get(size).dims[0].divisibility % group == 0 ||
           llvm::any_of(made.getStrides().drop_back(), [&](Value stride) { return IsSame(size, stride); });
  }

  // Where a row's size is no multiple of such groups, as far as it is known.
  AlignedLoads FindAlignedLoads() {
    AlignedLoads found;
    llvm::SmallVector<tt::DescriptorLoadOp> loads;
    getOperation().walk([&](tt::DescriptorLoadOp load) { loads.push_back(load); });
    if (loads.empty()) return found;
    AxisInfoAnalysis axes(getOperation());
    for (tt::DescriptorLoadOp load : loads) {
      RankedTensorType block = BlockOf(load.getDesc().getType());
      const int64_t group = ElementsAligned(block);
      auto made = load.getDesc().getDefiningOp<tt::MakeTensorDescOp>();
      const bool has_whole_groups = made && HasWholeGroups(axes, made, group);
      if (!has_whole_groups && block.getShape().back() >= group &&
          axes.Get(load.getIndices().back()).dims[0].divisibility % group == 0)
        found.insert(load);
    }
    return found;
  }

  // Whether bulk copies in no loop move such blocks with fewer instructions than threads do.
  bool AreMovedInBulk(RankedTensorType block) const {
    const int64_t bits = block.getElementTypeBitWidth(), row = block.getShape().back() * bits / 8;
    const bool may_be_rounded = flags == kNumFlags && block.getElementType().isF32();
    return (bits == 8 || bits == 16 || bits == 32) && !may_be_rounded && block.getRank() >= 2 &&
           block.getRank() <= kMostBulkRank && row >= kLeastBulkRowBytes &&
           RowsOf(block).front() * std::min(row, kMostBulkRowBytes) >= kLeastBulkBytes &&
           RowsOf(block).front() * row >= kLeastBulkGroups * kAlignmentBytes * threads;
  }

  // Those of descriptors that are accessed in no loop or branch, all by loads in front of all writes to memory, or all
  // by stores. A store's copy has an end to wait for. It pays beside those of loads, where no thread computes
  // addresses.
  WholeAccesses FindWholeAccesses() {
    WholeAccesses loads, stores, early;
    // What is loaded behind these may depend on other programs.
    const bool may_hear = Contains<tt::AtomicRMWOp, tt::AtomicCASOp, tt::ElementwiseInlineAsmOp>(getOperation());
    if (may_hear || Contains<tt::DotOp, tt::DotScaledOp>(getOperation())) return loads;
    bool has_written = false;
    getOperation().walk([&](mlir::Operation* op) {
      has_written |= llvm::isa<tt::StoreOp, tt::DescriptorStoreOp, tt::DescriptorReduceOp, tt::DescriptorScatterOp>(op);
      if (llvm::isa<tt::DescriptorLoadOp>(op) && !has_written) early.insert(op);
    });
    for (auto func : getOperation().getOps<tt::FuncOp>()) {
      if (!func.isPublic() || !func.getBody().hasOneBlock()) continue;
      for (Value argument : func.getArguments()) {
        if (!IsDescriptor(argument.getType()) || !AreMovedInBulk(BlockOf(argument.getType()))) continue;
        auto all = [&](llvm::function_ref<bool(mlir::Operation*)> holds) {
          return llvm::all_of(argument.getUsers(), holds);
        };
        if (!all([&](mlir::Operation* user) { return user->getParentOp() == func; })) continue;
        if (all([&](mlir::Operation* user) { return early.contains(user); }))
          loads.insert(argument.user_begin(), argument.user_end());
        if (all([](mlir::Operation* user) { return llvm::isa<tt::DescriptorStoreOp>(user); }))
          stores.insert(argument.user_begin(), argument.user_end());
      }
    }
    if (!loads.empty()) loads.insert(stores.begin(), stores.end());
    return loads;
  }

  std::vector<KernelDescriptor> FindKernelDescriptors() {
    std::vector<KernelDescriptor> found;
    for (auto func : getOperation().getOps<tt::FuncOp>()) {
      unsigned position = 0;
      for (Type type : func.getArgumentTypes()) {
        if (IsDescriptor(type) && func.isPublic()) found.push_back({func, position, BlockOf(type)});
        position += IsDescriptor(type) ? 1 + 2 * BlockOf(type).getRank() + kNumFlags : 1;
      }
    }
    return found;
  }

  // What the launcher promises, and the flags that it passes.
  void FinishKernelParameter(const KernelDescriptor& kernel, llvm::BitVector& erased) {
    tt::FuncOp func = kernel.func;
    unsigned rank = kernel.block.getRank(), strides = kernel.first + 1 + rank, first_flag = strides + rank;
    OpBuilder b(func.getBody());
    auto divisible = [&](unsigned argument, int64_t by) {
      func.setArgAttr(argument, kDivisibility, b.getI32IntegerAttr(static_cast<int32_t>(by)));
    };
    divisible(kernel.first, kAlignmentBytes);
    if (marks_arguments)
      func.setArgAttr(kernel.first, tt::kDescriptorPartsAttr,
                      b.getI32IntegerAttr(static_cast<int32_t>(1 + 2 * rank + flags)));
    for (unsigned i = 0; i + 1 < rank; ++i) divisible(strides + i, ElementsAligned(kernel.block));
    Value one = arith::ConstantOp::create(b, func.getLoc(), b.getI64IntegerAttr(1));
    func.getArgument(first_flag - 1).replaceAllUsesWith(one);
    for (int i = flags; i < kNumFlags; ++i) {
      Value off = arith::ConstantOp::create(b, func.getLoc(), b.getBoolAttr(false));
      func.getArgument(first_flag + i).replaceAllUsesWith(off);
      erased.set(first_flag + i);
    }
  }

  void runOnOperation() override {
    if (flags < 0 || flags > kNumFlags) {
      getOperation().emitError() << "a descriptor has 0 to " << kNumFlags << " flags, not " << flags;
      return signalPassFailure();
    }
    if (failed(CheckCarriers(getOperation(), "a tensor descriptor", IsDescriptor, IsAccess)) ||
        failed(CheckReductions()))
      return signalPassFailure();
    MoveReshapesToBlocks(getOperation());
    std::vector<KernelDescriptor> kernels = FindKernelDescriptors();
    mlir::TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion(PartsOf);
    mlir::RewritePatternSet patterns(&getContext());
    patterns.add<ConvertGather, ConvertScatter>(converter, &getContext());
    patterns.add<ConvertMake>(converter, &getContext(), names_blocks);
    const WholeAccesses whole = names_blocks && marks_arguments ? FindWholeAccesses() : WholeAccesses();
    patterns.add<ConvertStore>(converter, &getContext(), names_blocks, /*launcher_makes_maps=*/marks_arguments, whole);
    patterns.add<ConvertReduce>(converter, &getContext(), names_blocks, /*launcher_makes_maps=*/marks_arguments);
    const AlignedLoads aligned = names_blocks ? FindAlignedLoads() : AlignedLoads();
    patterns.add<ConvertLoad>(converter, &getContext(), names_blocks, aligned, whole);
    if (failed(TakeApart(getOperation(), converter, std::move(patterns)))) return signalPassFailure();
    for (size_t i = 0; i < kernels.size();) {
      tt::FuncOp func = kernels[i].func;
      llvm::BitVector erased(func.getNumArguments());
      for (; i < kernels.size() && kernels[i].func == func; ++i) FinishKernelParameter(kernels[i], erased);
      if (failed(func.eraseArguments(erased))) return signalPassFailure();
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
