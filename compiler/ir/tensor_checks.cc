// SPDX-License-Identifier: Apache-2.0
// Which tensors exist, and that a function holds no others: operations of other dialects do not check it themselves.
#include "compiler/ir/encodings.h"
#include "compiler/ir/tt_dialect.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::tt {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Type;

// The launch shape of the module around a function; 0 where the module does not say.
struct LaunchShape {
  int64_t warps = 0, lanes = 0;
  bool of_partition = false;

  // What holds in `region`.
  LaunchShape In(mlir::Region* region) const {
    auto of_partition = ttg::PartitionWarps(region);
    return of_partition ? LaunchShape{*of_partition, lanes, true} : *this;
  }
};

LaunchShape LaunchShapeOf(mlir::Operation* op) {
  auto module = op->getParentOfType<mlir::ModuleOp>();
  auto count = [&](llvm::StringRef name) -> int64_t {
    auto value = module ? module->getAttrOfType<mlir::IntegerAttr>(name) : mlir::IntegerAttr();
    return value ? value.getInt() : 0;
  };
  return {count(ttg::kNumWarpsAttr), count(ttg::kThreadsPerWarpAttr)};
}

// Any attribute may stand where an encoding belongs.
LogicalResult VerifyEncodingKind(mlir::Operation* op, Type type) {
  auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getEncoding() || llvm::isa<ttg::DistributedEncoding>(tensor.getEncoding()))
    return mlir::success();
  return op->emitOpError() << "tensor " << tensor << " has an encoding that is none for registers";
}

LogicalResult VerifyLaunchShape(mlir::Operation* op, RankedTensorType type, const LaunchShape& launch) {
  auto encoding = llvm::dyn_cast_if_present<ttg::DistributedEncoding>(type.getEncoding());
  if (!encoding) return VerifyEncodingKind(op, type);
  compiler::LinearLayout layout = encoding.ToLinearLayout(type.getShape());
  int64_t warps = layout.InSize("warp"), lanes = layout.InSize("lane");
  if (launch.warps && warps != launch.warps)
    return op->emitOpError() << "tensor " << type << " lies on " << warps << " warps, but "
                             << (launch.of_partition ? "its partition" : "the module") << " has " << launch.warps;
  if (launch.lanes && lanes != launch.lanes)
    return op->emitOpError() << "tensor " << type << " lies on " << lanes << " lanes, but a warp has " << launch.lanes;
  return mlir::success();
}

// Numbers that devices compute with or convert.
bool IsNumber(Type type) {
  if (auto integer = llvm::dyn_cast<mlir::IntegerType>(type))
    return llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  if (llvm::isa<mlir::FloatType>(type))
    return type.isF16() || type.isBF16() || type.isF32() || type.isF64() || type.getIntOrFloatBitWidth() == 8;
  return true;
}

// What a value of `type` holds, or points to.
Type NumberIn(Type type) {
  if (auto desc = llvm::dyn_cast<TensorDescType>(type)) type = desc.getBlockType();
  while (true) {
    if (auto tensor = llvm::dyn_cast<RankedTensorType>(type))
      type = tensor.getElementType();
    else if (auto ptr = llvm::dyn_cast<PtrType>(type))
      type = ptr.getPointeeType();
    else
      return type;
  }
}

}  // namespace

LogicalResult VerifyTensorType(Type type, llvm::function_ref<mlir::InFlightDiagnostic()> error) {
  auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  if (!tensor) return mlir::success();
  auto ptr = llvm::dyn_cast<PtrType>(tensor.getElementType());
  if (!llvm::isa<mlir::IntegerType, mlir::FloatType, PtrType>(tensor.getElementType()) ||
      (ptr && llvm::isa<RankedTensorType>(ptr.getPointeeType())))
    return error() << "tensor " << tensor << " does not hold integers, floats or pointers";
  if (!tensor.hasStaticShape()) return error() << "tensor " << tensor << " has a dynamic shape";
  if (tensor.getRank() == 0) return error() << "tensor " << tensor << " has no dimensions; use a scalar";
  int64_t total = 1;
  for (int64_t size : tensor.getShape()) {
    if (size <= 0 || !llvm::isPowerOf2_64(size))
      return error() << "tensor " << tensor << " has a dimension of size " << size << ", which is no power of two";
    if (size > kMaxTensorElements || (total *= size) > kMaxTensorElements)
      return error() << "tensor " << tensor << " has more than " << kMaxTensorElements << " elements";
  }
  return mlir::success();
}

LogicalResult internal::VerifyTensorSizes(mlir::Operation* op) {
  auto check = [&](Type type) {
    if (failed(VerifyEncodingKind(op, type))) return mlir::failure();
    return VerifyTensorType(type, [&] { return op->emitOpError(); });
  };
  for (Type type : op->getOperandTypes())
    if (failed(check(type))) return mlir::failure();
  for (Type type : op->getResultTypes())
    if (failed(check(type))) return mlir::failure();
  return mlir::success();
}

LogicalResult FuncOp::verifyRegions() {
  LaunchShape of_module = LaunchShapeOf(*this);
  llvm::DenseSet<std::pair<Type, int64_t>> seen;
  auto check = [&](mlir::Operation* op, Type type, const LaunchShape& launch) -> LogicalResult {
    if (!seen.insert({type, launch.warps}).second) return mlir::success();
    if (Type number = NumberIn(type); !IsNumber(number))
      return op->emitOpError() << "has a value of " << type << ", but there are no numbers of type " << number;
    if (!llvm::isa<RankedTensorType, mlir::UnrankedTensorType>(type)) return mlir::success();
    if (llvm::isa<mlir::UnrankedTensorType>(type)) return op->emitOpError() << "tensor " << type << " has no shape";
    if (failed(VerifyTensorType(type, [&] { return op->emitOpError(); }))) return mlir::failure();
    return VerifyLaunchShape(op, llvm::cast<RankedTensorType>(type), launch);
  };
  auto result = walk([&](mlir::Operation* op) {
    // What the parser makes of numbers for a type that has none.
    auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(op);
    if (constant && llvm::isa<mlir::DenseStringElementsAttr>(constant.getValue()))
      return mlir::WalkResult(op->emitOpError() << "has no number for each element of " << constant.getType());
    LaunchShape launch = of_module.In(op->getParentRegion());
    for (Type type : op->getResultTypes())
      if (failed(check(op, type, launch))) return mlir::WalkResult::interrupt();
    for (mlir::Region& region : op->getRegions()) {
      LaunchShape inside = of_module.In(&region);
      for (mlir::Block& block : region)
        for (Type type : block.getArgumentTypes())
          if (failed(check(op, type, inside))) return mlir::WalkResult::interrupt();
    }
    return mlir::WalkResult::advance();
  });
  return mlir::failure(result.wasInterrupted());
}

}  // namespace tritond::tt
