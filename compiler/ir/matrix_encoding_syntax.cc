// SPDX-License-Identifier: Apache-2.0
// Textual form and verification of the encodings of matrix units' results.
#include "compiler/ir/encoding_fields.h"
#include "compiler/ir/encodings.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::ttg {

using compiler::InDimBases;
using compiler::LinearLayout;
using mlir::LogicalResult;

namespace {

LogicalResult VerifyWarps(EmitError error, llvm::ArrayRef<unsigned> warps) {
  if (warps.size() != 2 && warps.size() != 3)
    return error() << "warpsPerCTA needs one entry for each of two or three dimensions";
  if (failed(VerifyPowersOfTwo(error, "warpsPerCTA", warps))) return mlir::failure();
  return VerifyProduct(error, "warpsPerCTA", warps);
}

// Older spellings: version or versionMajor (with a minor version that does not matter).
unsigned TakeVersion(EncodingFields& fields) {
  if (fields.Has("version")) return fields.TakeUnsigned("version");
  unsigned version = fields.TakeUnsigned("versionMajor");
  fields.TakeUnsignedOr("versionMinor", 0);
  return version;
}

}  // namespace

mlir::Attribute NvidiaMmaEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  EncodingFields fields(parser);
  unsigned major = fields.TakeUnsigned("versionMajor"), minor = fields.TakeUnsigned("versionMinor");
  auto warps = fields.TakeArray("warpsPerCTA"), shape = fields.TakeArray("instrShape");
  LinearLayout cga = fields.TakeCga(warps.size());
  if (!fields.Done()) return {};
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), major, minor, llvm::ArrayRef(warps),
                    llvm::ArrayRef(shape), cga);
}
void NvidiaMmaEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<{versionMajor = " << getVersionMajor() << ", versionMinor = " << getVersionMinor() << ", ";
  PrintList(printer, "warpsPerCTA", getWarpsPerCTA());
  PrintCga(printer, getCga());
  PrintList(printer << ", ", "instrShape", getInstrShape());
  printer << "}>";
}
LogicalResult NvidiaMmaEncodingAttr::verify(EmitError error, unsigned major, unsigned, llvm::ArrayRef<unsigned> warps,
                                            llvm::ArrayRef<unsigned> shape, LinearLayout cga) {
  if (major != 2 && major != 3 && major != 5)
    return error() << "nvidia_mma of version " << major << " is not supported; versions 2, 3 and 5 are";
  if (failed(VerifyWarps(error, warps)) || failed(VerifyCga(error, cga, warps.size()))) return mlir::failure();
  size_t rank = warps.size();
  if (major == 2) {
    if (shape.size() != rank) return error() << "instrShape needs one entry for each of " << rank << " dimensions";
    if (shape[rank - 2] != 16 || shape[rank - 1] != 8 || (rank == 3 && shape[0] != 1))
      return error() << "instrShape of nvidia_mma version 2 ends with 16, 8";
    return mlir::success();
  }
  if (rank != 2 || shape.size() != 3)
    return error() << "nvidia_mma version " << major << " has two dimensions and instrShape three";
  const bool has_rows = major == 3 ? shape[0] == 16 : shape[0] == 64 || shape[0] == 128;
  if (!has_rows || shape[1] < 8 || shape[1] > 256 || !llvm::isPowerOf2_32(shape[1]) || !llvm::isPowerOf2_32(shape[2]) ||
      shape[2] > 64)
    return error() << "instrShape of nvidia_mma version " << major << " is " << (major == 3 ? "16" : "64 or 128")
                   << ", a power of two from 8 to 256, and the depth";
  if (warps[0] % 4 != 0)
    return error() << "nvidia_mma version " << major << " needs groups of four warps along the first dimension";
  return mlir::success();
}

mlir::Attribute AmdMfmaEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  EncodingFields fields(parser);
  unsigned version = TakeVersion(fields);
  auto warps = fields.TakeArray("warpsPerCTA"), shape = fields.TakeArray("instrShape");
  bool transposed = fields.TakeBoolOr("isTransposed", false);
  llvm::SmallVector<unsigned> tiles(warps.size(), 1);
  if (fields.Has("tilesPerWarp")) tiles = fields.TakeArray("tilesPerWarp");
  unsigned bits = fields.TakeUnsignedOr("elementBitWidth", 32);
  if (fields.Has("elementType")) {  // release 3.5
    auto type = llvm::dyn_cast<mlir::TypeAttr>(fields.Take("elementType"));
    if (!type) fields.Fail("'elementType' must be a type");
    bits = type && type.getValue().isF64() ? 64 : 32;
  }
  LinearLayout cga = fields.TakeCga(warps.size());
  if (!fields.Done()) return {};
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), version, llvm::ArrayRef(warps),
                    llvm::ArrayRef(shape), transposed, llvm::ArrayRef(tiles), bits, cga);
}
void AmdMfmaEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<{version = " << getVersion() << ", ";
  PrintList(printer, "warpsPerCTA", getWarpsPerCTA());
  PrintList(printer << ", ", "instrShape", getInstrShape());
  printer << ", isTransposed = " << (getIsTransposed() ? "true" : "false");
  PrintCga(printer, getCga());
  if (llvm::any_of(getTilesPerWarp(), [](unsigned tiles) { return tiles != 1; }))
    PrintList(printer << ", ", "tilesPerWarp", getTilesPerWarp());
  if (getElementBitWidth() != 32) printer << ", elementBitWidth = " << getElementBitWidth();
  printer << "}>";
}
LogicalResult AmdMfmaEncodingAttr::verify(EmitError error, unsigned version, llvm::ArrayRef<unsigned> warps,
                                          llvm::ArrayRef<unsigned> shape, bool transposed,
                                          llvm::ArrayRef<unsigned> tiles, unsigned bits, LinearLayout cga) {
  if (version < 1 || version > 4) return error() << "amd_mfma of version " << version << " is none of 1 to 4";
  if (failed(VerifyWarps(error, warps)) || failed(VerifyCga(error, cga, warps.size()))) return mlir::failure();
  if (tiles.size() != warps.size()) return error() << "tilesPerWarp needs one entry for each dimension";
  if (failed(VerifyPowersOfTwo(error, "tilesPerWarp", tiles)) || failed(VerifyProduct(error, "tilesPerWarp", tiles)))
    return mlir::failure();
  if (bits != 32 && bits != 64) return error() << "elementBitWidth is 32 or 64, not " << bits;
  if (shape.size() != 2 && shape.size() != 3) return error() << "instrShape is m, n and perhaps k";
  unsigned m = shape[0], n = shape[1];
  bool square = m == n && (m == 16 || (m == 32 && bits == 32));
  bool flat = bits == 32 && ((m == 4 && n == 64 && !transposed) || (m == 64 && n == 4 && transposed));
  if (!square && !flat)
    return error() << "no MFMA result of " << m << "x" << n << (transposed ? ", transposed," : "") << " of " << bits
                   << " bits is known";
  if (shape.size() == 3 && !llvm::isPowerOf2_32(shape[2])) return error() << "instrShape has a depth of " << shape[2];
  return mlir::success();
}

mlir::Attribute AmdWmmaEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  EncodingFields fields(parser);
  unsigned version = TakeVersion(fields);
  bool transposed = fields.TakeBoolOr("isTransposed", false);
  transposed = fields.TakeBoolOr("isTranspose", transposed);
  LinearLayout tiles;
  unsigned rank = 2;
  if (fields.Has("warpsPerCTA")) {  // up to release 3.5
    auto warps = fields.TakeArray("warpsPerCTA");
    rank = warps.size();
    auto dims = DimNames(rank);
    for (const std::string& dim : dims) tiles *= LinearLayout::Identity1D(1, "register", dim);
    for (unsigned dim = rank; dim-- > 0;) {
      if (!llvm::isPowerOf2_32(warps[dim]) || warps[dim] > 64) fields.Fail("'warpsPerCTA' must list powers of two");
      if (fields.Ok()) tiles *= LinearLayout::Identity1D(warps[dim], "warp", dims[dim]);
    }
  } else {
    EncodingFields nested = fields.TakeFields("ctaLayout");
    InDimBases bases[] = {nested.TakeOptionalBases("register"), nested.TakeOptionalBases("warp")};
    for (const InDimBases& in : bases)
      if (!in.bases.empty()) rank = in.bases[0].size();
    tiles = bases[0].bases.empty() && bases[1].bases.empty() ? LinearLayout() : nested.Layout(bases);
    if (!nested.Done()) return {};
    auto dims = DimNames(rank);
    if (tiles.OutDims().empty())
      for (const std::string& dim : dims)
        tiles *= LinearLayout::Identity1D(1, "register", dim) * LinearLayout::Identity1D(1, "warp", dim);
  }
  llvm::SmallVector<unsigned> shape{16, 16, 16};
  if (fields.Has("instrShape")) shape = fields.TakeArray("instrShape");
  LinearLayout cga = fields.TakeCga(rank);
  if (!fields.Done()) return {};
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), version, transposed, tiles,
                    llvm::ArrayRef(shape), cga);
}
void AmdWmmaEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<{version = " << getVersion() << ", isTranspose = " << (getIsTransposed() ? "true" : "false")
          << ", ctaLayout = {";
  PrintBases(printer, getCtaLayout());
  printer << "}";
  PrintCga(printer, getCga());
  if (getInstrShape() != llvm::ArrayRef<unsigned>({16, 16, 16}))
    PrintList(printer << ", ", "instrShape", getInstrShape());
  printer << "}>";
}
LogicalResult AmdWmmaEncodingAttr::verify(EmitError error, unsigned version, bool transposed, LinearLayout tiles,
                                          llvm::ArrayRef<unsigned> shape, LinearLayout cga) {
  if (version < 1 || version > 3) return error() << "amd_wmma of version " << version << " is none of 1 to 3";
  if (version == 1 && transposed) return error() << "amd_wmma version 1 is never transposed";
  unsigned rank = tiles.OutDims().size();
  if (rank != 2 && rank != 3) return error() << "ctaLayout has " << rank << " dimensions, not two or three";
  if (!tiles.HasIn("register") || !tiles.HasIn("warp")) return error() << "ctaLayout lacks an input";
  if (tiles.TotalInBits() > 16) return error() << "ctaLayout has too many bases";
  if (!tiles.IsSurjective()) return error() << "ctaLayout leaves out tiles: " << tiles.ToString();
  if (shape.size() != 3 || shape[0] != 16 || shape[1] != 16 || !llvm::isPowerOf2_32(shape[2]))
    return error() << "instrShape of amd_wmma is 16, 16 and the depth";
  return VerifyCga(error, cga, rank);
}

unsigned DpasKWidth(DpasEncodingAttr dpas, unsigned operand) {
  if (operand == 1) return dpas.getOpsPerChan();
  return std::max(1u, dpas.getSystolicDepth() * dpas.getOpsPerChan() / dpas.getThreadsPerWarp());
}

mlir::Attribute DpasEncodingAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  EncodingFields fields(parser);
  unsigned repeats = fields.TakeUnsigned("repeatCount"), depth = fields.TakeUnsigned("systolicDepth");
  unsigned execution = fields.TakeUnsigned("executionSize"), ops = fields.TakeUnsigned("opsPerChan");
  unsigned lanes = fields.TakeUnsigned("threadsPerWarp");
  auto warps = fields.TakeArray("warpsPerCTA");
  llvm::SmallVector<unsigned> cluster(warps.size(), 1);
  if (fields.Has("repCluster")) cluster = fields.TakeArray("repCluster");
  // The shapes that follow from the rest, which are printed beside it.
  for (const char* key : {"A", "B", "C"})
    if (fields.Has(key)) fields.TakeArray(key);
  LinearLayout cga = fields.TakeCga(warps.size());
  if (!fields.Done()) return {};
  return getChecked([&] { return fields.EmitErrorHere(); }, parser.getContext(), repeats, depth, execution, ops, lanes,
                    llvm::ArrayRef(warps), llvm::ArrayRef(cluster), cga);
}
void DpasEncodingAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<{repeatCount = " << getRepeatCount() << ", systolicDepth = " << getSystolicDepth()
          << ", executionSize = " << getExecutionSize() << ", opsPerChan = " << getOpsPerChan()
          << ", threadsPerWarp = " << getThreadsPerWarp() << ", ";
  PrintList(printer, "warpsPerCTA", getWarpsPerCTA());
  PrintList(printer << ", ", "repCluster", getRepCluster());
  PrintCga(printer, getCga());
  printer << "}>";
}
LogicalResult DpasEncodingAttr::verify(EmitError error, unsigned repeats, unsigned depth, unsigned execution,
                                       unsigned ops, unsigned lanes, llvm::ArrayRef<unsigned> warps,
                                       llvm::ArrayRef<unsigned> cluster, LinearLayout cga) {
  if (failed(VerifyWarps(error, warps)) || failed(VerifyCga(error, cga, warps.size()))) return mlir::failure();
  if (cluster.size() != warps.size()) return error() << "repCluster needs one entry for each dimension";
  if (failed(VerifyPowersOfTwo(error, "repCluster", cluster)) || failed(VerifyProduct(error, "repCluster", cluster)))
    return mlir::failure();
  if (warps.size() == 3 && cluster[0] != 1) return error() << "repCluster repeats no batches";
  if (failed(VerifyPowersOfTwo(error, "dpas", {repeats, depth, execution, ops, lanes}))) return mlir::failure();
  if (repeats > 8 || depth != 8 || (execution != 8 && execution != 16) || ops > 8 || lanes > 32)
    return error() << "dpas repeats up to 8 times, is 8 deep, 8 or 16 wide, and takes up to 8 operations a channel";
  if (lanes < execution || lanes > repeats * execution || lanes > depth * ops * repeats || lanes > depth * execution)
    return error() << "threadsPerWarp " << lanes << " does not fit the instruction";
  return mlir::success();
}

LogicalResult NvidiaMmaEncodingAttr::verifyEncoding(llvm::ArrayRef<int64_t> shape, mlir::Type, EmitError error) const {
  return VerifyRank(error, Rank(), shape);
}
LogicalResult AmdMfmaEncodingAttr::verifyEncoding(llvm::ArrayRef<int64_t> shape, mlir::Type, EmitError error) const {
  return VerifyRank(error, Rank(), shape);
}
LogicalResult AmdWmmaEncodingAttr::verifyEncoding(llvm::ArrayRef<int64_t> shape, mlir::Type, EmitError error) const {
  return VerifyRank(error, Rank(), shape);
}
LogicalResult DpasEncodingAttr::verifyEncoding(llvm::ArrayRef<int64_t> shape, mlir::Type, EmitError error) const {
  return VerifyRank(error, Rank(), shape);
}

}  // namespace tritond::ttg
