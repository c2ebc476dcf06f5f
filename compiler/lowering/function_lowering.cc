// SPDX-License-Identifier: Apache-2.0
// From a function of tensors to a function of one thread.
//
//   tt.func public @k(%p: !tt.ptr<f32>) {                    llvm.func @k(%p: !llvm.ptr<1>, %scratch: !llvm.ptr<1>, …)
//   {
//     %r = tt.make_range … : tensor<128xi32, #blocked>         %tid = tid.x; %lane = and %tid, 31; …
//     %s = tt.splat %p …                                       %q = getelementptr %p[%index]
//     %q = tt.addptr %s, %r                                    …
//
// Values of tensors never become LLVM aggregates. A map from each SSA value to its per-register values takes their
// place, which keeps the emitted module small. Blocks are visited so that definitions come before uses; block arguments
// of tensor type become one argument a register.
#include "compiler/lowering/function_lowering.h"

#include "compiler/analysis/global_scratch.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::compiler {

using mlir::Value;
namespace LLVM = mlir::LLVM;

namespace {

// Of parameters that are passed by value: what tensor maps need.
constexpr int64_t kByValueAlignment = 64;

// 0 where there is no such attribute.
int64_t IntAttr(mlir::Operation* holder, llvm::StringRef name) {
  auto value = holder->getAttrOfType<mlir::IntegerAttr>(name);
  return value ? value.getInt() : 0;
}

}  // namespace

FunctionLowering::FunctionLowering(tt::FuncOp func, const TargetOps& target, const LoweringOptions& options,
                                   AxisInfoAnalysis& axis, const LoweringTable& table)
    : e(func.getContext()), target(target), options(options), axis(axis), func_(func), table_(table) {
  is_kernel_ = func.isPublic();
  context_.num_warps = ttg::NumWarps(func);
  auto module = func->getParentOfType<mlir::ModuleOp>();
  total_warps_ = static_cast<int>(IntAttr(module, ttg::kTotalNumWarpsAttr));
  entry_registers_ = static_cast<int>(IntAttr(module, ttg::kMaxRegistersAttr));
  has_workers_ = total_warps_ > context_.num_warps;
  if (has_workers_) context_.barrier = kBarrierOfFunction;
  func.walk([&](ttg::StartPartitionsOp start) { starts_.push_back(start); });
}

ValueList FunctionLowering::Get(Value v) const {
  auto it = values_.find(v);
  if (it == values_.end()) llvm::report_fatal_error("lowering: use of a value before its definition");
  return it->second;
}

void FunctionLowering::Set(Value v, ValueList values) {
  Value* copy = arena_.Allocate<Value>(values.size());
  std::uninitialized_copy(values.begin(), values.end(), copy);
  values_[v] = ValueList(copy, values.size());
}

mlir::Type FunctionLowering::ConvertType(mlir::Type element) const {
  mlir::MLIRContext* context = element.getContext();
  if (auto ptr = llvm::dyn_cast<tt::PtrType>(element))
    return LLVM::LLVMPointerType::get(context, ptr.getAddressSpace());
  if (llvm::isa<ttg::MemDescType>(element)) return LLVM::LLVMPointerType::get(context, 3);
  // It lies in global memory.
  if (llvm::isa<tt::TensorDescType>(element)) return LLVM::LLVMPointerType::get(context, 1);
  if (auto f = llvm::dyn_cast<mlir::FloatType>(element); f && f.getWidth() == 8)
    return mlir::IntegerType::get(context, 8);
  if (llvm::isa<mlir::IndexType>(element)) return mlir::IntegerType::get(context, 64);
  if (llvm::isa<mlir::IntegerType, mlir::FloatType>(element)) return element;
  return {};
}

llvm::SmallVector<mlir::Type> FunctionLowering::ConvertTypes(mlir::TypeRange types) const {
  llvm::SmallVector<mlir::Type> result;
  for (mlir::Type type : types) {
    if (llvm::isa<ttg::AsyncTokenType>(type)) continue;
    mlir::Type element = ConvertType(tt::ElementOf(type));
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    size_t count = tensor ? ttg::ToLinearLayout(tensor).InSize("register") : 1;
    result.append(count, element);
    auto buffer = llvm::dyn_cast<ttg::MemDescType>(type);
    if (buffer && !ttg::HasAllocShape(buffer)) result.push_back(mlir::IntegerType::get(type.getContext(), 32));
  }
  return result;
}

const LinearLayout& FunctionLowering::LayoutOf(mlir::RankedTensorType type) {
  auto key = mlir::RankedTensorType::get(type.getShape(), e.b.getI1Type(), type.getEncoding());
  auto it = layouts_.find(key);
  if (it != layouts_.end()) return it->second;
  return layouts_[key] = ttg::ToLinearLayout(type);
}

Value FunctionLowering::ThreadOfBlock() {
  if (context_.thread_id) return context_.thread_id;
  return context_.thread_id = e.Hoisted([&] {
    Value thread = target.ThreadId(e.b, e.loc);
    if (!context_.leave) return thread;
    // Of a lane its own, which LLVM does not know. It would compute what a partition needs before the partition begins,
    // where registers are held for all of them.
    return target.ShuffleIndex(e.b, e.loc, thread, e.And(thread, e.Int(target.WarpSize() - 1)));
  });
}

Value FunctionLowering::Lane() {
  if (context_.lane) return context_.lane;
  Value thread = ThreadOfBlock();
  return context_.lane = e.Hoisted([&] { return e.And(thread, e.Int(target.WarpSize() - 1)); });
}

Value FunctionLowering::Warp() {
  if (context_.warp) return context_.warp;
  if (context_.num_warps == 1) return context_.warp = e.Int(0);
  Value thread = ThreadOfBlock();
  return context_.warp = e.Hoisted(
             [&] { return e.Sub(e.LShr(thread, llvm::Log2_32(target.WarpSize())), e.Int(context_.first_warp)); });
}

// One warp alone waits for its lanes, which takes less than a barrier of the block.
void FunctionLowering::Barrier() {
  if (context_.num_warps == 1) return WarpBarrier();
  if (!context_.barrier) return target.Barrier(e.b, e.loc);
  target.PartBarrier(e.b, e.loc, *context_.barrier, NumThreads());
}

void FunctionLowering::SharedBarrier() {
  context_.barrier || context_.num_warps == 1 ? Barrier() : target.SharedBarrier(e.b, e.loc);
}

// Bits whose images are the bit itself shifted by one distance go
// together: one mask and one shift for a whole run.
Value ApplyBases(Emitter& e, const LinearLayout& layout, absl::string_view in, absl::string_view out,
                 llvm::function_ref<Value()> x) {
  llvm::SmallDenseMap<int, int64_t> mask_of_shift;
  int bits = layout.HasIn(in) ? layout.InBits(in) : 0;
  for (int bit = 0; bit < bits; ++bit) {
    int32_t basis = layout.Basis(in, bit, out);
    for (int to = 0; basis >> to; ++to)
      if (basis >> to & 1) mask_of_shift[to - bit] |= int64_t{1} << bit;
  }
  Value result = e.Int(0);
  for (int shift = -bits; shift < 32; ++shift) {
    auto it = mask_of_shift.find(shift);
    if (it == mask_of_shift.end()) continue;
    Value part = it->second == (int64_t{1} << bits) - 1 ? x() : e.And(x(), e.Int(it->second));
    result = e.Xor(result, shift >= 0 ? e.Shl(part, shift) : e.LShr(part, -shift));
  }
  return result;
}

namespace {

int32_t BitsReached(const LinearLayout& layout, absl::string_view in, absl::string_view out) {
  int32_t reached = 0;
  for (int bit = 0; layout.HasIn(in) && bit < layout.InBits(in); ++bit) reached |= layout.Basis(in, bit, out);
  return reached;
}

}  // namespace

Value FunctionLowering::ThreadPart(const LinearLayout& layout, absl::string_view out) {
  return e.Hoisted([&] {
    Value lane = ApplyBases(e, layout, "lane", out, [&] { return Lane(); });
    Value warp = ApplyBases(e, layout, "warp", out, [&] { return Warp(); });
    bool disjoint = (BitsReached(layout, "lane", out) & BitsReached(layout, "warp", out)) == 0;
    return disjoint ? e.Add(lane, warp) : e.Xor(lane, warp);
  });
}

Value FunctionLowering::Coordinate(const LinearLayout& layout, absl::string_view out, Value thread_part, int constant) {
  int32_t reached = BitsReached(layout, "lane", out) | BitsReached(layout, "warp", out);
  // Registers that differ in bits which no thread reaches share the rest, and an access has room for a constant.
  Value shared = e.Xor(thread_part, e.Int(constant & reached));
  return e.Add(shared, e.Int(constant & ~reached));
}

Value FunctionLowering::IsFirstCopy(const LinearLayout& layout) {
  // Copies differ in free bits; the first has them all zero.
  auto masks = layout.FreeVariableMasks();
  Value first;
  for (auto [dim, free] : llvm::zip(layout.InDims(), masks)) {
    if (free == 0 || (dim.name != "lane" && dim.name != "warp")) continue;
    Value x = dim.name == "lane" ? Lane() : Warp();
    const int mask = free;
    Value here = e.Hoisted([&] { return e.Equal(e.And(x, e.Int(mask)), e.Int(0)); });
    first = first ? e.Hoisted([&] { return e.And(first, here); }) : here;
  }
  return first;
}

Value FunctionLowering::ScratchOf(mlir::Operation* op, int64_t extra_bytes) {
  auto offset = op->getAttrOfType<mlir::IntegerAttr>("allocation.offset");
  if (!offset)
    llvm::report_fatal_error("lowering: shared memory of '" + op->getName().getStringRef() + "' not allocated");
  mlir::Type ptr = LLVM::LLVMPointerType::get(op->getContext(), 3);
  Value base =
      is_kernel_ ? e.Hoisted([&]() -> Value { return LLVM::AddressOfOp::create(e.b, e.loc, ptr, kSharedMemorySymbol); })
                 : hidden_[0];
  return e.Gep(base, e.b.getI8Type(), e.Int(offset.getInt() + extra_bytes));
}

mlir::FailureOr<Value> FunctionLowering::GlobalScratchOf(mlir::Operation* op) {
  auto module = func_->getParentOfType<mlir::ModuleOp>();
  if (!op->hasAttr(kGlobalScratchOffsetAttr)) return op->emitOpError("has no place in global scratch");
  if (is_kernel_ && !options.global_scratch)
    return op->emitOpError("needs global scratch memory, which this kernel's callers do not give it");
  Value& global_scratch = context_.global_scratch;
  if (!global_scratch && !is_kernel_) global_scratch = hidden_[1];
  if (!global_scratch) {
    global_scratch = e.Hoisted([&] {
      // Programs are numbered from x on.
      Value program = e.ZExt(target.ProgramId(e.b, e.loc, tt::ProgramDim::kZ), 64);
      for (auto axis : {tt::ProgramDim::kY, tt::ProgramDim::kX})
        program = e.Add(e.Mul(program, e.ZExt(target.NumPrograms(e.b, e.loc, axis), 64)),
                        e.ZExt(target.ProgramId(e.b, e.loc, axis), 64));
      // Each block that computes a part has its own.
      if (module->hasAttr(ttg::kDividedAttr))
        program = e.Add(e.Mul(program, e.Int(IntAttr(module, ttg::kNumCtasAttr), 64)),
                        e.ZExt(target.BlockInCluster(e.b, e.loc), 64));
      return e.Gep(hidden_[0], e.b.getI8Type(), e.Mul(program, e.Int(IntAttr(module, kGlobalScratchSizeAttr), 64)));
    });
  }
  return e.Gep(global_scratch, e.b.getI8Type(), e.Int(IntAttr(op, kGlobalScratchOffsetAttr)));
}

mlir::FailureOr<Values> FunctionLowering::InlineRegion(mlir::Region& region, ValueList arguments) {
  if (!region.hasOneBlock()) return InlineBlocks(region, arguments);
  mlir::Block& block = region.front();
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments)) Set(argument, {value});
  for (mlir::Operation& op : block.without_terminator())
    if (failed(LowerOp(&op))) return mlir::failure();
  Values results;
  for (Value operand : block.getTerminator()->getOperands()) results.push_back(Scalar(operand));
  return results;
}

mlir::FailureOr<Values> FunctionLowering::InlineBlocks(mlir::Region& region, ValueList arguments) {
  mlir::Block* here = e.b.getInsertionBlock();
  mlir::Block* after = here->splitBlock(e.b.getInsertionPoint());
  for (mlir::Block& block : region) {
    mlir::Block* lowered = blocks_[&block] = new mlir::Block();
    lowered->insertBefore(after);
    for (mlir::BlockArgument argument : block.getArguments())
      Set(argument, {lowered->addArgument(ConvertType(argument.getType()), e.loc)});
  }
  e.b.setInsertionPointToEnd(here);
  LLVM::BrOp::create(e.b, e.loc, mlir::ValueRange(arguments), blocks_[&region.front()]);
  llvm::ReversePostOrderTraversal<mlir::Region*> order(&region);
  for (mlir::Block* block : order) {
    e.b.setInsertionPointToEnd(blocks_[block]);
    for (mlir::Operation& op : block->without_terminator())
      if (failed(LowerOp(&op))) return mlir::failure();
    mlir::Operation* terminator = block->getTerminator();
    if (terminator->getNumSuccessors()) {
      if (failed(LowerOp(terminator))) return mlir::failure();
      continue;
    }
    Values results;
    for (Value operand : terminator->getOperands()) results.push_back(Scalar(operand));
    if (after->getNumArguments() == 0)
      for (Value result : results) after->addArgument(result.getType(), e.loc);
    LLVM::BrOp::create(e.b, e.loc, results, after);
  }
  for (mlir::Block& block : region)
    if (blocks_[&block]->empty()) blocks_[&block]->erase();  // nothing reaches it
  e.b.setInsertionPointToStart(after);
  return Values(after->getArguments().begin(), after->getArguments().end());
}

Value FunctionLowering::Shuffle(Value value, llvm::function_ref<Value(Value)> shuffle) {
  mlir::Type type = value.getType();
  Value bits = e.ToInt(value);
  unsigned width = bits.getType().getIntOrFloatBitWidth();
  if (width <= 32) return e.FromInt(e.Trunc(shuffle(e.ZExt(bits, 32)), width), type);
  Value low = shuffle(e.Trunc(bits, 32)), high = shuffle(e.Trunc(e.LShr(bits, 32), 32));
  return e.FromInt(e.Or(e.ZExt(low, 64), e.Shl(e.ZExt(high, 64), 32)), type);
}

// 8-bit floats are stored, moved, converted and stripped of their signs; no device computes with single ones.
static bool ComputesWithNarrowFloats(mlir::Operation* op) {
  if (!llvm::isa<mlir::arith::ArithDialect, mlir::math::MathDialect>(op->getDialect())) return false;
  if (op->hasTrait<mlir::OpTrait::ConstantLike>() ||
      llvm::isa<mlir::CastOpInterface, mlir::arith::SelectOp, mlir::math::AbsFOp>(op))
    return false;
  return llvm::any_of(op->getOperandTypes(), [](mlir::Type type) {
    auto number = llvm::dyn_cast<mlir::FloatType>(tt::ElementOf(type));
    return number && number.getWidth() == 8;
  });
}

mlir::LogicalResult FunctionLowering::LowerOp(mlir::Operation* op) {
  const LoweringTable::Fn* lower = table_.Find(op);
  if (const LoweringTable* own = target.OwnLowerings(); own && !lower) lower = own->Find(op);
  if (!lower) return op->emitOpError("is not supported by this compiler yet: it has no lowering");
  if (ComputesWithNarrowFloats(op)) return op->emitOpError("computes with 8-bit floats; convert them first");
  for (mlir::Type type : op->getResultTypes()) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    if (tensor && tensor.getEncoding() && LayoutOf(tensor).InSize("block") > 1)
      return op->emitOpError() << "is spread over blocks of a cluster, which lowering does not support: " << tensor;
  }
  e.loc = op->getLoc();
  return (*lower)(*this, op);
}

std::string FunctionLowering::SmallBuffers() {
  std::string numbers;
  size_t next = 0;
  for (auto [i, type] : llvm::enumerate(func_.getArgumentTypes())) {
    auto range = func_.getArgAttrOfType<mlir::IntegerAttr>(i, "tt.pointer_range");
    if (range && range.getInt() == 32) numbers += (numbers.empty() ? "" : ",") + std::to_string(next);
    next += ConvertTypes(type).size();
  }
  return numbers;
}

void FunctionLowering::CreateFunction() {
  mlir::MLIRContext* context = func_.getContext();
  llvm::SmallVector<mlir::Type> arguments = ConvertTypes(func_.getArgumentTypes());
  auto global = LLVM::LLVMPointerType::get(context, 1), shared = LLVM::LLVMPointerType::get(context, 3);
  if (!is_kernel_) arguments.push_back(shared);
  if (options.global_scratch || !is_kernel_) arguments.push_back(global);
  if (options.profile_scratch || !is_kernel_) arguments.push_back(global);
  llvm::SmallVector<mlir::Type> results = ConvertTypes(func_.getResultTypes());
  mlir::Type result = LLVM::LLVMVoidType::get(context);
  if (results.size() == 1) result = results[0];
  if (results.size() > 1) result = LLVM::LLVMStructType::getLiteral(context, results);
  e.b.setInsertionPoint(func_);
  lowered_ =
      LLVM::LLVMFuncOp::create(e.b, func_.getLoc(), func_.getName(), LLVM::LLVMFunctionType::get(result, arguments),
                               is_kernel_ ? LLVM::Linkage::External : LLVM::Linkage::Internal);
  if (is_kernel_) {
    PassByValue();
    llvm::SmallVector<mlir::Attribute> attributes = {e.b.getStringAttr(kKernelAttr)};
    if (int64_t registers = IntAttr(func_->getParentOfType<mlir::ModuleOp>(), ttg::kMaxRegistersAttr))
      attributes.push_back(e.b.getStrArrayAttr({kEntryRegistersAttr, std::to_string(registers)}));
    if (auto shared = func_->getParentOfType<mlir::ModuleOp>()->getAttrOfType<mlir::IntegerAttr>(ttg::kSharedAttr))
      attributes.push_back(e.b.getStrArrayAttr({kSharedBytesAttr, std::to_string(shared.getInt())}));
    if (std::string small = SmallBuffers(); !small.empty())
      attributes.push_back(e.b.getStrArrayAttr({kSmallBuffersAttr, small}));
    lowered_.setPassthroughAttr(e.b.getArrayAttr(attributes));
  } else {
    // What could not go into a region of one block.
    auto stays = func_->getAttrOfType<mlir::BoolAttr>("noinline");
    lowered_.setPassthroughAttr(
        e.b.getArrayAttr({e.b.getStringAttr(stays && stays.getValue() ? "noinline" : "alwaysinline")}));
  }
}

// What kByValueAttr says. Arguments of kernels are scalars, so that both functions count them alike.
void FunctionLowering::PassByValue() {
  for (unsigned i = 0; i < func_.getNumArguments(); ++i) {
    auto bytes = func_.getArgAttrOfType<mlir::IntegerAttr>(i, tt::kByValueAttr);
    if (!bytes) continue;
    auto type = LLVM::LLVMArrayType::get(e.b.getI8Type(), bytes.getInt());
    lowered_.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(), mlir::TypeAttr::get(type));
    lowered_.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), e.b.getI64IntegerAttr(kByValueAlignment));
    lowered_.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(), e.b.getUnitAttr());
  }
}

void FunctionLowering::CreateBlocks() {
  for (mlir::Block& block : func_.getBody()) {
    mlir::Block* lowered = &lowered_.getBody().emplaceBlock();
    blocks_[&block] = lowered;
    if (block.isEntryBlock()) {
      for (mlir::Type type : lowered_.getArgumentTypes()) lowered->addArgument(type, func_.getLoc());
    } else {
      for (mlir::Type type : ConvertTypes(block.getArgumentTypes())) lowered->addArgument(type, func_.getLoc());
    }
    size_t next = SetArguments(block);
    if (block.isEntryBlock()) hidden_.assign(lowered->getArguments().begin() + next, lowered->getArguments().end());
  }
}

size_t FunctionLowering::SetArguments(mlir::Block& block) {
  mlir::Block* lowered = blocks_[&block];
  size_t next = 0;
  for (mlir::BlockArgument argument : block.getArguments()) {
    size_t count = ConvertTypes(argument.getType()).size();
    Values values(lowered->getArguments().begin() + next, lowered->getArguments().begin() + next + count);
    Set(argument, values);
    next += count;
  }
  return next;
}

// A program of several blocks that is not divided is computed by the first of them: the others end at once. Their
// threads are free for other programs before these need them.
mlir::LogicalResult FunctionLowering::LeaveToFirstBlock() {
  mlir::Block* entry = &lowered_.getBody().front();
  e.b.setInsertionPointToEnd(entry);
  if (!target.HasClusters())
    return func_.emitOpError("is of a program of several blocks, which the target does not have");
  Value block = target.BlockInCluster(e.b, e.loc);
  mlir::Block* body = e.b.createBlock(&lowered_.getBody(), std::next(entry->getIterator()));
  mlir::Block* leave = e.b.createBlock(&lowered_.getBody(), lowered_.getBody().end());
  LLVM::ReturnOp::create(e.b, e.loc, mlir::ValueRange());
  e.b.setInsertionPointToEnd(entry);
  LLVM::CondBrOp::create(e.b, e.loc, e.Equal(block, e.Int(0)), body, leave);
  blocks_[&func_.getBody().front()] = body;
  return mlir::success();
}

mlir::LogicalResult FunctionLowering::LowerBlocks(mlir::Region& region) {
  llvm::ReversePostOrderTraversal<mlir::Region*> order(&region);
  for (mlir::Block* block : order) {
    e.b.setInsertionPointToEnd(blocks_[block]);
    for (mlir::Operation& op : *block)
      if (failed(LowerOp(&op))) return mlir::failure();
  }
  return mlir::success();
}

// Whether the target has what kByValueAttr asks for.
mlir::LogicalResult FunctionLowering::CheckByValue() {
  for (unsigned i = 0; i < func_.getNumArguments(); ++i) {
    mlir::Attribute attribute = func_.getArgAttr(i, tt::kByValueAttr);
    if (!attribute) continue;
    auto bytes = llvm::dyn_cast<mlir::IntegerAttr>(attribute);
    auto pointer = llvm::dyn_cast<tt::PtrType>(func_.getArgument(i).getType());
    if (!is_kernel_ || !bytes || !bytes.getType().isInteger(32) || bytes.getInt() < 1 ||
        bytes.getInt() > target.MaxByValueBytes() || !pointer || pointer.getAddressSpace() != 0)
      return func_.emitOpError() << "has an argument that is passed by value, which this target does not take";
  }
  return mlir::success();
}

mlir::LogicalResult FunctionLowering::Run() {
  for (mlir::Block& block : func_.getBody())
    for (mlir::Type type : block.getArgumentTypes())
      if ((!llvm::isa<ttg::AsyncTokenType>(type) && !ConvertType(tt::ElementOf(type))) ||
          (block.isEntryBlock() && llvm::isa<tt::TensorDescType>(type)))
        return func_.emitOpError() << "has an argument of type " << type << ", which this compiler cannot lower yet";
  if (failed(CheckByValue()) || failed(CheckPartitions())) return mlir::failure();
  CreateFunction();
  CreateBlocks();
  mlir::Block* entry = blocks_[&func_.getBody().front()];
  e.StartFunction(entry, func_.getLoc());
  auto module = func_->getParentOfType<mlir::ModuleOp>();
  const bool is_divided = module->hasAttr(ttg::kDividedAttr);
  if (IntAttr(module, ttg::kNumCtasAttr) > 1 && is_kernel_ && !is_divided && failed(LeaveToFirstBlock()))
    return mlir::failure();
  if (has_workers_ && is_kernel_) KeepPartitionsApart();
  if (failed(LowerBlocks(func_.getBody()))) return mlir::failure();
  if (workers_ && failed(LowerPartitions())) return mlir::failure();
  // Blocks that nothing reaches have no terminator yet.
  for (mlir::Block& block : llvm::make_early_inc_range(lowered_.getBody()))
    if (block.empty()) block.erase();
  return mlir::success();
}

}  // namespace tritond::compiler
