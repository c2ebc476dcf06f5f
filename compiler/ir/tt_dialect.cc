// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/tt_dialect.h"

#include "compiler/ir/dot_interface.h"
#include "compiler/ir/tt_dialect.cc.inc"
#include "compiler/ir/tt_enums.cc.inc"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"

#define GET_TYPEDEF_CLASSES
#include "compiler/ir/tt_types.cc.inc"

namespace tritond::tt {
namespace {

// Lets the inliner replace a tt.call by the callee's body.
struct Inliner : public mlir::DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  // A callee of several blocks needs a parent that takes several: not the body of an scf loop, nor a combine region.
  bool isLegalToInline(mlir::Operation* call, mlir::Operation* callable, bool) const final {
    auto func = mlir::dyn_cast<FuncOp>(callable);
    if (!func || func.isExternal()) return false;
    auto noinline_attr = func->getAttrOfType<mlir::BoolAttr>("noinline");
    if (noinline_attr && noinline_attr.getValue()) return false;
    return func.getBody().hasOneBlock() || mlir::isa<FuncOp>(call->getParentOp());
  }
  bool isLegalToInline(mlir::Region*, mlir::Region*, bool, mlir::IRMapping&) const final { return true; }
  bool isLegalToInline(mlir::Operation*, mlir::Region*, bool, mlir::IRMapping&) const final { return true; }

  void handleTerminator(mlir::Operation* op, mlir::Block* destination) const final {
    auto ret = mlir::dyn_cast<ReturnOp>(op);
    if (!ret) return;
    mlir::OpBuilder builder(op);
    mlir::cf::BranchOp::create(builder, op->getLoc(), destination, ret.getOperands());
    op->erase();
  }
  void handleTerminator(mlir::Operation* op, mlir::ValueRange results) const final {
    auto ret = mlir::dyn_cast<ReturnOp>(op);
    if (!ret) return;
    for (auto [result, value] : llvm::zip(results, ret.getOperands())) result.replaceAllUsesWith(value);
  }
};

}  // namespace

void TTDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/ir/tt_types.cc.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/ir/tt_ops.cc.inc"
      >();
  addInterfaces<Inliner>();
  AttachDotInterface(*getContext());
}

mlir::Operation* TTDialect::materializeConstant(mlir::OpBuilder& builder, mlir::Attribute value, mlir::Type type,
                                                mlir::Location loc) {
  if (auto poison = mlir::dyn_cast<mlir::ub::PoisonAttrInterface>(value))
    return mlir::ub::PoisonOp::create(builder, loc, type, poison);
  return mlir::arith::ConstantOp::materialize(builder, value, type, loc);
}

mlir::Type WithElement(mlir::Type type, mlir::Type element) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor ? mlir::RankedTensorType::get(tensor.getShape(), element, tensor.getEncoding()) : element;
}

mlir::Type ElementOf(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor ? tensor.getElementType() : type;
}

mlir::Type PointeeTypeOf(mlir::Type ptr) {
  auto element = mlir::dyn_cast<PtrType>(ElementOf(ptr));
  // Parsers infer types with this before anything is verified: a wrong type must not become a null one.
  bool nested = element && mlir::isa<mlir::RankedTensorType>(element.getPointeeType()) && element != ptr;
  if (!element || nested) return mlir::NoneType::get(ptr.getContext());
  return WithElement(ptr, element.getPointeeType());
}

mlir::Type BoolTypeLike(mlir::Type type) { return WithElement(type, mlir::IntegerType::get(type.getContext(), 1)); }

mlir::Type MaskTypeOf(mlir::Type ptr) { return BoolTypeLike(PointeeTypeOf(ptr)); }

mlir::Type ElementPtrOf(mlir::Type block_ptr) {
  mlir::MLIRContext* context = block_ptr.getContext();
  auto ptr = mlir::dyn_cast<PtrType>(block_ptr);
  if (!ptr) return mlir::NoneType::get(context);
  return PtrType::get(context, ElementOf(ptr.getPointeeType()), ptr.getAddressSpace());
}

mlir::LogicalResult PtrType::verify(llvm::function_ref<mlir::InFlightDiagnostic()> emit_error, mlir::Type pointee,
                                    int address_space) {
  if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(pointee)) pointee = tensor.getElementType();
  if (mlir::isa<mlir::FloatType, mlir::IntegerType, PtrType>(pointee)) return mlir::success();
  return emit_error() << "a pointer points to an integer, a float, a pointer or a tensor of these, not to " << pointee;
}

mlir::LogicalResult TensorDescType::verify(llvm::function_ref<mlir::InFlightDiagnostic()> error,
                                           mlir::RankedTensorType block) {
  if (!mlir::isa<mlir::IntegerType, mlir::FloatType>(block.getElementType()))
    return error() << "a tensor descriptor describes integers or floats, not " << block.getElementType();
  return VerifyTensorType(block, error);
}

mlir::Type TensorDescType::parse(mlir::AsmParser& parser) {
  mlir::SMLoc loc = parser.getCurrentLocation();
  auto error = [&] { return parser.emitError(loc); };
  if (parser.parseLess()) return {};
  // The spelling with `tensor<…>` inside, else a bare shape and element type.
  mlir::Type nested;
  auto parsed = parser.parseOptionalType(nested);
  if (parsed.has_value()) {
    if (*parsed || parser.parseGreater()) return {};
    if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(nested))
      return getChecked(error, parser.getContext(), tensor);
    parser.emitError(parser.getNameLoc(), "a tensor descriptor describes a ranked tensor, not ") << nested;
    return {};
  }
  llvm::SmallVector<int64_t> shape;
  mlir::Type element;
  mlir::Attribute encoding;
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element)) return {};
  if (mlir::succeeded(parser.parseOptionalComma()) && parser.parseAttribute(encoding)) return {};
  if (parser.parseGreater()) return {};
  auto tensor = mlir::RankedTensorType::getChecked(error, shape, element, encoding);
  return tensor ? getChecked(error, parser.getContext(), tensor) : mlir::Type();
}

void TensorDescType::print(mlir::AsmPrinter& printer) const { printer << "<" << getBlockType() << ">"; }

}  // namespace tritond::tt
