// SPDX-License-Identifier: Apache-2.0
// ldmatrix and stmatrix: the tiles of layout/shared_tiles.h.
#include "compiler/layout/shared_tiles.h"
#include "compiler/lowering/shared_access.h"
#include "compiler/targets/llvm_emitters.h"
#include "compiler/targets/nvidia/architecture.h"
#include "compiler/targets/nvidia/nvidia_ops.h"
#include "compiler/targets/nvidia/ptx_builder.h"

namespace tritond::compiler {
namespace {

using mlir::Value;
namespace LLVM = mlir::LLVM;

// For each of `count` (1, 2 or 4) matrices the i32 word that this lane holds. `ptr` (!llvm.ptr<3>, aligned to 16) is
// the address of the row that it gives. All lanes take part.
llvm::SmallVector<Value> LoadMatrices(mlir::OpBuilder& b, mlir::Location loc, Value ptr, int count, bool transposed) {
  std::string name =
      "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") + ".b16.p3";
  llvm::SmallVector<mlir::Type> words(count, b.getI32Type());
  mlir::Type result = count == 1 ? words[0] : LLVM::LLVMStructType::getLiteral(b.getContext(), words);
  Value loaded = EmitIntrinsic(b, loc, name, result, ptr);
  if (count == 1) return {loaded};
  llvm::SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(LLVM::ExtractValueOp::create(b, loc, loaded, i));
  return values;
}

// Stores the words of this lane where the rows of LoadMatrices are read.
void StoreMatrices(mlir::OpBuilder& b, mlir::Location loc, Value ptr, ValueList words, bool transposed) {
  std::string name = "llvm.nvvm.stmatrix.sync.aligned.m8n8.x" + std::to_string(words.size()) +
                     (transposed ? ".trans" : "") + ".b16.p3";
  Values args{ptr};
  llvm::append_range(args, words);
  EmitIntrinsic(b, loc, name, mlir::Type(), args);
}

// Nullopt where no instruction moves (register, lane, warp, block) -> offset for elements of `type` in `place`, or
// where accesses of `vec` elements take fewer cycles. `few_addresses` as PlanTiles has it.
std::optional<TilePlan> FindTiles(const LinearLayout& to_offset, const SharedPlace& place, int vec, mlir::Type type,
                                  bool few_addresses) {
  int bits = type.getIntOrFloatBitWidth();
  std::optional<TilePlan> plan = PlanTiles(to_offset, bits, {}, few_addresses);
  if (!plan || place.run < kTileRowBits / bits || TileSlots(*plan, bits) >= VectorSlots(to_offset, bits, vec))
    return std::nullopt;
  return plan;
}

// The address of the row that this lane gives to an instruction.
Value RowAddress(FunctionLowering& f, const TilePlan& plan, const SharedPlace& place, Value thread, int instruction,
                 mlir::Type type) {
  int32_t constant = plan.address.ApplyNamed({{"register", instruction}})[0];
  return place.Address(f, plan.address, thread, constant, type);
}

// For each register the one that holds the same data and that the plan names.
int WithoutCopies(const LinearLayout& to_offset, int r) {
  for (int bit = 0; bit < to_offset.InBits("register"); ++bit)
    if (to_offset.Basis("register", bit, "offset") == 0) r &= ~(1 << bit);
  return r;
}

}  // namespace

SharedMemoryShape NvidiaOps::SharedMemory() const {
  SharedMemoryShape shape;
  shape.tile_loads = true;
  shape.tile_stores = compute_capability_ >= nvidia::kFirstWithMatrixStores;
  return shape;
}

std::optional<Values> NvidiaOps::LoadTiles(FunctionLowering& f, const LinearLayout& to_offset, const SharedPlace& place,
                                           int vec, mlir::Type type) const {
  Emitter& e = f.e;
  // Matrix units take words of two or four neighbouring registers, vector stores always four.
  std::optional<TilePlan> plan = FindTiles(to_offset, place, vec, type, /*few_addresses=*/place.is_operand);
  if (!plan) return std::nullopt;
  Value thread = f.ThreadPart(plan->address, "offset");
  Values loaded(to_offset.InSize("register"));
  for (int instruction = 0; instruction < plan->Instructions(); ++instruction) {
    Value ptr = RowAddress(f, *plan, place, thread, instruction, type);
    Values words = LoadMatrices(e.b, e.loc, ptr, 1 << plan->group_bits, plan->transposed);
    Values elements = nvidia::ElementsOfWords(e.b, e.loc, words, type);
    int per_word = elements.size() / words.size();
    for (auto [i, element] : llvm::enumerate(elements))
      loaded[plan->RegisterOf(instruction, i / per_word, i % per_word)] = element;
  }
  Values results;
  for (int r = 0; r < to_offset.InSize("register"); ++r) results.push_back(loaded[WithoutCopies(to_offset, r)]);
  return results;
}

bool NvidiaOps::StoreTiles(FunctionLowering& f, const LinearLayout& to_offset, const SharedPlace& place, int vec,
                           ValueList values) const {
  if (!SharedMemory().tile_stores || HoldsCopies(to_offset)) return false;
  Emitter& e = f.e;
  mlir::Type type = values[0].getType();
  std::optional<TilePlan> plan = FindTiles(to_offset, place, vec, type, /*few_addresses=*/false);
  if (!plan) return false;
  Value thread = f.ThreadPart(plan->address, "offset");
  const int per_word = 32 / type.getIntOrFloatBitWidth();
  for (int instruction = 0; instruction < plan->Instructions(); ++instruction) {
    Values elements;
    for (int i = 0; i < per_word << plan->group_bits; ++i)
      elements.push_back(values[plan->RegisterOf(instruction, i / per_word, i % per_word)]);
    Value ptr = RowAddress(f, *plan, place, thread, instruction, type);
    StoreMatrices(e.b, e.loc, ptr, nvidia::Words(e.b, e.loc, elements), plan->transposed);
  }
  return true;
}

}  // namespace tritond::compiler
