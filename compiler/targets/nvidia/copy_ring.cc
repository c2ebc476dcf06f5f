// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/copy_ring.h"

#include "compiler/ir/padding.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace tritond::compiler {

CopiedBlock CopiedBlockOf(BlockCopy copy) {
  return {copy.block, copy.block.getBlock(), copy.copy.getResult().getType(), NanFlagOf(copy.copy.getOther())};
}

ttg::MemDescIndexOp IndexOf(mlir::Operation* copy) {
  return llvm::cast<ttg::AsyncCopyGlobalToLocalOp>(copy).getResult().getDefiningOp<ttg::MemDescIndexOp>();
}
ttg::MemDescIndexOp IndexOf(const BlockCopy& copy) { return IndexOf(ttg::AsyncCopyGlobalToLocalOp(copy.copy)); }

int64_t BytesOf(const BlockCopy& copy) {
  ttg::MemDescType type = ttg::AsyncCopyGlobalToLocalOp(copy.copy).getResult().getType();
  return ttg::Product(type.getShape()) * type.getElementType().getIntOrFloatBitWidth() / 8;
}

int64_t BytesOf(llvm::ArrayRef<BlockCopy> copies) {
  int64_t bytes = 0;
  for (const BlockCopy& copy : copies) bytes += BytesOf(copy);
  return bytes;
}

llvm::SmallVector<BlockCopy> FirstsOf(const CopyRing& ring, int64_t fill) {
  llvm::SmallVector<BlockCopy> firsts;
  llvm::copy_if(ring.firsts, std::back_inserter(firsts), [&](const BlockCopy& each) {
    return mlir::getConstantIntValue(IndexOf(each).getIndex()) == (ring.first_slot + fill) % ring.slots;
  });
  return firsts;
}

}  // namespace tritond::compiler
