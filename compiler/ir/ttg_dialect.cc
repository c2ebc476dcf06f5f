// SPDX-License-Identifier: Apache-2.0
// Registration, textual form and verification of the ttg dialect's attributes and types.
#include "compiler/ir/ttg_dialect.h"

#include "absl/hash/hash.h"
#include "compiler/ir/encodings.h"
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

using compiler::InDimBases;
using compiler::LinearLayout;

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

// Encodings print as #blocked, #linear, … with a number where several differ.
struct EncodingAliases : public mlir::OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(mlir::Attribute attribute, llvm::raw_ostream& os) const final {
    auto alias = [&](const char* name) { return os << name, AliasResult::FinalAlias; };
    if (llvm::isa<BlockedEncodingAttr>(attribute)) return alias("blocked");
    if (llvm::isa<NvidiaMmaEncodingAttr>(attribute)) return alias("mma");
    if (llvm::isa<LinearEncodingAttr>(attribute)) return alias("linear");
    if (llvm::isa<SwizzledSharedEncodingAttr>(attribute)) return alias("shared");
    if (llvm::isa<SharedMemorySpaceAttr>(attribute)) return alias("smem");
    return AliasResult::NoAlias;
  }
};

// Reads `<{key = value, …}>`; each Take removes an entry, Done complains about what is left.
class Fields {
 public:
  explicit Fields(mlir::AsmParser& parser) : parser_(parser), loc_(parser.getCurrentLocation()) {
    mlir::DictionaryAttr dict;
    ok_ = succeeded(parser.parseLess()) && succeeded(parser.parseAttribute(dict)) && succeeded(parser.parseGreater());
    if (ok_) fields_ = dict;
  }
  bool Ok() const { return ok_; }

  mlir::Attribute Take(llvm::StringRef key) {
    mlir::Attribute value = ok_ ? fields_.get(key) : mlir::Attribute();
    if (!value) Fail("needs '" + key.str() + "'");
    fields_.erase(key);
    return value;
  }
  bool Has(llvm::StringRef key) const { return fields_.get(key) != nullptr; }

  unsigned TakeUnsigned(llvm::StringRef key) {
    auto value = llvm::dyn_cast_if_present<mlir::IntegerAttr>(Take(key));
    if (ok_ && (!value || value.getInt() < 0 || value.getInt() > (1 << 30)))
      Fail("'" + key.str() + "' must be a count");
    return ok_ ? value.getInt() : 0;
  }
  llvm::SmallVector<unsigned> TakeArray(llvm::StringRef key) {
    llvm::SmallVector<unsigned> result;
    auto array = llvm::dyn_cast_if_present<mlir::ArrayAttr>(Take(key));
    if (ok_ && !array) Fail("'" + key.str() + "' must be a list");
    if (!ok_) return result;
    for (mlir::Attribute entry : array) {
      auto value = llvm::dyn_cast<mlir::IntegerAttr>(entry);
      if (!value || value.getInt() < 0 || value.getInt() > (1 << 30))
        return Fail("'" + key.str() + "' must list counts"), result;
      result.push_back(value.getInt());
    }
    return result;
  }
  // [[1, 0], [2, 0]]: the bases of one input dimension.
  InDimBases TakeBases(llvm::StringRef key) {
    InDimBases result{key.str(), {}};
    auto array = llvm::dyn_cast_if_present<mlir::ArrayAttr>(Take(key));
    for (mlir::Attribute row : array ? array.getValue() : llvm::ArrayRef<mlir::Attribute>()) {
      auto coordinates = llvm::dyn_cast<mlir::ArrayAttr>(row);
      result.bases.emplace_back();
      for (mlir::Attribute c : coordinates ? coordinates.getValue() : llvm::ArrayRef<mlir::Attribute>()) {
        auto value = llvm::dyn_cast<mlir::IntegerAttr>(c);
        if (!value) return Fail("'" + key.str() + "' must list integers"), result;
        result.bases.back().push_back(value.getInt());
      }
      if (!coordinates) return Fail("'" + key.str() + "' must list bases"), result;
    }
    if (ok_ && !array) Fail("'" + key.str() + "' must be a list of bases");
    return result;
  }
  // Clusters of one block may be spelled out, as CTAsPerCGA, CTASplitNum and CTAOrder (to 3.6) or CGALayout.
  void SkipSingleCta() {
    for (const char* key : {"CTAsPerCGA", "CTASplitNum"}) {
      if (!ok_ || !Has(key)) continue;
      for (unsigned count : TakeArray(key))
        if (count != 1) Fail("of several blocks (" + std::string(key) + ") is not supported");
    }
    if (ok_ && Has("CTAOrder")) Take("CTAOrder");
    if (ok_ && Has("CGALayout") && !TakeBases("CGALayout").bases.empty())
      Fail("of several blocks (CGALayout) is not supported");
  }
  // False after any complaint.
  bool Done() {
    if (ok_ && !fields_.empty()) Fail("does not know '" + fields_.begin()->getName().str() + "'");
    return ok_;
  }
  void Fail(const std::string& message) {
    if (ok_) parser_.emitError(loc_, "encoding ") << message;
    ok_ = false;
  }
  mlir::InFlightDiagnostic EmitErrorHere() { return parser_.emitError(loc_); }

 private:
  mlir::AsmParser& parser_;
  mlir::SMLoc loc_;
  mlir::NamedAttrList fields_;
  bool ok_ = false;
};

void PrintList(mlir::AsmPrinter& printer, llvm::StringRef key, llvm::ArrayRef<unsigned> values) {
  printer << key << " = [";
  llvm::interleaveComma(values, printer);
  printer << "]";
}

mlir::LogicalResult VerifyPowersOfTwo(EmitError error, llvm::StringRef name, llvm::ArrayRef<unsigned> values) {
  for (unsigned value : values)
    if (!llvm::isPowerOf2_32(value)) return error() << name << " has " << value << ", which is no power of two";
  return mlir::success();
}

// Products of sizes stay far below what a layout can hold.
constexpr uint64_t kMaxProduct = 1 << 28;

mlir::LogicalResult VerifyProduct(EmitError error, llvm::StringRef name, llvm::ArrayRef<unsigned> values) {
  uint64_t product = 1;
  for (unsigned value : values)
    if (value > kMaxProduct || (product *= value) > kMaxProduct) return error() << name << " is too large";
  return mlir::success();
}

mlir::LogicalResult VerifyRank(EmitError error, unsigned rank, llvm::ArrayRef<int64_t> shape) {
  if (rank == shape.size()) return mlir::success();
  return error() << "encoding of rank " << rank << " on a tensor of rank " << shape.size();
}

mlir::LogicalResult VerifyOrder(EmitError error, llvm::ArrayRef<unsigned> order) {
  if (order.empty()) return error() << "order is empty";
  llvm::SmallVector<bool> seen(order.size());
  for (unsigned dim : order) {
    if (dim >= order.size() || seen[dim])
      return error() << "order is no permutation of " << order.size() << " dimensions";
    seen[dim] = true;
  }
  return mlir::success();
}

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
  addInterfaces<EncodingAliases>();
}

mlir::Attribute BlockedEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  Fields fields(parser);
  auto size = fields.TakeArray("sizePerThread"), lanes = fields.TakeArray("threadsPerWarp");
  auto warps = fields.TakeArray("warpsPerCTA"), order = fields.TakeArray("order");
  fields.SkipSingleCta();
  if (!fields.Done()) return {};
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), size, lanes, warps, order);
}
void BlockedEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<{";
  PrintList(printer, "sizePerThread", getSizePerThread());
  PrintList(printer << ", ", "threadsPerWarp", getThreadsPerWarp());
  PrintList(printer << ", ", "warpsPerCTA", getWarpsPerCTA());
  PrintList(printer << ", ", "order", getOrder());
  printer << "}>";
}
mlir::LogicalResult BlockedEncodingAttr::verify(EmitError error, llvm::ArrayRef<unsigned> size,
                                                llvm::ArrayRef<unsigned> lanes, llvm::ArrayRef<unsigned> warps,
                                                llvm::ArrayRef<unsigned> order) {
  if (order.empty() || size.size() != order.size() || lanes.size() != order.size() || warps.size() != order.size())
    return error() << "sizePerThread, threadsPerWarp, warpsPerCTA and order need one entry for each dimension";
  if (failed(VerifyPowersOfTwo(error, "sizePerThread", size)) ||
      failed(VerifyPowersOfTwo(error, "threadsPerWarp", lanes)) ||
      failed(VerifyPowersOfTwo(error, "warpsPerCTA", warps)))
    return mlir::failure();
  llvm::SmallVector<unsigned> tile(size);
  tile.append(lanes.begin(), lanes.end());
  tile.append(warps.begin(), warps.end());
  if (failed(VerifyProduct(error, "the encoding's tile", tile))) return mlir::failure();
  return VerifyOrder(error, order);
}

mlir::LogicalResult BlockedEncodingAttr::verifyEncoding(llvm::ArrayRef<int64_t> shape, mlir::Type,
                                                        EmitError error) const {
  return VerifyRank(error, Rank(), shape);
}
mlir::LogicalResult SliceEncodingAttr::verifyEncoding(llvm::ArrayRef<int64_t> shape, mlir::Type,
                                                      EmitError error) const {
  return VerifyRank(error, Rank(), shape);
}
mlir::LogicalResult DotOperandEncodingAttr::verifyEncoding(llvm::ArrayRef<int64_t> shape, mlir::Type,
                                                           EmitError error) const {
  return VerifyRank(error, Rank(), shape);
}
mlir::LogicalResult NvidiaMmaEncodingAttr::verifyEncoding(llvm::ArrayRef<int64_t> shape, mlir::Type,
                                                          EmitError error) const {
  return VerifyRank(error, Rank(), shape);
}
mlir::LogicalResult LinearEncodingAttr::verifyEncoding(llvm::ArrayRef<int64_t> shape, mlir::Type,
                                                       EmitError error) const {
  return VerifyRank(error, Rank(), shape);
}

mlir::Attribute SliceEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  Fields fields(parser);
  unsigned dim = fields.TakeUnsigned("dim");
  auto parent = llvm::dyn_cast_if_present<DistributedEncoding>(fields.Take("parent"));
  if (fields.Ok() && !parent) fields.Fail("'parent' must be a distributed encoding");
  if (!fields.Done()) return {};
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), dim, parent);
}
void SliceEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<{dim = " << getDim() << ", parent = " << getParent() << "}>";
}
mlir::LogicalResult SliceEncodingAttr::verify(EmitError error, unsigned dim, DistributedEncoding parent) {
  if (dim >= parent.Rank()) return error() << "slice dim " << dim << " of a parent of rank " << parent.Rank();
  if (parent.Rank() == 1) return error() << "cannot slice a parent of rank 1";
  return mlir::success();
}

mlir::Attribute DotOperandEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  Fields fields(parser);
  unsigned index = fields.TakeUnsigned("opIdx");
  auto parent = llvm::dyn_cast_if_present<DistributedEncoding>(fields.Take("parent"));
  if (fields.Ok() && !parent) fields.Fail("'parent' must be a distributed encoding");
  unsigned k_width = fields.Ok() && fields.Has("kWidth") ? fields.TakeUnsigned("kWidth") : 0;
  if (!fields.Done()) return {};
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), index, parent, k_width);
}
void DotOperandEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<{opIdx = " << getOpIdx() << ", parent = " << getParent();
  if (getKWidth()) printer << ", kWidth = " << getKWidth();
  printer << "}>";
}
mlir::LogicalResult DotOperandEncodingAttr::verify(EmitError error, unsigned index, DistributedEncoding parent,
                                                   unsigned k_width) {
  if (index > 1) return error() << "opIdx is 0 or 1, not " << index;
  if (parent.Rank() < 2) return error() << "a dot operand's parent has at least two dimensions";
  if (llvm::isa<SliceEncodingAttr, DotOperandEncodingAttr, LinearEncodingAttr>(parent))
    return error() << "a dot operand's parent is the encoding of a dot's result, not " << parent;
  if (llvm::isa<BlockedEncodingAttr>(parent) && k_width != 0)
    return error() << "kWidth is for matrix-unit parents only";
  if (llvm::isa<NvidiaMmaEncodingAttr>(parent) && (!llvm::isPowerOf2_32(k_width) || k_width > 16))
    return error() << "kWidth of an nvidia_mma operand is 1, 2, 4, 8 or 16, not " << k_width;
  return mlir::success();
}

mlir::Attribute NvidiaMmaEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  Fields fields(parser);
  unsigned major = fields.TakeUnsigned("versionMajor"), minor = fields.TakeUnsigned("versionMinor");
  auto warps = fields.TakeArray("warpsPerCTA"), shape = fields.TakeArray("instrShape");
  fields.SkipSingleCta();
  if (!fields.Done()) return {};
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), major, minor, warps, shape);
}
void NvidiaMmaEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<{versionMajor = " << getVersionMajor() << ", versionMinor = " << getVersionMinor() << ", ";
  PrintList(printer, "warpsPerCTA", getWarpsPerCTA());
  PrintList(printer << ", ", "instrShape", getInstrShape());
  printer << "}>";
}
mlir::LogicalResult NvidiaMmaEncodingAttr::verify(EmitError error, unsigned major, unsigned,
                                                  llvm::ArrayRef<unsigned> warps, llvm::ArrayRef<unsigned> shape) {
  if (major != 2) return error() << "nvidia_mma of version " << major << " is not supported; version 2 is";
  size_t rank = warps.size();
  if ((rank != 2 && rank != 3) || shape.size() != rank)
    return error() << "warpsPerCTA and instrShape need one entry for each of two or three dimensions";
  if (shape[rank - 2] != 16 || shape[rank - 1] != 8 || (rank == 3 && shape[0] != 1))
    return error() << "instrShape of nvidia_mma version 2 ends with 16, 8";
  if (failed(VerifyPowersOfTwo(error, "warpsPerCTA", warps))) return mlir::failure();
  return VerifyProduct(error, "warpsPerCTA", warps);
}

mlir::Attribute LinearEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  Fields fields(parser);
  InDimBases bases[] = {fields.TakeBases("register"), fields.TakeBases("lane"), fields.TakeBases("warp"),
                        fields.TakeBases("block")};
  unsigned rank = 0;
  for (const InDimBases& in : bases)
    if (!in.bases.empty()) rank = in.bases[0].size();
  if (fields.Ok() && rank == 0) fields.Fail("needs at least one basis");
  if (!fields.Done()) return {};
  auto names = DimNames(rank);
  llvm::SmallVector<absl::string_view> views(names.begin(), names.end());
  auto layout = LinearLayout::InferFromBases(bases, views);
  if (!layout.ok()) return fields.Fail(std::string(layout.status().message())), mlir::Attribute();
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), *layout);
}
void LinearEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<{";
  llvm::interleaveComma(getLayout().InDims(), printer, [&](const compiler::LayoutDim& in) {
    printer << in.name << " = [";
    for (int bit = 0; bit < in.bits; ++bit) {
      printer << (bit ? ", [" : "[");
      llvm::interleaveComma(getLayout().Basis(in.name, bit), printer);
      printer << "]";
    }
    printer << "]";
  });
  printer << "}>";
}
mlir::LogicalResult LinearEncodingAttr::verify(EmitError error, LinearLayout layout) {
  int bits = 0;
  for (const auto& in : layout.InDims()) bits += in.bits;
  if (bits > 28) return error() << "linear layout has too many bases";
  if (!layout.IsSurjective()) return error() << "linear layout does not reach every element: " << layout.ToString();
  return mlir::success();
}

mlir::Attribute SwizzledSharedEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  Fields fields(parser);
  unsigned vec = fields.TakeUnsigned("vec"), per_phase = fields.TakeUnsigned("perPhase");
  unsigned max_phase = fields.TakeUnsigned("maxPhase");
  auto order = fields.TakeArray("order");
  fields.SkipSingleCta();
  if (!fields.Done()) return {};
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), vec, per_phase, max_phase, order);
}
void SwizzledSharedEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<{vec = " << getVec() << ", perPhase = " << getPerPhase() << ", maxPhase = " << getMaxPhase() << ", ";
  PrintList(printer, "order", getOrder());
  printer << "}>";
}
mlir::LogicalResult SwizzledSharedEncodingAttr::verify(EmitError error, unsigned vec, unsigned per_phase,
                                                       unsigned max_phase, llvm::ArrayRef<unsigned> order) {
  if (failed(VerifyPowersOfTwo(error, "swizzle", {vec, per_phase, max_phase})) ||
      failed(VerifyProduct(error, "swizzle", {vec, per_phase, max_phase})))
    return mlir::failure();
  return VerifyOrder(error, order);
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
mlir::LogicalResult MemDescType::verify(EmitError error, llvm::ArrayRef<int64_t> shape, mlir::Type element,
                                        mlir::Attribute encoding, mlir::Attribute space, bool,
                                        llvm::ArrayRef<int64_t>) {
  for (int64_t size : shape)
    if (size <= 0 || !llvm::isPowerOf2_64(size))
      return error() << "dimension of size " << size << " is no power of two";
  if (!llvm::isa<mlir::IntegerType, mlir::FloatType, tt::PtrType>(element))
    return error() << "a buffer holds integers, floats or pointers, not " << element;
  auto shared = llvm::dyn_cast_if_present<SharedEncoding>(encoding);
  if (!shared) return error() << "a buffer needs a shared encoding";
  // One more dimension: a row of buffers.
  if (shared.Rank() + 1 != shape.size() && failed(VerifyRank(error, shared.Rank(), shape))) return mlir::failure();
  if (!llvm::isa_and_present<SharedMemorySpaceAttr>(space)) return error() << "unknown memory space " << space;
  return mlir::success();
}

}  // namespace tritond::ttg
