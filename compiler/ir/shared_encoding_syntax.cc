// SPDX-License-Identifier: Apache-2.0
// Textual form and verification of the encodings of shared memory.
#include "compiler/ir/encoding_fields.h"
#include "compiler/ir/encodings.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::ttg {

using compiler::InDimBases;
using compiler::LinearLayout;
using mlir::LogicalResult;

namespace {

// The swizzled encodings differ in name alone.
template <typename Encoding>
mlir::Attribute ParseSwizzled(mlir::AsmParser& parser) {
  EncodingFields fields(parser);
  unsigned vec = fields.TakeUnsigned("vec"), per_phase = fields.TakeUnsigned("perPhase");
  unsigned max_phase = fields.TakeUnsigned("maxPhase");
  auto order = fields.TakeArray("order");
  LinearLayout cga = fields.TakeCga(order.size());
  if (!fields.Done()) return {};
  return Encoding::getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), vec, per_phase, max_phase,
                              llvm::ArrayRef(order), cga);
}
template <typename Encoding>
void PrintSwizzled(mlir::AsmPrinter& printer, Encoding encoding) {
  printer << "<{vec = " << encoding.getVec() << ", perPhase = " << encoding.getPerPhase()
          << ", maxPhase = " << encoding.getMaxPhase() << ", ";
  PrintList(printer, "order", encoding.getOrder());
  PrintCga(printer, encoding.getCga());
  printer << "}>";
}
LogicalResult VerifySwizzled(EmitError error, unsigned vec, unsigned per_phase, unsigned max_phase,
                             llvm::ArrayRef<unsigned> order, const LinearLayout& cga) {
  if (failed(VerifyPowersOfTwo(error, "swizzle", {vec, per_phase, max_phase})) ||
      failed(VerifyProduct(error, "swizzle", {vec, per_phase, max_phase})))
    return mlir::failure();
  if (failed(VerifyOrder(error, order))) return mlir::failure();
  return VerifyCga(error, cga, order.size());
}

// The layout that runs through `shape` in `order`.
LinearLayout InOrder(llvm::ArrayRef<unsigned> shape, llvm::ArrayRef<unsigned> order) {
  auto dims = DimNames(shape.size());
  llvm::SmallVector<absl::string_view> all(dims.begin(), dims.end());
  LinearLayout layout;
  for (unsigned dim : order) layout *= LinearLayout::Identity1D(shape[dim], "offset", dims[dim]);
  return (layout * SingleBlock(shape.size())).TransposeOuts(all);
}

// The order of which `layout` is InOrder; empty if it is none.
llvm::SmallVector<unsigned> OrderOf(const LinearLayout& layout) {
  llvm::SmallVector<unsigned> shape, order;
  for (const auto& out : layout.OutDims()) shape.push_back(out.size());
  for (int bit = 0; bit < layout.InBits("offset"); ++bit)
    for (auto [dim, coordinate] : llvm::enumerate(layout.Basis("offset", bit)))
      if (coordinate != 0 && !llvm::is_contained(order, dim)) order.push_back(dim);
  for (unsigned dim = shape.size(); dim-- > 0;)
    if (!llvm::is_contained(order, dim)) order.push_back(dim);
  if (layout.InBits("block") != 0 || InOrder(shape, order) != layout) order.clear();
  return order;
}

LogicalResult VerifySizes(EmitError error, const LinearLayout& layout, llvm::ArrayRef<int64_t> shape) {
  for (auto [dim, size] : llvm::zip(layout.OutDims(), shape))
    if (dim.size() != size)
      return error() << "encoding places " << dim.size() << " elements along " << dim.name << ", the buffer has "
                     << size;
  return mlir::success();
}

LogicalResult VerifyNvmma(EmitError error, NvmmaSharedEncodingAttr nvmma, llvm::ArrayRef<int64_t> shape,
                          mlir::Type element) {
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  if (bits != nvmma.getElementBitWidth())
    return error() << "nvmma_shared of " << nvmma.getElementBitWidth() << "-bit elements holds " << element;
  if (shape.size() == 1) return mlir::success();
  int64_t contiguous = nvmma.getTransposed() ? shape.front() : shape.back();
  contiguous /= nvmma.getCga().OutDims()[nvmma.getTransposed() ? 0 : shape.size() - 1].size();
  int64_t column = std::max(16u, nvmma.getSwizzlingByteWidth()) * 8 / bits / (nvmma.getFp4Padded() ? 2 : 1);
  if (contiguous >= column) return mlir::success();
  return error() << "nvmma_shared with a swizzle of " << nvmma.getSwizzlingByteWidth() << " bytes needs rows of "
                 << column << " elements, the buffer has " << contiguous;
}

}  // namespace

LogicalResult VerifyShared(EmitError error, SharedEncoding encoding, llvm::ArrayRef<int64_t> shape,
                           mlir::Type element) {
  return llvm::TypeSwitch<mlir::Attribute, LogicalResult>(encoding)
      .Case([&](NvmmaSharedEncodingAttr nvmma) { return VerifyNvmma(error, nvmma, shape, element); })
      .Case([&](PaddedSharedEncodingAttr padded) {
        if (failed(VerifySizes(error, padded.getLayout(), shape))) return mlir::failure();
        // Buffers of a row are alike, each from its first element on.
        for (const Padding& gap : padded.getPadding())
          if (gap.interval > padded.getLayout().InSize("offset"))
            return LogicalResult(error() << "padding every " << gap.interval << " elements of a buffer of fewer");
        return mlir::success();
      })
      .Case([&](SharedLinearEncodingAttr linear) { return VerifySizes(error, linear.getLayout(), shape); })
      .Default([](mlir::Attribute) { return mlir::success(); });
}

mlir::Attribute SwizzledSharedEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  return ParseSwizzled<SwizzledSharedEncodingAttr>(parser);
}
void SwizzledSharedEncodingAttr::print(mlir::AsmPrinter& printer) const { PrintSwizzled(printer, *this); }
LogicalResult SwizzledSharedEncodingAttr::verify(EmitError error, unsigned vec, unsigned per_phase, unsigned max_phase,
                                                 llvm::ArrayRef<unsigned> order, LinearLayout cga) {
  return VerifySwizzled(error, vec, per_phase, max_phase, order, cga);
}

mlir::Attribute AmdRotatingSharedEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  return ParseSwizzled<AmdRotatingSharedEncodingAttr>(parser);
}
void AmdRotatingSharedEncodingAttr::print(mlir::AsmPrinter& printer) const { PrintSwizzled(printer, *this); }
LogicalResult AmdRotatingSharedEncodingAttr::verify(EmitError error, unsigned vec, unsigned per_phase,
                                                    unsigned max_phase, llvm::ArrayRef<unsigned> order,
                                                    LinearLayout cga) {
  return VerifySwizzled(error, vec, per_phase, max_phase, order, cga);
}

mlir::Attribute NvmmaSharedEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  EncodingFields fields(parser);
  unsigned width = fields.TakeUnsigned("swizzlingByteWidth");
  bool transposed = fields.TakeBoolOr("transposed", false);
  unsigned bits = fields.TakeUnsigned("elementBitWidth");
  bool padded = fields.TakeBoolOr("fp4Padded", false);
  // The rank is said where no list of blocks has it.
  unsigned rank = fields.TakeUnsignedOr("rank", 0);
  if (rank == 0 && fields.Has("CTAsPerCGA")) {
    EncodingFields peek = fields;
    rank = peek.TakeArray("CTAsPerCGA").size();
  }
  if (rank == 0 && fields.Has("CGALayout")) {
    EncodingFields peek = fields;
    InDimBases blocks = peek.TakeBases("CGALayout");
    rank = blocks.bases.empty() ? 2 : blocks.bases[0].size();
  }
  if (rank == 0) rank = 2;
  if (rank > 5) fields.Fail("'rank' is more than 5");
  LinearLayout cga = fields.TakeCga(std::min(rank, 5u));
  if (!fields.Done()) return {};
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), width, transposed, bits, padded, cga);
}
void NvmmaSharedEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<{swizzlingByteWidth = " << getSwizzlingByteWidth()
          << ", transposed = " << (getTransposed() ? "true" : "false")
          << ", elementBitWidth = " << getElementBitWidth();
  if (getFp4Padded()) printer << ", fp4Padded = true";
  if (getCga().InBits("block") == 0 && Rank() != 2) printer << ", rank = " << Rank();
  PrintCga(printer, getCga());
  printer << "}>";
}
LogicalResult NvmmaSharedEncodingAttr::verify(EmitError error, unsigned width, bool, unsigned bits, bool padded,
                                              LinearLayout cga) {
  if (width != 0 && width != 32 && width != 64 && width != 128)
    return error() << "swizzlingByteWidth is 0, 32, 64 or 128, not " << width;
  if (!llvm::isPowerOf2_32(bits) || bits < 8 || bits > 64)
    return error() << "elementBitWidth is 8, 16, 32 or 64, not " << bits;
  if (padded && (bits != 8 || width != 128))
    return error() << "fp4Padded needs 8-bit elements and 128 bytes of swizzle";
  return VerifyCga(error, cga, cga.OutDims().size());
}

mlir::Attribute PaddedSharedEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  // <[512:+16, 2048:+32] {…}>
  llvm::SmallVector<Padding> padding;
  auto gap = [&]() -> mlir::ParseResult {
    Padding& one = padding.emplace_back();
    return mlir::failure(parser.parseInteger(one.interval) || parser.parseColon() || parser.parsePlus() ||
                         parser.parseInteger(one.elements));
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, gap)) return {};
  EncodingFields fields = EncodingFields::Bare(parser);
  if (!fields.Ok() || parser.parseGreater()) return {};
  LinearLayout layout;
  if (fields.Has("offset")) {
    InDimBases bases[] = {fields.TakeBases("offset"), fields.TakeOptionalBases("block")};
    layout = fields.Layout(bases);
  } else {
    auto order = fields.TakeArray("order"), shape = fields.TakeArray("shape");
    auto error = [&] { return fields.EmitErrorHere(); };
    if (!fields.Ok() || failed(VerifyOrder(error, order)) || failed(VerifyPowersOfTwo(error, "shape", shape)) ||
        failed(VerifyProduct(error, "shape", shape)))
      return {};
    if (order.size() != shape.size()) return fields.Fail("needs an order and a shape of one rank"), mlir::Attribute();
    if (fields.TakeCga(order.size()).InBits("block") != 0) fields.Fail("of several blocks needs 'offset' and 'block'");
    layout = InOrder(shape, order);
  }
  if (!fields.Done()) return {};
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), llvm::ArrayRef(padding), layout);
}
void PaddedSharedEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<[";
  llvm::interleaveComma(getPadding(), printer,
                        [&](const Padding& gap) { printer << gap.interval << ":+" << gap.elements; });
  printer << "] {";
  if (auto order = OrderOf(getLayout()); !order.empty()) {
    llvm::SmallVector<unsigned> shape;
    for (const auto& out : getLayout().OutDims()) shape.push_back(out.size());
    PrintList(printer, "order", order);
    PrintList(printer << ", ", "shape", shape);
  } else {
    PrintBases(printer, getLayout());
  }
  printer << "}>";
}
LogicalResult PaddedSharedEncodingAttr::verify(EmitError error, llvm::ArrayRef<Padding> padding, LinearLayout layout) {
  for (const Padding& gap : padding) {
    if (gap.interval <= 0 || gap.elements <= 0 || !llvm::isPowerOf2_32(gap.interval) ||
        !llvm::isPowerOf2_32(gap.elements) || gap.interval > (1 << 24) || gap.elements > (1 << 16))
      return error() << "padding " << gap.interval << ":+" << gap.elements << " is not of powers of two in bounds";
    if (llvm::count_if(padding, [&](const Padding& other) { return other.interval == gap.interval; }) != 1)
      return error() << "padding has the interval " << gap.interval << " twice";
  }
  if (padding.empty()) return error() << "padded_shared without padding";
  if (!layout.HasIn("offset") || !layout.HasIn("block")) return error() << "padded_shared lacks an input";
  if (failed(VerifyLinear(error, layout))) return mlir::failure();
  return layout.IsInjective() ? mlir::success() : error() << "padded_shared places an element twice";
}

mlir::Attribute SharedLinearEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  if (parser.parseLess()) return {};
  EncodingFields fields = EncodingFields::Bare(parser);
  unsigned alignment = 16;
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("alignment") || parser.parseEqual() || parser.parseInteger(alignment)))
    return {};
  if (!fields.Ok() || parser.parseGreater()) return {};
  InDimBases bases[] = {fields.TakeBases("offset"), fields.TakeOptionalBases("block")};
  LinearLayout layout = fields.Layout(bases);
  if (!fields.Done()) return {};
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), layout, alignment);
}
void SharedLinearEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<{";
  PrintBases(printer, getLayout());
  printer << "}, alignment = " << getAlignment() << ">";
}
LogicalResult SharedLinearEncodingAttr::verify(EmitError error, LinearLayout layout, unsigned alignment) {
  if (!llvm::isPowerOf2_32(alignment) || alignment > (1 << 16))
    return error() << "alignment " << alignment << " is no power of two in bounds";
  if (!layout.HasIn("offset") || !layout.HasIn("block")) return error() << "shared_linear lacks an input";
  return VerifyLinear(error, layout);
}

}  // namespace tritond::ttg
