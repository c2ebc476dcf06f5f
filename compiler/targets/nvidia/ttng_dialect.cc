// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/ttng_dialect.h"

#include "compiler/analysis/barriers.h"
#include "compiler/targets/nvidia/ttng_dialect.cc.inc"

#define GET_OP_CLASSES
#include "compiler/targets/nvidia/ttng_ops.cc.inc"

namespace tritond::ttng {
namespace {

using compiler::EndedReads;
using mlir::RankedTensorType;

constexpr int64_t kInstructionRows = 64, kInstructionBytesOfK = 32, kCoreRows = 8;

llvm::ArrayRef<int64_t> ShapeOf(mlir::Type type) {
  if (auto buffer = llvm::dyn_cast<ttg::MemDescType>(type)) return buffer.getShape();
  return llvm::cast<RankedTensorType>(type).getShape();
}

}  // namespace

void TTNGDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/targets/nvidia/ttng_ops.cc.inc"
      >();
}

mlir::Type ElementOf(mlir::Type type) {
  if (auto buffer = llvm::dyn_cast<ttg::MemDescType>(type)) return buffer.getElementType();
  return llvm::cast<RankedTensorType>(type).getElementType();
}

int64_t PromotionK(WarpGroupDotOp dot) {
  const mlir::Type element = ElementOf(dot.getB().getType());
  if (!llvm::isa<mlir::FloatType>(element) || element.getIntOrFloatBitWidth() != 8) return 0;
  // Upstream's says so by leaving it out.
  const std::optional<uint32_t> most = dot.getMaxNumImpreciseAcc();
  const int64_t k = llvm::cast<ttg::MemDescType>(dot.getB().getType()).getShape()[0], step = InstructionK(element);
  if (!most && !dot.getIsAsync() && !dot.getInputPrecision()) return 0;
  if (most.value_or(0) > k) return 0;
  return std::max(most.value_or(0) / step * step, step);
}

bool AddsToResult(WarpGroupDotOp dot) {
  if (PromotionK(dot) > 0) return false;
  auto type = llvm::cast<RankedTensorType>(dot.getD().getType());
  auto mma = llvm::cast<ttg::NvidiaMmaEncodingAttr>(type.getEncoding());
  return mma.AddsToResult(ElementOf(dot.getB().getType()), type.getElementType());
}

int64_t InstructionK(mlir::Type operand) { return kInstructionBytesOfK * 8 / operand.getIntOrFloatBitWidth(); }

int64_t TensorRows(int64_t rows) { return std::min<int64_t>(rows, 128); }
int64_t TensorColumns(int64_t rows, int64_t columns) { return rows / TensorRows(rows) * columns; }

ttg::MemDescType PlainBufferType(llvm::ArrayRef<int64_t> shape, mlir::Type word) {
  mlir::MLIRContext* context = word.getContext();
  auto encoding = ttg::SwizzledSharedEncodingAttr::get(context, 1, 1, 1, {0});
  return ttg::MemDescType::get(context, shape, word, encoding, ttg::SharedMemorySpaceAttr::get(context),
                               /*mutableMemory=*/true, /*allocShape=*/shape);
}

bool IsReadable(ttg::MemDescType type, unsigned k) {
  auto nvmma = llvm::dyn_cast<ttg::NvmmaSharedEncodingAttr>(type.getEncoding());
  if (!nvmma || type.getShape().size() != 2 || nvmma.getSwizzlingByteWidth() == 0 || nvmma.getFp4Padded() ||
      !ttg::HasAllocShape(type))
    return false;
  unsigned contiguous = nvmma.getTransposed() ? 0 : 1;
  bool fits = type.getShape()[1 - contiguous] >= kCoreRows && type.getShape()[k] >= InstructionK(type.getElementType());
  return fits && (contiguous == k || nvmma.getElementBitWidth() == 16);
}

void WarpGroupDotOp::getEffects(
    llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>& effects) {
  // Of a dot in flight: ttg::OngoingReads, until the wait.
  mlir::SideEffects::Resource* resource = ttg::SharedMemory::get();
  if (getInFlight()) resource = ttg::OngoingReads::get();
  for (mlir::OpOperand* operand : {&getAMutable(), &getBMutable()})
    if (llvm::isa<ttg::MemDescType>(operand->get().getType()))
      effects.emplace_back(mlir::MemoryEffects::Read::get(), operand, resource);
  if (getInFlight()) effects.emplace_back(mlir::MemoryEffects::Write::get(), WarpGroupDots::get());
}

void WarpGroupWaitOp::getEffects(
    llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>& effects) {
  for (mlir::OpOperand& buffer : getBuffersMutable())
    effects.emplace_back(mlir::MemoryEffects::Read::get(), &buffer, EndedReads::get());
  effects.emplace_back(mlir::MemoryEffects::Write::get(), WarpGroupDots::get());
}

namespace {

// One object of 64 bits.
mlir::LogicalResult VerifyMbarrier(mlir::Operation* op, ttg::MemDescType type) {
  if (type.getElementType().isInteger(64) && ttg::Product(type.getShape()) == 1) return mlir::success();
  return op->emitOpError() << "takes a mbarrier, a buffer of one i64, not " << type;
}

// An arrival by one thread for all: they have done what they do before.
template <typename Effects>
void AddArrival(mlir::OpOperand& barrier, Effects& effects) {
  effects.emplace_back(mlir::MemoryEffects::Read::get(), &barrier, compiler::Signals::get());
  effects.emplace_back(mlir::MemoryEffects::Write::get(), compiler::Arrivals::get());
}

}  // namespace

using EffectList = llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>;
void BarrierExpectOp::getEffects(EffectList& effects) { AddArrival(getAllocMutable(), effects); }
void ArriveBarrierOp::getEffects(EffectList& effects) { AddArrival(getAllocMutable(), effects); }
void InvalBarrierOp::getEffects(EffectList& effects) {
  effects.emplace_back(mlir::MemoryEffects::Write::get(), &getAllocMutable(), ttg::SharedMemory::get());
  effects.emplace_back(mlir::MemoryEffects::Write::get(), compiler::OrderedAccesses::get());
}

mlir::LogicalResult InitBarrierOp::verify() {
  if (static_cast<int32_t>(getCount()) < 1) return emitOpError("needs a count of at least 1");
  return VerifyMbarrier(*this, getAlloc().getType());
}
mlir::LogicalResult InvalBarrierOp::verify() { return VerifyMbarrier(*this, getAlloc().getType()); }
mlir::LogicalResult BarrierExpectOp::verify() { return VerifyMbarrier(*this, getAlloc().getType()); }
mlir::LogicalResult ArriveBarrierOp::verify() {
  if (static_cast<int32_t>(getCount()) < 1) return emitOpError("needs a count of at least 1");
  return VerifyMbarrier(*this, getAlloc().getType());
}
mlir::LogicalResult ArriveBarrierByWarpsOp::verify() { return VerifyMbarrier(*this, getAlloc().getType()); }
mlir::LogicalResult WaitBarrierOp::verify() { return VerifyMbarrier(*this, getAlloc().getType()); }
mlir::LogicalResult AsyncCopyMbarrierArriveOp::verify() { return VerifyMbarrier(*this, getBarrier().getType()); }

mlir::LogicalResult TensormapCreateOp::verify() {
  size_t rank = getGlobalDim().size();
  if (rank < 1 || rank > 5) return emitOpError() << "describes tensors of 1 to 5 dimensions, not of " << rank;
  if (getBoxDim().size() != rank || getElementStride().size() != rank || getGlobalStride().size() + 1 != rank)
    return emitOpError("has other numbers of box sizes or strides than of dimensions");
  return mlir::success();
}

namespace {

// Of a whole block at so many coordinates.
mlir::LogicalResult VerifyTileCopy(mlir::Operation* op, tt::TensorDescType desc, size_t coordinates,
                                   ttg::MemDescType buffer) {
  RankedTensorType block = desc.getBlockType();
  if (coordinates != static_cast<size_t>(block.getRank()))
    return op->emitOpError() << "has " << coordinates << " coordinates in blocks of " << block.getRank()
                             << " dimensions";
  if (buffer.getElementType() != block.getElementType() ||
      ttg::Product(buffer.getShape()) != ttg::Product(block.getShape()))
    return op->emitOpError() << "copies blocks of " << block << " and a buffer of " << buffer;
  return mlir::success();
}

}  // namespace

void AsyncTMACopyGlobalToLocalOp::getEffects(EffectList& effects) {
  effects.emplace_back(mlir::MemoryEffects::Write::get(), &getResultMutable(), compiler::Deliveries::get());
  effects.emplace_back(mlir::MemoryEffects::Read::get(), &getBarrierMutable(), compiler::Signals::get());
}

void TMAStoreWaitOp::getEffects(EffectList& effects) {
  effects.emplace_back(mlir::MemoryEffects::Read::get(), compiler::SentReads::get());
  // Nothing may leave it out.
  effects.emplace_back(mlir::MemoryEffects::Write::get(), compiler::SentReads::get());
}

mlir::LogicalResult AsyncTMACopyGlobalToLocalOp::verify() {
  if (failed(VerifyMbarrier(*this, getBarrier().getType()))) return mlir::failure();
  return VerifyTileCopy(*this, getDesc().getType(), getCoord().size(), getResult().getType());
}
mlir::LogicalResult AsyncTMACopyLocalToGlobalOp::verify() {
  return VerifyTileCopy(*this, getDesc().getType(), getCoord().size(), getSrc().getType());
}

mlir::LogicalResult AsyncTMAReduceOp::verify() {
  if (failed(VerifyTileCopy(*this, getDesc().getType(), getCoord().size(), getSrc().getType()))) return mlir::failure();
  const bool is_float = llvm::isa<mlir::FloatType>(getSrc().getType().getElementType());
  using Kind = tt::DescriptorReduceKind;
  if (is_float && llvm::is_contained({Kind::kInc, Kind::kDec, Kind::kAnd, Kind::kOr, Kind::kXor}, getKind()))
    return emitOpError() << "has no '" << tt::stringifyDescriptorReduceKind(getKind()) << "' of floats";
  return mlir::success();
}

mlir::LogicalResult WarpGroupDotWaitOp::inferReturnTypes(mlir::MLIRContext*, std::optional<mlir::Location>,
                                                         mlir::ValueRange operands, mlir::DictionaryAttr,
                                                         mlir::OpaqueProperties, mlir::RegionRange,
                                                         llvm::SmallVectorImpl<mlir::Type>& types) {
  llvm::append_range(types, operands.getTypes());
  return mlir::success();
}

mlir::LogicalResult WarpGroupWaitOp::verify() {
  if (getAccumulators().getTypes() != getResults().getTypes())
    return emitOpError("yields results of other types than its accumulators");
  return getPending() <= kMostPending ? mlir::success()
                                      : emitOpError() << "can leave at most " << kMostPending << " dots in flight";
}

namespace {

constexpr unsigned kLeastTensorColumns = 32, kMostTensorColumns = 512;

mlir::LogicalResult VerifyColumns(mlir::Operation* op, unsigned columns) {
  if (llvm::isPowerOf2_32(columns) && columns >= kLeastTensorColumns && columns <= kMostTensorColumns)
    return mlir::success();
  return op->emitOpError() << "takes a power of two of columns from 32 to 512, not " << columns;
}

mlir::LogicalResult VerifyAccumulators(mlir::Operation* op, mlir::Type type) {
  auto tensor = llvm::cast<RankedTensorType>(type);
  auto mma = llvm::dyn_cast_or_null<ttg::NvidiaMmaEncodingAttr>(tensor.getEncoding());
  if (!mma || mma.getVersionMajor() != 5 || tensor.getElementTypeBitWidth() != 32)
    return op->emitOpError() << "takes accumulators of 32 bits of nvidia_mma version 5, not " << type;
  return tensor.getDimSize(0) % mma.getInstrShape()[0] == 0
             ? mlir::success()
             : op->emitOpError() << "takes a multiple of " << mma.getInstrShape()[0] << " rows";
}

}  // namespace

mlir::LogicalResult TensorMemoryAllocOp::verify() {
  ttg::MemDescType slot = getSlot().getType();
  if (!slot.getElementType().isInteger(32) || ttg::Product(slot.getShape()) != 1)
    return emitOpError() << "takes a slot of one i32, not " << slot;
  return VerifyColumns(*this, getColumns());
}
mlir::LogicalResult TensorMemoryDeallocOp::verify() { return VerifyColumns(*this, getColumns()); }
mlir::LogicalResult TensorMemoryLoadOp::verify() { return VerifyAccumulators(*this, getResult().getType()); }
mlir::LogicalResult TensorMemoryStoreOp::verify() { return VerifyAccumulators(*this, getValue().getType()); }

mlir::LogicalResult TensorMemoryDotOp::verify() {
  ttg::MemDescType a = getA().getType(), b = getB().getType();
  if (a.getShape().size() != 2 || b.getShape().size() != 2 || a.getShape()[1] != b.getShape()[0])
    return emitOpError() << "shapes of " << a << " * " << b << " do not fit";
  const int64_t rows = a.getShape()[0], k = InstructionK(a.getElementType());
  if (rows % kInstructionRows || rows % TensorRows(rows) || a.getShape()[1] % k || b.getShape()[1] % 16)
    return emitOpError() << "takes multiples of 64 or 128 rows, of " << k << " along K, and of 16 columns";
  if (a.getElementType().getIntOrFloatBitWidth() != b.getElementType().getIntOrFloatBitWidth())
    return emitOpError() << "operands differ in width: " << a.getElementType() << " and " << b.getElementType();
  if (!IsReadable(a, 1)) return emitOpError() << "cannot read operand a from " << a;
  if (!IsReadable(b, 0)) return emitOpError() << "cannot read operand b from " << b;
  return VerifyMbarrier(*this, getBarrier().getType());
}

mlir::LogicalResult WarpGroupDotOp::verify() {
  mlir::Type a = getA().getType(), b = getB().getType();
  auto d = llvm::cast<RankedTensorType>(getD().getType());
  auto mma = llvm::dyn_cast_or_null<ttg::NvidiaMmaEncodingAttr>(d.getEncoding());
  if (!mma || mma.getVersionMajor() < 3) return emitOpError("yields a tensor of encoding nvidia_mma, version 3 or 5");
  if (mma.getVersionMajor() == 5 && !llvm::isa<ttg::MemDescType>(a))
    return emitOpError("of nvidia_mma version 5 takes operand a from a buffer");
  if (mma.getVersionMajor() == 5 && getUseC()) return emitOpError("of nvidia_mma version 5 takes no useC");
  llvm::ArrayRef<int64_t> shape_a = ShapeOf(a), shape_b = ShapeOf(b), shape = d.getShape();
  if (shape_a.size() != 2 || shape_b.size() != 2 || shape.size() != 2) return emitOpError("takes matrices");
  if (shape_a[0] != shape[0] || shape_a[1] != shape_b[0] || shape_b[1] != shape[1])
    return emitOpError() << "shapes of " << a << " * " << b << " -> " << d << " do not fit";
  if (shape[0] % kInstructionRows || shape_a[1] % InstructionK(ElementOf(a)))
    return emitOpError() << "takes multiples of " << kInstructionRows << " rows and of " << InstructionK(ElementOf(a))
                         << " along K";
  if (ElementOf(a).getIntOrFloatBitWidth() != ElementOf(b).getIntOrFloatBitWidth())
    return emitOpError() << "operands differ in width: " << ElementOf(a) << " and " << ElementOf(b);
  if (auto buffer = llvm::dyn_cast<ttg::MemDescType>(a); buffer && !IsReadable(buffer, 1))
    return emitOpError() << "cannot read operand a from " << a;
  if (!IsReadable(llvm::cast<ttg::MemDescType>(b), 0)) return emitOpError() << "cannot read operand b from " << b;
  if (getInFlight() && !AddsToResult(*this))
    return emitOpError() << "stays in flight with accumulators that wgmma has alone, not with " << d.getElementType();
  return mlir::success();
}

}  // namespace tritond::ttng
