// SPDX-License-Identifier: Apache-2.0
// Elements of vectors that a loop carries one by one take a register each, however narrow they are. They go together:
//
//   %x = phi half [ %a0, … ], [ %b0, … ]          %v = phi <2 x half> [ %a, … ], [ %b, … ]
//   %y = phi half [ %a1, … ], [ %b1, … ]    ->    %x = extractelement %v, 0
//   (%a0 and %a1 are elements of %a, …)           %y = extractelement %v, 1
//
// wgmma holds two f16 accumulators in a register, which must not be put together again while the product that adds to
// them runs. So halves that are used together go together in functions with wgmma, wherever they come from. Vectors of
// elements of one vector, in order, are that vector.
//
// Words that one branch loads go together where it meets others, which put their elements together. Taken apart in the
// branch they would make it wait for the load, and all that comes after it:
//
//   wide:    %w = ld.b32 …
//   narrow:  %l = ld.b16 … ; %h = ld.b16 …
//   meet:    %v = phi <2 x half> [ %w, %wide ], [ {%l, %h}, %narrow ]
//
// Where half as many values again live at once as a thread has registers, all narrow elements go together. ptxas would
// store some of them, and gets the upper halves of what it stores wrong (seen in 12.8 and 13.0).
#include <map>

#include "compiler/targets/nvidia/codegen.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"

namespace tritond::compiler::nvidia {
namespace {

constexpr unsigned kRegisterBits = 32;
// LLVM's order keeps more words alive than a thread has registers; the assembler gets along with two thirds of them.
constexpr int64_t kMostLiveWords = 255 * 3 / 2;

// By the index of their element; null: nobody carries it.
using Lanes = std::vector<llvm::PHINode*>;
using Elements = llvm::SmallVector<llvm::Value*>;  // likewise

bool IsRegister(llvm::Type* type) {
  return llvm::isa<llvm::FixedVectorType>(type) && type->getPrimitiveSizeInBits() == kRegisterBits;
}

// The vector of a register's size of which `value` is element `index`; null: it is none.
llvm::Value* VectorOf(llvm::Value* value, uint64_t& index) {
  auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(value);
  auto* place = extract ? llvm::dyn_cast<llvm::ConstantInt>(extract->getIndexOperand()) : nullptr;
  if (!place || !IsRegister(extract->getVectorOperandType())) return nullptr;
  index = place->getZExtValue();
  return extract->getVectorOperand();
}

// The vector that has these elements; null: none is known.
llvm::Value* KnownVector(const Elements& elements, llvm::Type* type) {
  llvm::Value* vector = nullptr;
  for (auto [at, element] : llvm::enumerate(elements)) {
    uint64_t index = 0;
    llvm::Value* of = element ? VectorOf(element, index) : nullptr;
    if (element && (!of || index != at || of->getType() != type || (vector && vector != of))) return nullptr;
    if (of) vector = of;
  }
  return vector;
}

// The elements that a chain of insertions puts together; empty: `last` is no such chain, or leaves some out.
Elements ElementsOf(llvm::InsertElementInst& last) {
  Elements elements(llvm::cast<llvm::FixedVectorType>(last.getType())->getNumElements());
  llvm::Value* value = &last;
  while (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(value)) {
    auto* place = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
    if (!place) return {};
    llvm::Value*& element = elements[place->getZExtValue()];
    if (!element) element = insert->getOperand(1);
    value = insert->getOperand(0);
  }
  return llvm::is_contained(elements, nullptr) ? Elements() : elements;
}

// Every block that uses the element takes it out of the vector: between blocks, the assembler holds an element that was
// taken out in a register of its own.
void ExtractWhereUsed(llvm::PHINode& lane, llvm::PHINode& packed, uint64_t at) {
  llvm::DenseMap<llvm::BasicBlock*, llvm::Value*> extracts;
  for (llvm::Use& use : llvm::make_early_inc_range(lane.uses())) {
    auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
    llvm::BasicBlock* block = phi ? phi->getIncomingBlock(use) : user->getParent();
    llvm::Value*& extract = extracts[block];
    if (!extract) extract = llvm::IRBuilder<>(block, block->getFirstInsertionPt()).CreateExtractElement(&packed, at);
    use.set(extract);
  }
}

void Pack(const Lanes& lanes, llvm::Type* type) {
  llvm::PHINode* first = *llvm::find_if(lanes, [](llvm::PHINode* lane) { return lane != nullptr; });
  llvm::BasicBlock* block = first->getParent();
  auto* packed = llvm::PHINode::Create(type, first->getNumIncomingValues(), "", block->begin());
  for (llvm::BasicBlock* from : first->blocks()) {
    // Of a block that branches here twice.
    if (int known = packed->getBasicBlockIndex(from); known >= 0) {
      packed->addIncoming(packed->getIncomingValue(known), from);
      continue;
    }
    Elements elements;
    for (llvm::PHINode* lane : lanes) elements.push_back(lane ? lane->getIncomingValueForBlock(from) : nullptr);
    llvm::Value* vector = KnownVector(elements, type);
    if (!vector) {
      llvm::IRBuilder<> b(from->getTerminator());
      vector = llvm::PoisonValue::get(type);
      for (auto [at, element] : llvm::enumerate(elements))
        if (element) vector = b.CreateInsertElement(vector, element, uint64_t{at});
    }
    packed->addIncoming(vector, from);
  }
  llvm::SmallVector<llvm::WeakTrackingVH> unused;
  for (auto [at, lane] : llvm::enumerate(lanes)) {
    if (!lane) continue;
    ExtractWhereUsed(*lane, *packed, at);
    for (llvm::Value* incoming : lane->incoming_values())
      if (llvm::isa<llvm::Instruction>(incoming)) unused.push_back(incoming);
    lane->eraseFromParent();
  }
  llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(unused);
}

// Elements of the same vectors, whichever way control came.
void PackByDefinitions(llvm::BasicBlock& block) {
  using Vectors = std::vector<llvm::Value*>;
  llvm::MapVector<Vectors, Lanes, std::map<Vectors, unsigned>> groups;
  for (llvm::PHINode& phi : block.phis()) {
    Vectors vectors;
    uint64_t index = 0;
    bool fits = true;
    // All phis of a block list the blocks before it; those of the first one give the order.
    for (llvm::BasicBlock* from : block.phis().begin()->blocks()) {
      uint64_t at = 0;
      llvm::Value* vector = VectorOf(phi.getIncomingValueForBlock(from), at);
      if (vectors.empty()) index = at;
      fits = fits && vector && at == index && (vectors.empty() || vectors[0]->getType() == vector->getType());
      vectors.push_back(vector);
    }
    if (!fits) continue;
    Lanes& lanes = groups[vectors];
    lanes.resize(llvm::cast<llvm::FixedVectorType>(vectors[0]->getType())->getNumElements());
    if (!lanes[index]) lanes[index] = &phi;
  }
  for (auto& [vectors, lanes] : groups)
    if (llvm::count_if(lanes, [](llvm::PHINode* lane) { return lane != nullptr; }) > 1)
      Pack(lanes, vectors[0]->getType());
}

// Whether `vector` is a word that `block` loads.
bool IsLoadedIn(const llvm::BasicBlock& block, llvm::Value* vector) {
  if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(vector)) vector = cast->getOperand(0);
  if (auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(vector)) vector = part->getAggregateOperand();
  auto* load = llvm::dyn_cast<llvm::Instruction>(vector);
  if (!load || load->getParent() != &block) return false;
  auto* call = llvm::dyn_cast<llvm::CallInst>(load);
  auto* assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
  return llvm::isa<llvm::LoadInst>(load) ||
         (assembly && assembly->getAsmString().find("ld.global") != std::string::npos);
}

// Elements of a word that a branch loads, where it meets other branches.
void PackLoaded(llvm::BasicBlock& block) {
  llvm::MapVector<llvm::Value*, Lanes> groups;
  for (llvm::PHINode& phi : block.phis()) {
    for (auto [from, value] : llvm::zip(phi.blocks(), phi.incoming_values())) {
      uint64_t at = 0;
      llvm::Value* vector = VectorOf(value, at);
      if (!vector || from->getSingleSuccessor() != &block || !IsLoadedIn(*from, vector)) continue;
      Lanes& lanes = groups[vector];
      lanes.resize(llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements());
      if (!lanes[at]) lanes[at] = &phi;
      break;
    }
  }
  for (auto& [vector, lanes] : groups)
    if (llvm::count_if(lanes, [](llvm::PHINode* lane) { return lane != nullptr; }) > 1) Pack(lanes, vector->getType());
}

// Halves from one block that something uses as one register.
void PackByUses(llvm::Function& function) {
  llvm::SmallVector<llvm::InsertElementInst*> words;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* word = llvm::dyn_cast<llvm::InsertElementInst>(&instruction);
        word && IsRegister(word->getType()) && word->getType()->getScalarType()->isHalfTy())
      words.push_back(word);
  for (llvm::InsertElementInst* word : words) {
    Lanes lanes;
    for (llvm::Value* element : ElementsOf(*word)) {
      auto* lane = llvm::dyn_cast<llvm::PHINode>(element);
      bool fits =
          lane && !llvm::is_contained(lanes, lane) && (lanes.empty() || lanes[0]->getParent() == lane->getParent());
      if (!fits) lanes.clear();
      if (!fits) break;
      lanes.push_back(lane);
    }
    if (!lanes.empty()) Pack(lanes, word->getType());
  }
}

// Narrow elements in the order in which the block carries them, as many as a register holds.
void PackInOrder(llvm::BasicBlock& block) {
  llvm::MapVector<llvm::Type*, Lanes> by_type;
  for (llvm::PHINode& phi : block.phis()) {
    llvm::Type* type = phi.getType();
    const bool narrow = type->isHalfTy() || type->isBFloatTy() || type->isIntegerTy(16) || type->isIntegerTy(8);
    if (narrow) by_type[type].push_back(&phi);
  }
  for (auto& [type, phis] : by_type) {
    const size_t lanes = kRegisterBits / type->getPrimitiveSizeInBits();
    auto* word = llvm::FixedVectorType::get(type, lanes);
    for (size_t at = 0; at + lanes <= phis.size(); at += lanes)
      Pack(Lanes(phis.begin() + at, phis.begin() + at + lanes), word);
  }
}

void FoldWords(llvm::Function& function) {
  llvm::SmallVector<llvm::WeakTrackingVH> replaced;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* word = llvm::dyn_cast<llvm::InsertElementInst>(&instruction);
    if (!word || !IsRegister(word->getType())) continue;
    Elements elements = ElementsOf(*word);
    llvm::Value* vector = elements.empty() ? nullptr : KnownVector(elements, word->getType());
    if (!vector) continue;
    word->replaceAllUsesWith(vector);
    replaced.push_back(word);
  }
  llvm::RecursivelyDeleteTriviallyDeadInstructions(replaced);
}

}  // namespace

void PackPhis(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function)
      if (!block.phis().empty()) {
        PackByDefinitions(block);
        PackLoaded(block);
      }
    if (llvm::any_of(llvm::instructions(function), IsWgmma)) {
      PackByUses(function);
      FoldWords(function);
    }
    if (MaxLiveWords(function) > kMostLiveWords)
      for (llvm::BasicBlock& block : function) PackInOrder(block);
  }
}

}  // namespace tritond::compiler::nvidia
