// SPDX-License-Identifier: Apache-2.0
// The tt dialect: Triton IR. The operations and their semantics are documented in tt_ops.td.
#ifndef COMPILER_IR_TT_DIALECT_H_
#define COMPILER_IR_TT_DIALECT_H_

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::tt {

// The largest number of elements of a tensor; what upstream's frontend allows too.
inline constexpr int64_t kMaxTensorElements = int64_t{1} << 20;

// Attributes of a kernel's arguments. An i32: it is the first of so many parts of a tensor descriptor.
inline constexpr llvm::StringLiteral kDescriptorPartsAttr = "tt.descriptor_parts";
// An i32: the launch passes so many bytes by value, and the pointer says where they are.
inline constexpr llvm::StringLiteral kByValueAttr = "tt.by_value";

// The type that `type` has with its elements replaced by `element`: a scalar, or a tensor of one shape and encoding.
mlir::Type WithElement(mlir::Type type, mlir::Type element);
// The element type of a tensor, any other type itself.
mlir::Type ElementOf(mlir::Type type);
// What a load through `ptr` (pointer, tensor of pointers, block pointer) yields. None if `ptr` is no pointer.
mlir::Type PointeeTypeOf(mlir::Type ptr);
// The type of the mask of a load through `ptr`: i1, or a tensor of i1.
mlir::Type MaskTypeOf(mlir::Type ptr);
// i1, or a tensor of i1 of the shape and encoding of `type`.
mlir::Type BoolTypeLike(mlir::Type type);
// For a block pointer, the pointer to an element; its address space stays. None if `block_ptr` is no pointer.
mlir::Type ElementPtrOf(mlir::Type block_ptr);

// Whether this compiler has tensors of this type: static, of powers of two, of integers, floats or pointers. Types that
// are no tensors are fine. Complains through `error`.
mlir::LogicalResult VerifyTensorType(mlir::Type type, llvm::function_ref<mlir::InFlightDiagnostic()> error);

namespace internal {
mlir::LogicalResult VerifySameShape(mlir::Operation* op);
mlir::LogicalResult VerifySameEncoding(mlir::Operation* op);
mlir::LogicalResult VerifyTensorSizes(mlir::Operation* op);
}  // namespace internal

// All tensors among an operation's operands and results have one shape; also checks that sizes are powers of two.
template <class ConcreteOp>
class SameTensorShape : public mlir::OpTrait::TraitBase<ConcreteOp, SameTensorShape> {
 public:
  static mlir::LogicalResult verifyTrait(mlir::Operation* op) { return internal::VerifySameShape(op); }
};

// All tensors among an operation's operands and results have one encoding.
template <class ConcreteOp>
class SameTensorEncoding : public mlir::OpTrait::TraitBase<ConcreteOp, SameTensorEncoding> {
 public:
  static mlir::LogicalResult verifyTrait(mlir::Operation* op) { return internal::VerifySameEncoding(op); }
};

}  // namespace tritond::tt

#include "compiler/ir/tt_dialect.h.inc"
#include "compiler/ir/tt_enums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/ir/tt_types.h.inc"

#define GET_OP_CLASSES
#include "compiler/ir/tt_ops.h.inc"

#endif  // COMPILER_IR_TT_DIALECT_H_
