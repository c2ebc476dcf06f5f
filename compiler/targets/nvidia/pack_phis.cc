// SPDX-License-Identifier: Apache-2.0
// Elements of vectors that a loop carries one by one take a register each, however narrow they are. They go together:
//
//   %x = phi half [ %a0, … ], [ %b0, … ]          %v = phi <2 x half> [ %a, … ], [ %b, … ]
//   %y = phi half [ %a1, … ], [ %b1, … ]    ->    %x = extractelement %v, 0
//   (%a0 and %a1 are elements of %a, …)           %y = extractelement %v, 1
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

constexpr unsigned kRegisterBits = 32;

// The vectors of which `phi` takes one element, by its incoming blocks; empty: it is not of that kind.
using Vectors = std::vector<llvm::Value*>;

struct Element {
  llvm::PHINode* phi;
  uint64_t index;
};

Vectors VectorsOf(llvm::PHINode& phi, llvm::ArrayRef<llvm::BasicBlock*> blocks, uint64_t& index) {
  Vectors vectors;
  for (llvm::BasicBlock* block : blocks) {
    auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(phi.getIncomingValueForBlock(block));
    auto* place = extract ? llvm::dyn_cast<llvm::ConstantInt>(extract->getIndexOperand()) : nullptr;
    if (!place || (!vectors.empty() && place->getZExtValue() != index)) return {};
    index = place->getZExtValue();
    llvm::Type* type = extract->getVectorOperandType();
    if (!vectors.empty() && vectors.front()->getType() != type) return {};
    if (type->getPrimitiveSizeInBits() != kRegisterBits) return {};
    vectors.push_back(extract->getVectorOperand());
  }
  return vectors;
}

void PackInBlock(llvm::BasicBlock& block) {
  if (block.phis().empty()) return;
  llvm::SmallVector<llvm::BasicBlock*> blocks(block.phis().begin()->blocks());
  llvm::MapVector<Vectors, llvm::SmallVector<Element>, std::map<Vectors, unsigned>> groups;
  for (llvm::PHINode& phi : block.phis()) {
    uint64_t index = 0;
    if (Vectors vectors = VectorsOf(phi, blocks, index); !vectors.empty()) groups[vectors].push_back({&phi, index});
  }
  for (auto& [vectors, elements] : groups) {
    if (elements.size() < 2) continue;
    llvm::PHINode* packed =
        llvm::PHINode::Create(vectors.front()->getType(), static_cast<unsigned>(blocks.size()), "", block.begin());
    for (auto [from, vector] : llvm::zip(blocks, vectors)) packed->addIncoming(vector, from);
    llvm::IRBuilder<> b(&block, block.getFirstInsertionPt());
    for (const Element& element : elements) {
      element.phi->replaceAllUsesWith(b.CreateExtractElement(packed, element.index));
      element.phi->eraseFromParent();
    }
  }
}

}  // namespace

void PackPhis(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function) PackInBlock(block);
}

}  // namespace tritond::compiler::nvidia
