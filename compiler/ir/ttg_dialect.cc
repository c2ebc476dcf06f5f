// SPDX-License-Identifier: Apache-2.0
// Registration, textual form and verification of the ttg dialect's attributes and types.
#include "compiler/ir/ttg_dialect.h"

#include "absl/hash/hash.h"
#include "compiler/ir/encoding_fields.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/layout_memory.h"
#include "compiler/ir/ttg_dialect.cc.inc"
#include "compiler/ir/ttg_interfaces.cc.inc"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#define GET_ATTRDEF_CLASSES
#include "compiler/ir/ttg_attrs.cc.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/ir/ttg_types.cc.inc"

namespace tritond::compiler {
llvm::hash_code hash_value(const LinearLayout& layout) { return llvm::hash_code(absl::Hash<LinearLayout>()(layout)); }
}  // namespace tritond::compiler

namespace tritond::ttg {
namespace {

// Encodings print as #blocked, #linear, … with a number where several differ.
struct EncodingAliases : public mlir::OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(mlir::Attribute attribute, llvm::raw_ostream& os) const final {
    auto alias = [&](const char* name) { return os << name, AliasResult::FinalAlias; };
    if (llvm::isa<BlockedEncodingAttr>(attribute)) return alias("blocked");
    if (llvm::isa<NvidiaMmaEncodingAttr, AmdMfmaEncodingAttr, AmdWmmaEncodingAttr, DpasEncodingAttr>(attribute))
      return alias("mma");
    if (llvm::isa<LinearEncodingAttr, GenericLinearEncodingAttr>(attribute)) return alias("linear");
    if (llvm::isa<SharedEncoding>(attribute)) return alias("shared");
    if (llvm::isa<SharedMemorySpaceAttr>(attribute)) return alias("smem");
    return AliasResult::NoAlias;
  }
};

}  // namespace

void TTGDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/ir/ttg_attrs.cc.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/ir/ttg_types.cc.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/ir/ttg_ops.cc.inc"
      >();
  addInterfaces<EncodingAliases, LayoutMemory>();
}

mlir::Type MemDescType::parse(mlir::AsmParser& parser) {
  llvm::SmallVector<int64_t> shape, alloc_shape;
  mlir::Type element;
  mlir::Attribute encoding, space;
  bool is_mutable = false;
  mlir::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseComma() || parser.parseAttribute(encoding))
    return {};
  // The memory space may be absent: before 3.2 there was but one.
  for (bool first = true; succeeded(parser.parseOptionalComma()); first = false) {
    if (succeeded(parser.parseOptionalKeyword("mutable"))) {
      is_mutable = true;
    } else if (first
                   ? failed(parser.parseAttribute(space))
                   : failed(parser.parseDimensionList(alloc_shape, /*allowDynamic=*/false, /*withTrailingX=*/false))) {
      return {};
    }
  }
  if (parser.parseGreater()) return {};
  if (alloc_shape.empty()) alloc_shape = shape;
  if (!space) space = SharedMemorySpaceAttr::get(parser.getContext());
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), shape, element, encoding, space,
                    is_mutable, alloc_shape);
}
void MemDescType::print(mlir::AsmPrinter& printer) const {
  printer << "<";
  for (int64_t size : getShape()) printer << size << "x";
  printer << getElementType() << ", " << getEncoding() << ", " << getMemorySpace();
  if (getMutableMemory()) printer << ", mutable";
  if (getAllocShape() != getShape()) {
    printer << ", ";
    llvm::interleave(getAllocShape(), printer, "x");
  }
  printer << ">";
}

// More than any shared memory holds, and little enough for layouts.
static constexpr int64_t kMaxBufferElements = int64_t{1} << 24;

// Dimensions in front of the encoding's, which count buffers, may be of any size.
static mlir::LogicalResult VerifyBufferShape(EmitError error, llvm::ArrayRef<int64_t> shape,
                                             llvm::ArrayRef<int64_t> alloc_shape, size_t rank) {
  if (alloc_shape.size() < shape.size())
    return error() << "buffer of " << alloc_shape.size() << " dimensions has a part of " << shape.size();
  int64_t elements = 1;
  for (auto [dim, size] : llvm::enumerate(alloc_shape)) {
    if (size <= 0 || (dim + rank >= alloc_shape.size() && !llvm::isPowerOf2_64(size)))
      return error() << "dimension of size " << size << " is no power of two";
    if (size > kMaxBufferElements || (elements *= size) > kMaxBufferElements)
      return error() << "buffer has more than " << kMaxBufferElements << " elements";
  }
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size <= 0 || (dim + rank >= shape.size() && !llvm::isPowerOf2_64(size)))
      return error() << "dimension of size " << size << " is no power of two";
    int64_t whole = alloc_shape.take_back(shape.size())[dim];
    if (size > whole) return error() << "part of size " << size << " of a dimension of size " << whole;
  }
  return mlir::success();
}

mlir::LogicalResult MemDescType::verify(EmitError error, llvm::ArrayRef<int64_t> shape, mlir::Type element,
                                        mlir::Attribute encoding, mlir::Attribute space, bool,
                                        llvm::ArrayRef<int64_t> alloc_shape) {
  if (!llvm::isa<mlir::IntegerType, mlir::FloatType, tt::PtrType>(element))
    return error() << "a buffer holds integers, floats or pointers, not " << element;
  auto shared = llvm::dyn_cast_if_present<SharedEncoding>(encoding);
  if (!shared) return error() << "a buffer needs a shared encoding";
  if (!llvm::isa_and_present<SharedMemorySpaceAttr>(space)) return error() << "unknown memory space " << space;
  unsigned rank = shared.Rank();
  if (shape.size() != rank && shape.size() != rank + 1)
    return error() << "encoding of rank " << rank << " on a buffer of rank " << shape.size();
  if (failed(VerifyBufferShape(error, shape, alloc_shape, rank))) return mlir::failure();
  return VerifyShared(error, shared, alloc_shape.take_back(shared.Rank()), element);
}

}  // namespace tritond::ttg
