// SPDX-License-Identifier: Apache-2.0
// Textual form and verification of the encodings of any tensor.
#include "compiler/ir/encoding_fields.h"
#include "compiler/ir/encodings.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::ttg {

using compiler::InDimBases;
using compiler::LinearLayout;
using mlir::LogicalResult;

mlir::Attribute BlockedEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  EncodingFields fields(parser);
  auto size = fields.TakeArray("sizePerThread"), lanes = fields.TakeArray("threadsPerWarp");
  auto warps = fields.TakeArray("warpsPerCTA"), order = fields.TakeArray("order");
  LinearLayout cga = fields.TakeCga(order.size());
  if (!fields.Done()) return {};
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), llvm::ArrayRef(size),
                    llvm::ArrayRef(lanes), llvm::ArrayRef(warps), llvm::ArrayRef(order), cga);
}
void BlockedEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<{";
  PrintList(printer, "sizePerThread", getSizePerThread());
  PrintList(printer << ", ", "threadsPerWarp", getThreadsPerWarp());
  PrintList(printer << ", ", "warpsPerCTA", getWarpsPerCTA());
  PrintList(printer << ", ", "order", getOrder());
  PrintCga(printer, getCga());
  printer << "}>";
}
LogicalResult BlockedEncodingAttr::verify(EmitError error, llvm::ArrayRef<unsigned> size,
                                          llvm::ArrayRef<unsigned> lanes, llvm::ArrayRef<unsigned> warps,
                                          llvm::ArrayRef<unsigned> order, LinearLayout cga) {
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
  if (failed(VerifyOrder(error, order))) return mlir::failure();
  return VerifyCga(error, cga, order.size());
}

mlir::Attribute SliceEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  EncodingFields fields(parser);
  unsigned dim = fields.TakeUnsigned("dim");
  auto parent = llvm::dyn_cast_if_present<DistributedEncoding>(fields.Take("parent"));
  if (fields.Ok() && !parent) fields.Fail("'parent' must be a distributed encoding");
  if (!fields.Done()) return {};
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), dim, parent);
}
void SliceEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<{dim = " << getDim() << ", parent = " << getParent() << "}>";
}
LogicalResult SliceEncodingAttr::verify(EmitError error, unsigned dim, DistributedEncoding parent) {
  if (dim >= parent.Rank()) return error() << "slice dim " << dim << " of a parent of rank " << parent.Rank();
  if (parent.Rank() == 1) return error() << "cannot slice a parent of rank 1";
  return mlir::success();
}

mlir::Attribute DotOperandEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  EncodingFields fields(parser);
  unsigned index = fields.TakeUnsigned("opIdx");
  auto parent = llvm::dyn_cast_if_present<DistributedEncoding>(fields.Take("parent"));
  if (fields.Ok() && !parent) fields.Fail("'parent' must be a distributed encoding");
  unsigned k_width = fields.TakeUnsignedOr("kWidth", 0);
  if (!fields.Done()) return {};
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), index, parent, k_width);
}
void DotOperandEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<{opIdx = " << getOpIdx() << ", parent = " << getParent();
  if (getKWidth()) printer << ", kWidth = " << getKWidth();
  printer << "}>";
}
LogicalResult DotOperandEncodingAttr::verify(EmitError error, unsigned index, DistributedEncoding parent,
                                             unsigned k_width) {
  if (index > 1) return error() << "opIdx is 0 or 1, not " << index;
  if (parent.Rank() < 2) return error() << "a dot operand's parent has at least two dimensions";
  if (llvm::isa<BlockedEncodingAttr>(parent))
    return k_width == 0 ? mlir::success() : error() << "kWidth is for matrix-unit parents only";
  if (!llvm::isa<NvidiaMmaEncodingAttr, AmdMfmaEncodingAttr, AmdWmmaEncodingAttr, DpasEncodingAttr>(parent))
    return error() << "a dot operand's parent is the encoding of a dot's result, not " << parent;
  if (auto dpas = llvm::dyn_cast<DpasEncodingAttr>(parent)) {
    unsigned expected = DpasKWidth(dpas, index);
    if (k_width == 0 || k_width == expected) return mlir::success();
    return error() << "kWidth of operand " << index << " of this dpas is " << expected << ", not " << k_width;
  }
  if (!llvm::isPowerOf2_32(k_width) || k_width > 64)
    return error() << "kWidth of a matrix unit's operand is a power of two up to 64, not " << k_width;
  auto mma = llvm::dyn_cast<NvidiaMmaEncodingAttr>(parent);
  if (mma && k_width > 16) return error() << "kWidth of an nvidia_mma operand is 1, 2, 4, 8 or 16, not " << k_width;
  return mlir::success();
}

static LinearLayout TakeLinear(EncodingFields& fields) {
  InDimBases bases[] = {fields.TakeBases("register"), fields.TakeBases("lane"), fields.TakeBases("warp"),
                        fields.TakeOptionalBases("block")};
  return fields.Layout(bases);
}

mlir::Attribute LinearEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  EncodingFields fields(parser);
  LinearLayout layout = TakeLinear(fields);
  if (!fields.Done()) return {};
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), layout);
}
void LinearEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<{";
  PrintBases(printer, getLayout());
  printer << "}>";
}
LogicalResult LinearEncodingAttr::verify(EmitError error, LinearLayout layout) { return VerifyLinear(error, layout); }

mlir::Attribute GenericLinearEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  EncodingFields fields(parser);
  LinearLayout layout = TakeLinear(fields);
  if (!fields.Done()) return {};
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), layout);
}
void GenericLinearEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<{";
  PrintBases(printer, getLayout());
  printer << "}>";
}
LogicalResult GenericLinearEncodingAttr::verify(EmitError error, LinearLayout layout) {
  return VerifyLinear(error, layout);
}

// Tensors have the rank of their encoding.
LogicalResult BlockedEncodingAttr::verifyEncoding(llvm::ArrayRef<int64_t> shape, mlir::Type, EmitError error) const {
  return VerifyRank(error, Rank(), shape);
}
LogicalResult SliceEncodingAttr::verifyEncoding(llvm::ArrayRef<int64_t> shape, mlir::Type, EmitError error) const {
  return VerifyRank(error, Rank(), shape);
}
LogicalResult DotOperandEncodingAttr::verifyEncoding(llvm::ArrayRef<int64_t> shape, mlir::Type, EmitError error) const {
  return VerifyRank(error, Rank(), shape);
}
LogicalResult LinearEncodingAttr::verifyEncoding(llvm::ArrayRef<int64_t> shape, mlir::Type, EmitError error) const {
  return VerifyRank(error, Rank(), shape);
}
LogicalResult GenericLinearEncodingAttr::verifyEncoding(llvm::ArrayRef<int64_t> shape, mlir::Type,
                                                        EmitError error) const {
  return VerifyRank(error, Rank(), shape);
}

}  // namespace tritond::ttg
