// SPDX-License-Identifier: Apache-2.0
// Syntax and verification of ttg.warp_specialize and of the operations that it becomes. What the partitions capture is
// written after the operation's name, and held by the terminator of its second region, which isolates them from above.
#include "compiler/ir/ttg_dialect.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

namespace tritond::ttg {

using mlir::LogicalResult;

WarpSpecializePartitionsOp WarpSpecializeOp::Partitions() {
  return llvm::cast<WarpSpecializePartitionsOp>(getPartitionHolder().front().getTerminator());
}

namespace {

// partition0(%arg0: i32) num_warps(4) { … }, once the keyword has been read.
mlir::ParseResult ParsePartition(mlir::OpAsmParser& parser, mlir::Region& region, int32_t& num_warps) {
  llvm::SmallVector<mlir::OpAsmParser::Argument> arguments;
  return mlir::failure(parser.parseArgumentList(arguments, mlir::AsmParser::Delimiter::Paren, /*allowType=*/true) ||
                       parser.parseKeyword("num_warps") || parser.parseLParen() || parser.parseInteger(num_warps) ||
                       parser.parseRParen() || parser.parseRegion(region, arguments));
}

}  // namespace

mlir::ParseResult WarpSpecializeOp::parse(mlir::OpAsmParser& parser, mlir::OperationState& result) {
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> captures;
  mlir::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(captures, mlir::AsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseKeyword("default") ||
      parser.parseRegion(*result.addRegion()))
    return mlir::failure();
  mlir::OperationState partitions(result.location, WarpSpecializePartitionsOp::getOperationName());
  llvm::SmallVector<int32_t> num_warps;
  while (succeeded(parser.parseOptionalKeyword("partition" + std::to_string(num_warps.size()))))
    if (ParsePartition(parser, *partitions.addRegion(), num_warps.emplace_back())) return mlir::failure();
  mlir::FunctionType type;
  if (parser.parseColonType(type) || parser.resolveOperands(captures, type.getInputs(), loc, partitions.operands))
    return mlir::failure();
  result.addTypes(type.getResults());
  result.addAttribute(getPartitionNumWarpsAttrName(result.name), parser.getBuilder().getDenseI32ArrayAttr(num_warps));
  mlir::OpBuilder builder(parser.getContext());
  builder.createBlock(result.addRegion());
  builder.create(partitions);
  return mlir::success();
}

void WarpSpecializeOp::print(mlir::OpAsmPrinter& printer) {
  WarpSpecializePartitionsOp partitions = Partitions();
  printer << "(";
  printer.printOperands(partitions.getOperands());
  printer << ")";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getPartitionNumWarpsAttrName()});
  printer.printNewline();
  printer << "default ";
  printer.printRegion(getDefaultRegion(), /*printEntryBlockArgs=*/false);
  for (auto [i, region] : llvm::enumerate(partitions.getPartitionRegions())) {
    printer.printNewline();
    printer << "partition" << i << "(";
    llvm::interleaveComma(region.getArguments(), printer,
                          [&](mlir::BlockArgument argument) { printer.printRegionArgument(argument); });
    printer << ") num_warps(" << getPartitionNumWarps()[i] << ") ";
    printer.printRegion(region, /*printEntryBlockArgs=*/false);
  }
  printer << " : ";
  printer.printFunctionalType(partitions.getOperandTypes(), getResultTypes());
}

LogicalResult WarpSpecializeOp::verifyRegions() {
  if (!getPartitionHolder().hasOneBlock() ||
      !llvm::isa<WarpSpecializePartitionsOp>(getPartitionHolder().front().back()))
    return emitOpError("has no warp_specialize.partitions in its second region");
  size_t partitions = Partitions().getPartitionRegions().size();
  if (getPartitionNumWarps().size() != partitions)
    return emitOpError() << "has " << partitions << " partitions, but warps for " << getPartitionNumWarps().size();
  for (int32_t warps : getPartitionNumWarps())
    if (warps <= 0 || !llvm::isPowerOf2_32(warps))
      return emitOpError() << "partition of " << warps << " warps, which is no power of two";
  if (getWarpGroupStartIds() && getWarpGroupStartIds()->size() != partitions)
    return emitOpError("needs one of warpGroupStartIds for each partition");
  if (getRequestedRegisters() && getRequestedRegisters()->size() != partitions)
    return emitOpError("needs one of requestedRegisters for each partition");
  if (getActualRegisters() && getActualRegisters()->size() != partitions + 1)
    return emitOpError("needs one of actualRegisters for the default region and each partition");
  for (mlir::Block& block : getDefaultRegion()) {
    auto yield = llvm::dyn_cast<WarpYieldOp>(block.getTerminator());
    if (yield && yield.getOperandTypes() != getResultTypes())
      return yield.emitOpError("yields other types than those of the results around it");
  }
  return mlir::success();
}

namespace {

// Each partition takes all captures.
template <typename Op>
LogicalResult VerifyArguments(Op op) {
  for (auto [i, region] : llvm::enumerate(op.getPartitionRegions())) {
    if (region.getArgumentTypes() != op->getOperandTypes())
      return op.emitOpError() << "partition " << i << " has arguments of other types than the captures";
  }
  return mlir::success();
}

}  // namespace

LogicalResult WarpSpecializePartitionsOp::verify() { return VerifyArguments(*this); }

LogicalResult StartPartitionsOp::verify() {
  size_t partitions = getPartitionRegions().size();
  if (getPartitionNumWarps().size() != partitions || getWarpGroupStartIds().size() != partitions)
    return emitOpError("needs a number of warps and a first warp for each partition");
  if (getActualRegisters() && getActualRegisters()->size() != partitions + 1)
    return emitOpError("needs one of actualRegisters for the warps that go on and for each partition");
  return VerifyArguments(*this);
}

mlir::Region* PartitionAround(mlir::Region* region) {
  while (region && !llvm::isa<WarpSpecializePartitionsOp, StartPartitionsOp>(region->getParentOp()))
    region = region->getParentRegion();
  return region;
}

std::optional<int> PartitionWarps(mlir::Region* region) {
  mlir::Region* partition = PartitionAround(region);
  if (!partition) return std::nullopt;
  llvm::ArrayRef<int32_t> warps;
  if (auto start = llvm::dyn_cast<StartPartitionsOp>(partition->getParentOp())) {
    warps = start.getPartitionNumWarps();
  } else if (auto specialize = llvm::dyn_cast_or_null<WarpSpecializeOp>(partition->getParentOp()->getParentOp())) {
    warps = specialize.getPartitionNumWarps();
  }
  // Of what a verifier will refuse nothing is known.
  if (partition->getRegionNumber() >= warps.size()) return std::nullopt;
  return warps[partition->getRegionNumber()];
}

}  // namespace tritond::ttg
