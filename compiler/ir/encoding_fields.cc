// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/encoding_fields.h"

#include "compiler/ir/encodings.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/IR/Builders.h"

namespace tritond::ttg {

using compiler::InDimBases;
using compiler::LinearLayout;
using mlir::LogicalResult;

namespace {

// Products of sizes stay far below what a layout can hold.
constexpr uint64_t kMaxProduct = 1 << 28;
constexpr int kMaxBases = 28;

}  // namespace

EncodingFields::EncodingFields(mlir::AsmParser& parser) : parser_(parser), loc_(parser.getCurrentLocation()) {
  mlir::DictionaryAttr fields;
  ok_ = succeeded(parser.parseLess()) && succeeded(parser.parseAttribute(fields)) && succeeded(parser.parseGreater());
  if (ok_) fields_ = fields;
}

EncodingFields EncodingFields::Bare(mlir::AsmParser& parser) {
  mlir::SMLoc loc = parser.getCurrentLocation();
  mlir::DictionaryAttr fields;
  bool ok = succeeded(parser.parseAttribute(fields));
  return EncodingFields(parser, loc, ok ? fields : parser.getBuilder().getDictionaryAttr({}), ok);
}

mlir::Attribute EncodingFields::Take(llvm::StringRef key) {
  mlir::Attribute value = ok_ ? fields_.get(key) : mlir::Attribute();
  if (!value) Fail("needs '" + key.str() + "'");
  fields_.erase(key);
  return value;
}

unsigned EncodingFields::TakeUnsigned(llvm::StringRef key) {
  auto value = llvm::dyn_cast_if_present<mlir::IntegerAttr>(Take(key));
  if (ok_ && (!value || value.getValue().getSignificantBits() > 31 || value.getInt() < 0 || value.getInt() > (1 << 30)))
    Fail("'" + key.str() + "' must be a count");
  return ok_ ? value.getInt() : 0;
}

bool EncodingFields::TakeBoolOr(llvm::StringRef key, bool missing) {
  if (!Has(key)) return missing;
  auto value = llvm::dyn_cast<mlir::BoolAttr>(Take(key));
  if (!value) Fail("'" + key.str() + "' must be true or false");
  return value && value.getValue();
}

llvm::SmallVector<unsigned> EncodingFields::TakeArray(llvm::StringRef key) {
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

EncodingFields EncodingFields::TakeFields(llvm::StringRef key) {
  auto fields = llvm::dyn_cast_if_present<mlir::DictionaryAttr>(Take(key));
  if (ok_ && !fields) Fail("'" + key.str() + "' must be a dictionary");
  return EncodingFields(parser_, loc_, ok_ ? fields : parser_.getBuilder().getDictionaryAttr({}), ok_);
}

InDimBases EncodingFields::TakeBases(llvm::StringRef key) {
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

InDimBases EncodingFields::TakeOptionalBases(llvm::StringRef key) {
  return Has(key) ? TakeBases(key) : InDimBases{key.str(), {}};
}

LinearLayout EncodingFields::TakeCga(unsigned rank) {
  auto dims = DimNames(rank);
  if (Has("CGALayout")) {
    InDimBases blocks = TakeBases("CGALayout");
    blocks.name = "block";
    return blocks.bases.empty() ? SingleBlock(rank) : Layout(blocks);
  }
  llvm::SmallVector<unsigned> counts, splits, order;
  if (Has("CTAsPerCGA")) counts = TakeArray("CTAsPerCGA");
  if (Has("CTASplitNum")) splits = TakeArray("CTASplitNum");
  if (Has("CTAOrder")) order = TakeArray("CTAOrder");
  if (!ok_ || llvm::all_of(counts, [](unsigned count) { return count == 1; })) return SingleBlock(rank);
  LinearLayout cga = SingleBlock(rank);
  bool fits = counts.size() == rank && splits.size() == rank && order.size() == rank;
  for (unsigned dim : order) {
    fits = fits && dim < rank && llvm::isPowerOf2_32(counts[dim]) && llvm::isPowerOf2_32(splits[dim]) &&
           counts[dim] <= 64 && splits[dim] <= counts[dim];
    if (!fits) break;
    cga *= LinearLayout::Identity1D(splits[dim], "block", dims[dim]) *
           LinearLayout::Zeros1D(counts[dim] / splits[dim], "block", dims[dim]);
  }
  if (!fits) Fail("needs CTAsPerCGA, CTASplitNum and CTAOrder that fit each other");
  return cga;
}

LinearLayout EncodingFields::Layout(llvm::ArrayRef<InDimBases> bases) {
  unsigned rank = 0;
  for (const InDimBases& in : bases)
    if (!in.bases.empty()) rank = in.bases[0].size();
  if (rank == 0) Fail("needs at least one basis");
  if (!ok_) return LinearLayout();
  auto names = DimNames(rank);
  llvm::SmallVector<absl::string_view> views(names.begin(), names.end());
  auto layout = LinearLayout::InferFromBases(absl::MakeSpan(bases.data(), bases.size()), views);
  if (!layout.ok()) return Fail(std::string(layout.status().message())), LinearLayout();
  return *layout;
}

bool EncodingFields::Done() {
  if (ok_ && !fields_.empty()) Fail("does not know '" + fields_.begin()->getName().str() + "'");
  return ok_;
}

void EncodingFields::Fail(const std::string& message) {
  if (ok_) parser_.emitError(loc_, "encoding ") << message;
  ok_ = false;
}

void PrintList(mlir::AsmPrinter& printer, llvm::StringRef key, llvm::ArrayRef<unsigned> values) {
  printer << key << " = [";
  llvm::interleaveComma(values, printer);
  printer << "]";
}

static void PrintInDim(mlir::AsmPrinter& printer, llvm::StringRef key, const LinearLayout& layout,
                       const compiler::LayoutDim& in) {
  printer << key << " = [";
  for (int bit = 0; bit < in.bits; ++bit) {
    printer << (bit ? ", [" : "[");
    llvm::interleaveComma(layout.Basis(in.name, bit), printer);
    printer << "]";
  }
  printer << "]";
}

void PrintBases(mlir::AsmPrinter& printer, const LinearLayout& layout) {
  llvm::interleaveComma(layout.InDims(), printer,
                        [&](const compiler::LayoutDim& in) { PrintInDim(printer, in.name, layout, in); });
}

void PrintCga(mlir::AsmPrinter& printer, const LinearLayout& cga) {
  if (cga.InBits("block") == 0) return;
  PrintInDim(printer << ", ", "CGALayout", cga, cga.In("block"));
}

LogicalResult VerifyPowersOfTwo(EmitError error, llvm::StringRef name, llvm::ArrayRef<unsigned> values) {
  for (unsigned value : values)
    if (!llvm::isPowerOf2_32(value)) return error() << name << " has " << value << ", which is no power of two";
  return mlir::success();
}

LogicalResult VerifyProduct(EmitError error, llvm::StringRef name, llvm::ArrayRef<unsigned> values) {
  uint64_t product = 1;
  for (unsigned value : values)
    if (value > kMaxProduct || (product *= value) > kMaxProduct) return error() << name << " is too large";
  return mlir::success();
}

LogicalResult VerifyRank(EmitError error, unsigned rank, llvm::ArrayRef<int64_t> shape) {
  if (rank == shape.size()) return mlir::success();
  return error() << "encoding of rank " << rank << " on a tensor of rank " << shape.size();
}

LogicalResult VerifyOrder(EmitError error, llvm::ArrayRef<unsigned> order) {
  if (order.empty()) return error() << "order is empty";
  llvm::SmallVector<bool> seen(order.size());
  for (unsigned dim : order) {
    if (dim >= order.size() || seen[dim])
      return error() << "order is no permutation of " << order.size() << " dimensions";
    seen[dim] = true;
  }
  return mlir::success();
}

LogicalResult VerifyCga(EmitError error, const LinearLayout& cga, unsigned rank) {
  if (cga.OutDims().size() != rank || !cga.HasIn("block"))
    return error() << "CGALayout of " << cga.OutDims().size() << " dimensions for an encoding of " << rank;
  if (cga.InBits("block") > 6) return error() << "CGALayout of " << cga.InSize("block") << " blocks is too large";
  if (!cga.IsSurjective()) return error() << "CGALayout leaves out a part of the tensor: " << cga.ToString();
  return mlir::success();
}

LogicalResult VerifyLinear(EmitError error, const LinearLayout& layout) {
  if (layout.TotalInBits() > kMaxBases) return error() << "linear layout has too many bases";
  if (!layout.IsSurjective()) return error() << "linear layout does not reach every element: " << layout.ToString();
  return mlir::success();
}

}  // namespace tritond::ttg
