// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LOWERING_FUNCTION_LOWERING_H_
#define COMPILER_LOWERING_FUNCTION_LOWERING_H_

#include <functional>

#include "compiler/analysis/axis_info.h"
#include "compiler/ir/encodings.h"
#include "compiler/lowering/emitter.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/lowering/warp_context.h"
#include "llvm/Support/Allocator.h"

namespace tritond::compiler {

using Values = llvm::SmallVector<mlir::Value>;
using ValueList = llvm::ArrayRef<mlir::Value>;

class LoweringTable;

// One tt.func on its way to an llvm.func. A tensor becomes one LLVM value for each register of its layout: register r
// of the layout is element r of the list. A scalar becomes one value, a buffer what SharedPlace says, a token nothing.
// Operations are lowered in dominance order, each by the function that LoweringTable holds for it.
//
// Lives while one function is lowered; used by one thread.
class FunctionLowering final {
 public:
  FunctionLowering(tt::FuncOp func, const TargetOps& target, const LoweringOptions& options, AxisInfoAnalysis& axis,
                   const LoweringTable& table);

  // Emits the llvm.func after the tt.func. Failure: a diagnostic at the operation without a lowering.
  mlir::LogicalResult Run();

  // The values of `v`, which has been lowered already.
  ValueList Get(mlir::Value v) const;
  bool Has(mlir::Value v) const { return values_.contains(v); }
  mlir::Value Scalar(mlir::Value v) const { return Get(v)[0]; }
  void Set(mlir::Value v, ValueList values);

  // The LLVM type of a scalar or an element: 8-bit floats are i8, pointers opaque. Null if there is none.
  mlir::Type ConvertType(mlir::Type element) const;
  // One type for each value of a tensor, scalar or buffer.
  llvm::SmallVector<mlir::Type> ConvertTypes(mlir::TypeRange types) const;

  // The layout of a tensor, computed once per type.
  const LinearLayout& LayoutOf(mlir::RankedTensorType type);
  int NumRegisters(mlir::RankedTensorType type) { return LayoutOf(type).InSize("register"); }
  // Lane in the warp, and warp among those that run this region, i32.
  mlir::Value Lane();
  mlir::Value Warp();
  // Those that run this region.
  int NumThreads() const { return context_.num_warps * target.WarpSize(); }
  // They wait for each other, and see what they have written: all of it, or in shared memory alone.
  void Barrier();
  void SharedBarrier();
  // The same for the threads of a warp.
  void WarpBarrier() { target.WarpBarrier(e.b, e.loc); }
  // The i32 that (lane, warp) contribute to output `out` of `layout`: the coordinate is this XOR the registers' part.
  mlir::Value ThreadPart(const LinearLayout& layout, absl::string_view out);
  // ThreadPart and a register's constant, whose bits that no thread reaches are added: addressing modes like that.
  mlir::Value Coordinate(const LinearLayout& layout, absl::string_view out, mlir::Value thread_part, int constant);
  // i1, true in exactly one of the threads that hold copies of an element; null when there are no copies.
  mlir::Value IsFirstCopy(const LinearLayout& layout);

  // Scratch of `op` in shared memory, at its allocation.offset. !llvm.ptr<3>.
  mlir::Value ScratchOf(mlir::Operation* op, int64_t extra_bytes = 0);
  // Where `op`, which has an offset in global scratch, has its part. !llvm.ptr<1>. Failure: a diagnostic, when the
  // kernel has no such memory.
  mlir::FailureOr<mlir::Value> GlobalScratchOf(mlir::Operation* op);

  // Lowers the operations of a region of scalars with `arguments` for its arguments; the operands of its terminator. Of
  // a region of several blocks come blocks of the function; emission goes on after them.
  mlir::FailureOr<Values> InlineRegion(mlir::Region& region, ValueList arguments);

  // Another lane's value of any type: `shuffle` moves an i32.
  mlir::Value Shuffle(mlir::Value value, llvm::function_ref<mlir::Value(mlir::Value)> shuffle);

  mlir::LogicalResult LowerOp(mlir::Operation* op);
  llvm::ArrayRef<mlir::Value> HiddenArguments() const { return hidden_; }
  mlir::Block* BlockFor(mlir::Block* source) const { return blocks_.lookup(source); }

  // partitions.cc. Of a kernel that starts partitions: their warps wait from the kernel's entry on.
  const WarpContext& Context() const { return context_; }
  void StartPartitions(ttg::StartPartitionsOp op);
  void JoinPartitions(ttg::JoinPartitionsOp op);
  // Before a kernel returns: lets the warps of partitions do so.
  void DismissPartitions();

  Emitter e;
  const TargetOps& target;
  const LoweringOptions& options;
  AxisInfoAnalysis& axis;

 private:
  mlir::FailureOr<Values> InlineBlocks(mlir::Region& region, ValueList arguments);
  mlir::Value ThreadOfBlock();
  void CreateFunction();
  mlir::LogicalResult CheckByValue();
  void PassByValue();
  // What kSmallBuffersAttr says.
  std::string SmallBuffers();
  void CreateBlocks();
  size_t SetArguments(mlir::Block& block);  // to those of its lowered block; how many of these
  mlir::LogicalResult LowerBlocks(mlir::Region& region);
  // partitions.cc
  mlir::LogicalResult CheckPartitions();
  void KeepPartitionsApart();
  mlir::LogicalResult LowerPartitions();
  mlir::LogicalResult LowerPartitionsOf(ttg::StartPartitionsOp start, mlir::Value warp, mlir::Block* wait);
  mlir::LogicalResult LowerPartition(ttg::StartPartitionsOp start, unsigned index, mlir::Block* leave);
  mlir::Block* CreateBlocksOf(mlir::Region& partition);
  void LoadCaptures(ttg::StartPartitionsOp start, mlir::Region& partition);
  mlir::Value PlaceOfCapture(ttg::StartPartitionsOp start, unsigned capture, unsigned word);
  mlir::Value StateOfPartitions();
  mlir::Value WarpOfBlock();
  void TellPartitions(ttg::StartPartitionsOp start, int what);
  void MeetPartitions();
  void ExchangeRegisters(int from, int to);
  mlir::LogicalResult LeaveToFirstBlock();

  tt::FuncOp func_;
  const LoweringTable& table_;
  bool is_kernel_ = false;
  mlir::LLVM::LLVMFuncOp lowered_;
  llvm::BumpPtrAllocator arena_;  // the lists of values_
  llvm::DenseMap<mlir::Value, ValueList> values_;
  llvm::DenseMap<mlir::Block*, mlir::Block*> blocks_;
  llvm::DenseMap<mlir::Type, LinearLayout> layouts_;
  Values hidden_;  // shared (device functions), global and profile scratch
  WarpContext context_;
  llvm::SmallVector<ttg::StartPartitionsOp> starts_;
  int total_warps_ = 0, entry_registers_ = 0;  // of a launch, of a thread
  bool has_workers_ = false;                   // warps of partitions
  mlir::Block* workers_ = nullptr;             // where they begin
};

// The i32 with which input `in` of `layout`, given by `x`, contributes to output `out`: the XOR of the bases of its set
// bits. `x` must be less than the input's size.
mlir::Value ApplyBases(Emitter& e, const LinearLayout& layout, absl::string_view in, absl::string_view out,
                       llvm::function_ref<mlir::Value()> x);

// How each operation is lowered. Filled once by the Add… functions of the operation families.
class LoweringTable final {
 public:
  using Fn = std::function<mlir::LogicalResult(FunctionLowering&, mlir::Operation*)>;

  template <typename Op>
  void Add(mlir::LogicalResult (*lower)(FunctionLowering&, Op)) {
    functions_[mlir::TypeID::get<Op>()] = [lower](FunctionLowering& f, mlir::Operation* op) {
      return lower(f, llvm::cast<Op>(op));
    };
  }
  template <typename... Ops>
  void AddAll(Fn lower) {
    ((functions_[mlir::TypeID::get<Ops>()] = lower), ...);
  }
  // Null for an operation without a lowering.
  const Fn* Find(mlir::Operation* op) const {
    auto it = functions_.find(op->getName().getTypeID());
    return it == functions_.end() ? nullptr : &it->second;
  }

 private:
  llvm::DenseMap<mlir::TypeID, Fn> functions_;
};

void AddAsyncCopies(LoweringTable& table);
void AddAtomics(LoweringTable& table);
void AddControlFlow(LoweringTable& table);
void AddConversions(LoweringTable& table);  // between number formats
void AddDots(LoweringTable& table);
void AddElementwise(LoweringTable& table);
void AddFp4(LoweringTable& table);
void AddGathers(LoweringTable& table);
void AddGlobalScratch(LoweringTable& table);
void AddHistograms(LoweringTable& table);
void AddLayoutOps(LoweringTable& table);      // convert_layout
void AddLocalGather(LoweringTable& table);    // local_gather, local_scatter, local_atomic_scatter_rmw
void AddMappedRegions(LoweringTable& table);  // map_elementwise, elementwise_inline_asm
void AddMath(LoweringTable& table);
void AddMemDescOps(LoweringTable& table);  // buffers, their loads, stores and views
void AddMemory(LoweringTable& table);
void AddPartitions(LoweringTable& table);  // start_partitions, join_partitions, warp_return
void AddProgramOps(LoweringTable& table);  // program_id, barrier, assert, print
void AddReductions(LoweringTable& table);
void AddScans(LoweringTable& table);
void AddShapeOps(LoweringTable& table);
void AddStages(LoweringTable& table);  // predicate_stage, mask

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_FUNCTION_LOWERING_H_
