// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/ptx_builder.h"

namespace tritond::compiler::nvidia {
namespace LLVM = mlir::LLVM;

char RegisterConstraint(mlir::Type type) {
  if (type.isF32()) return 'f';
  if (type.isF64()) return 'd';
  if (mlir::isa<LLVM::LLVMPointerType>(type)) return 'l';
  switch (type.getIntOrFloatBitWidth()) {
    case 1:
      return 'b';
    case 64:
      return 'l';
    case 32:
      return 'r';
    default:
      return 'h';
  }
}

llvm::SmallVector<mlir::Value> Words(mlir::OpBuilder& b, mlir::Location loc, mlir::ValueRange elements) {
  llvm::SmallVector<mlir::Value> words;
  unsigned per_word = 32 / elements[0].getType().getIntOrFloatBitWidth();
  mlir::Type element = elements[0].getType();
  for (size_t first = 0; first < elements.size(); first += per_word) {
    mlir::Value word = elements[first];
    if (per_word > 1) {
      word = LLVM::PoisonOp::create(b, loc, LLVM::getVectorType(element, per_word));
      for (unsigned i = 0; i < per_word; ++i)
        word = LLVM::InsertElementOp::create(b, loc, word, elements[first + i], EmitI32(b, loc, i));
    }
    words.push_back(LLVM::BitcastOp::create(b, loc, b.getI32Type(), word));
  }
  return words;
}

llvm::SmallVector<mlir::Value> ElementsOfWords(mlir::OpBuilder& b, mlir::Location loc, mlir::ValueRange words,
                                               mlir::Type type) {
  llvm::SmallVector<mlir::Value> elements;
  unsigned per_word = 32 / type.getIntOrFloatBitWidth();
  for (mlir::Value word : words) {
    if (per_word == 1) {
      elements.push_back(LLVM::BitcastOp::create(b, loc, type, word));
      continue;
    }
    mlir::Value vector = LLVM::BitcastOp::create(b, loc, LLVM::getVectorType(type, per_word), word);
    for (unsigned i = 0; i < per_word; ++i)
      elements.push_back(LLVM::ExtractElementOp::create(b, loc, vector, EmitI32(b, loc, i)));
  }
  return elements;
}

std::string PtxBuilder::AddOutput(mlir::Type type) {
  if (!constraints_.empty()) constraints_ += ',';
  constraints_ += {'=', RegisterConstraint(type)};
  outputs_.push_back(type);
  return "$" + std::to_string(outputs_.size() - 1);
}

std::string PtxBuilder::Add(mlir::Value value, std::string constraint) {
  if (!constraints_.empty()) constraints_ += ',';
  constraints_ += constraint;
  inputs_.push_back(value);
  return "$" + std::to_string(outputs_.size() + inputs_.size() - 1);
}

std::string PtxBuilder::AddInput(mlir::Value value) {
  return Add(value, std::string(1, RegisterConstraint(value.getType())));
}

std::string PtxBuilder::AddPredicate(mlir::Value value) { return Add(value, "b"); }

void PtxBuilder::TieOutput(int index, mlir::Value value) { Add(value, std::to_string(index)); }

// The outputs of several instructions may be written before all inputs are read. So LLVM must not give an output the
// register of an input whose value ends here. One that is tied to an input holds that one's value.
std::string PtxBuilder::Constraints(llvm::StringRef text) const {
  if (text.count(';') < 2) return constraints_;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(constraints_).split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::string result;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool is_free_output = i < outputs_.size() && !llvm::is_contained(parts, std::to_string(i));
    if (i > 0) result += ',';
    result += is_free_output ? "=&" + parts[i].drop_front().str() : parts[i].str();
  }
  return result;
}

llvm::SmallVector<mlir::Value> PtxBuilder::Emit(llvm::StringRef text, bool touches_memory) {
  mlir::Type result;
  if (outputs_.size() == 1) result = outputs_[0];
  if (outputs_.size() > 1) result = LLVM::LLVMStructType::getLiteral(b_.getContext(), outputs_);
  if (touches_memory) constraints_ += constraints_.empty() ? "~{memory}" : ",~{memory}";
  auto op = LLVM::InlineAsmOp::create(b_, loc_, result, inputs_, text, Constraints(text), touches_memory,
                                      /*is_align_stack=*/false, LLVM::TailCallKind::None, LLVM::AsmDialectAttr(),
                                      mlir::ArrayAttr());
  llvm::SmallVector<mlir::Value> values;
  if (outputs_.size() == 1) values.push_back(op.getRes());
  if (outputs_.size() > 1) {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      values.push_back(LLVM::ExtractValueOp::create(b_, loc_, op.getRes(), static_cast<int64_t>(i)));
    }
  }
  return values;
}

}  // namespace tritond::compiler::nvidia
