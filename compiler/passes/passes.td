// SPDX-License-Identifier: Apache-2.0
// The passes over tt and ttg, one a file. Each file opens with what its pass does and why.
#ifndef COMPILER_PASSES_PASSES_TD_
#define COMPILER_PASSES_PASSES_TD_

include "mlir/Pass/PassBase.td"

//===-- ttir -> ttir ----------------------------------------------------------------------------------------------===//

def CombinePass : Pass<"tt-combine", "::mlir::ModuleOp"> {
  let summary = "merges chains of pointer arithmetic, dot and add, select and load, reduce of a product";
}
def FillBuffersEarlyPass : Pass<"ttg-fill-buffers-early", "::mlir::ModuleOp"> {
  let summary = "loaded operands go to their buffers at once where a loop lacks registers";
  let options = [
    Option<"registers", "registers", "int64_t", "256", "words of a thread">,
    Option<"max_buffer_bytes", "max-buffer-bytes", "int64_t", "49152", "of all buffers of a function together">];
}
def FoldEqualElementsPass : Pass<"tt-fold-equal-elements", "::mlir::ModuleOp"> {
  let summary = "computes integers that are the same for all elements of a tensor once";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}
def ReorderBroadcastPass : Pass<"tt-reorder-broadcast", "::mlir::ModuleOp"> {
  let summary = "moves splat and broadcast below elementwise operations, which then work on smaller tensors";
}
def RewriteTensorPointerPass : Pass<"tt-rewrite-tensor-pointer", "::mlir::ModuleOp"> {
  let summary = "replaces block pointers by tensors of pointers and masks";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}
def DivideProgramsPass : Pass<"tt-divide-programs", "::mlir::ModuleOp"> {
  let summary = "gives each block of a cluster a part of its program";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let options = [Option<"blocks", "blocks", "int", "1", "of a cluster">];
}
def RewriteTensorDescriptorPass : Pass<"tt-rewrite-tensor-descriptor", "::mlir::ModuleOp"> {
  let summary = "replaces tensor descriptors by tensors of pointers and masks; a kernel's by its parts";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [
    Option<"flags", "flags", "int", "1", "i1 parameters after a descriptor's strides: 0, 1 (padding) or 2 (rounding)">,
    Option<"names_blocks", "names-blocks", "bool", "false",
           "masks say of which block they are, where accesses in loops of dots may become bulk copies">,
    Option<"marks_arguments", "marks-arguments", "bool", "false",
           "a kernel's descriptors stay recognisable, for a launcher that makes tensor maps of them">,
    Option<"threads", "threads", "int64_t", "128", "of a block">];
}
def NarrowIndicesPass : Pass<"tt-narrow-indices", "::mlir::ModuleOp"> {
  let summary = "computes indices of 64 bits in 32 where masks say that these are enough";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [Option<"threads", "threads", "int64_t", "0",
                        "of a block; 0: indices with scalars that change in a loop stay as they are">];
}
def NarrowQuotientsPass : Pass<"tt-narrow-quotients", "::mlir::ModuleOp"> {
  let summary = "divides numbers of 32 bits in 32 bits, where the program has made them longer";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}
def SimplifyMaskedAddressesPass : Pass<"tt-simplify-masked-addresses", "::mlir::ModuleOp"> {
  let summary = "computes addresses as their masks permit: without selects, and with quotients of 32 bits";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}
def SeparateScalarsPass : Pass<"tt-separate-scalars", "::mlir::ModuleOp"> {
  let summary = "adds what an address has of scalars that change in a loop to its base";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}
def DecomposeScaledDotPass : Pass<"tt-decompose-scaled-dot", "::mlir::ModuleOp"> {
  let summary = "replaces dots of microscaled operands by dots of wider floats";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tritond::ttg::TTGDialect"];
  let options = [
    ListOption<"kept_tiles", "kept-tiles", "std::string",
               "matrix instructions that take scales, mx:MxNxK:GROUP or nvfp4:MxNxK:GROUP with a scale for GROUP "
               "elements along K: dots of whole tiles stay as they are">,
    Option<"max_operand_bytes", "max-operand-bytes", "int64_t", "INT64_MAX",
           "of a dot's wide operands, above which those of 4 bits are packed along K">];
}
def HoistInvariantsPass : Pass<"tt-hoist-invariants", "::mlir::ModuleOp"> {
  let summary = "loop-invariant code motion, loads included where memory and trip count allow";
}
def DropUnitDimsPass : Pass<"tt-drop-unit-dims", "::mlir::ModuleOp"> {
  let summary = "computes without dimensions of one element where reshapes drop them later";
}
def JoinNeighboursPass : Pass<"tt-join-neighbours", "::mlir::ModuleOp"> {
  let summary = "components of structures in memory are loaded and stored as one";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [Option<"threads", "threads", "int64_t", "1", "of a block">];
}
def DropUnusedCarriesPass : Pass<"tt-drop-unused-carries", "::mlir::ModuleOp"> {
  let summary = "drops values that loops carry for nothing but themselves";
}
def CarryScalarsPass : Pass<"tt-carry-scalars", "::mlir::ModuleOp"> {
  let summary = "loops carry how far indices have moved, not each index";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}
def LoopAwareCsePass : Pass<"tt-loop-aware-cse", "::mlir::ModuleOp"> {
  let summary = "makes one of values that loops carry and that are always equal, then of equal operations";
}
def NarrowCountsPass : Pass<"tt-narrow-counts", "::mlir::ModuleOp"> {
  let summary = "counts of 64 bits that 32 bits hold have these in loops";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}
def DivideByInvariantsPass : Pass<"tt-divide-by-invariants", "::mlir::ModuleOp"> {
  let summary = "loops that divide tensors of 64 bits by a number multiply by its reciprocal";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}
def MarkRemaindersPass : Pass<"tt-mark-remainders", "::mlir::ModuleOp"> {
  let summary = "says of quotients and remainders what they are where conditions keep dividends from being negative";
}
def UnrollLoopPass : Pass<"tt-unroll-loop", "::mlir::ModuleOp"> {
  let summary = "unrolls loops by their tt.loop_unroll_factor";
}
def VersionDivisiblePass : Pass<"tt-version-divisible", "::mlir::ModuleOp"> {
  let summary = "gives a kernel a second version for arguments whose multiples make its accesses wide";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}
def ScaleMaximaPass : Pass<"tt-scale-maxima", "::mlir::ModuleOp"> {
  let summary = "scales the maxima of rows rather than all elements that they are the maxima of";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}
def ComplementFunctionsPass : Pass<"tt-complement-functions", "::mlir::ModuleOp"> {
  let summary = "computes sums of one and erf or tanh as such";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}
def ComputeTablesPass : Pass<"tt-compute-tables", "::mlir::ModuleOp"> {
  let summary = "computes what is made of gathered elements alone once for each element of their table";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [Option<"threads", "threads", "int64_t", "0", "of a block; 0: nothing changes">];
}
def FlushExponentialsPass : Pass<"tt-flush-exponentials", "::mlir::ModuleOp"> {
  let summary = "makes exponentials powers of two where nobody sees that subnormal results become zero";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}
def FoldFullMasksPass : Pass<"tt-fold-full-masks", "::mlir::ModuleOp"> {
  let summary = "decides masks of loops of known length, and splits these where the masks begin to cut";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}
def OrderProgramsPass : Pass<"tt-order-programs", "::mlir::ModuleOp"> {
  let summary = "lets the programs of a grid that take longest start first";
  let options = [Option<"wave", "wave", "int64_t", "0", "programs that run at once, about; 0: not known, nothing changes">];
}

//===-- ttir -> ttgir, ttgir -> ttgir -----------------------------------------------------------------------------===//

def SplitDotOperandsPass : Pass<"tt-split-dot-operands", "::mlir::ModuleOp"> {
  let summary = "replaces dots of f32 by several dots of narrower parts: tf32x3, bf16x3, bf16x6";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [ListOption<"matrix_operands", "matrix-operands", "std::string",
                            "element types that the matrix unit multiplies: tf32, bf16">];
}
def ConvertToTtgPass : Pass<"convert-tt-to-ttg", "::mlir::ModuleOp"> {
  let summary = "gives every tensor its default encoding";
  let dependentDialects = ["::tritond::ttg::TTGDialect"];
  let options = [
    Option<"target", "target", "std::string", "\"host\"", "name of the target, kept as ttg.target">,
    Option<"num_warps", "num-warps", "int", "4", "warps of a block">,
    Option<"threads_per_warp", "threads-per-warp", "int", "32", "lanes of a warp">,
    Option<"num_ctas", "num-ctas", "int", "1", "blocks of a cluster">];
}
def CoalescePass : Pass<"ttg-coalesce", "::mlir::ModuleOp"> {
  let summary = "gives memory operations encodings whose neighbouring threads access neighbouring addresses";
  let options = [
    Option<"max_add_bytes", "max-add-bytes", "int", "4", "that one atomic addition of floats may change">,
    Option<"reads_whole_words", "reads-whole-words", "bool", "false", "loads may read words of which they may read a part">,
    Option<"cache_ratio", "cache-ratio", "double", "0", "bytes that the first cache moves while memory moves one; 0: not known">];
}
def RemoveLayoutConversionsPass : Pass<"ttg-remove-layout-conversions", "::mlir::ModuleOp"> {
  let summary = "chooses encodings for whole regions of the program, so that few conversions remain";
}
def TurnScansPass : Pass<"ttg-turn-scans", "::mlir::ModuleOp"> {
  let summary = "puts the axis of scans into threads where lanes would exchange more than conversions do";
}
def TurnReductionsPass : Pass<"ttg-turn-reductions", "::mlir::ModuleOp"> {
  let summary = "puts the axis of reductions into threads where lanes would exchange more than conversions do";
}
def CombineTensorSelectAndIfPass : Pass<"ttg-combine-tensor-select-and-if", "::mlir::ModuleOp"> {
  let summary = "makes a select of tensors a result of the scf.if on the same condition";
}
def PredicateBranchesPass : Pass<"ttg-predicate-branches", "::mlir::ModuleOp"> {
  let summary = "makes masked loads and selects of branches in loops that load and compute little, and unrolls these";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}
def FuseNestedLoopsPass : Pass<"ttg-fuse-nested-loops", "::mlir::ModuleOp"> {
  let summary = "makes one loop of a loop with tt.flatten and the loop in it";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect"];
}
def SkipEmptyLoopsPass : Pass<"ttg-skip-empty-loops", "::mlir::ModuleOp"> {
  let summary = "puts loops that some programs of a grid may not enter into branches, with what they need";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}
def UnswitchLoopsPass : Pass<"ttg-unswitch-loops", "::mlir::ModuleOp"> {
  let summary = "asks in front of small loops for conditions that do not change in them";
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}
def CarryCountsPass : Pass<"ttg-carry-counts", "::mlir::ModuleOp"> {
  let summary = "carries tensors whose elements are all equal through loops as one number";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}
def SkipEmptyLoadsPass : Pass<"ttg-skip-empty-loads", "::mlir::ModuleOp"> {
  let summary = "puts loads that few programs of a grid need into branches";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}
def ReverseLoopsPass : Pass<"ttg-reverse-loops", "::mlir::ModuleOp"> {
  let summary = "runs loops backwards that read again what a loop before them has read";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [
    Option<"cache_bytes_of_warp", "cache-bytes-of-warp", "int64_t", "0",
           "of the cache of all multiprocessors, for each warp on the device; 0: not known, no loop runs backwards">];
}
def FlattenNestsPass : Pass<"ttg-flatten-nests", "::mlir::ModuleOp"> {
  let summary = "makes one loop of a loop that loads for dots and a loop around it that only computes indices";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let options = [
    Option<"products", "products", "int64_t", "0",
           "multiply-adds of 16-bit numbers that a unit beside the threads makes in a cycle; 0: there is none">,
    Option<"issued_warps", "issued-warps", "int64_t", "4", "of a multiprocessor, in a cycle">];
}
def JoinIndicesPass : Pass<"ttg-join-indices", "::mlir::ModuleOp"> {
  let summary = "adds indices of the same dimensions to pointers before these are spread over a block";
}
def JoinMasksPass : Pass<"ttg-join-masks", "::mlir::ModuleOp"> {
  let summary = "combines conditions on the same dimensions before they are spread over a block";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}
def OptimizeThreadLocalityPass : Pass<"ttg-optimize-thread-locality", "::mlir::ModuleOp"> {
  let summary = "lets each thread keep its own sum in a loop, and adds up those of all threads after it";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}
def CarryMaximaPass : Pass<"ttg-carry-maxima", "::mlir::ModuleOp"> {
  let summary = "lets each thread keep its own maximum beside its sum of exponentials";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}
def SplitFullTilesPass : Pass<"ttg-split-full-tiles", "::mlir::ModuleOp"> {
  let summary = "splits a loop over a row of any length where its masks begin to cut";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}
def ReduceDataDuplicationPass : Pass<"ttg-reduce-data-duplication", "::mlir::ModuleOp"> {
  let summary = "puts operands of matrix units, which many threads hold, into a swizzled buffer";
  let options = [
    Option<"max_buffer_bytes", "max-buffer-bytes", "int64_t", "0", "of all buffers of a function together, for which "
           "operands of multiply-adds have some; 0: they have none">,
    Option<"registers", "registers", "int64_t", "0", "words that a loop's numbers may take, else operands of its "
           "multiply-adds that it does not change have buffers, too; 0: any">];
}
def NarrowOperandBuffersPass : Pass<"ttg-narrow-operand-buffers", "::mlir::ModuleOp"> {
  let summary = "buffers operands before they are widened, where the buffers of wide ones do not fit";
  let options = [
    Option<"max_shared_bytes", "max-shared-bytes", "int64_t", "49152", "of a block">,
    Option<"float_words", "float-words", "bool", "false", "only those, and all, of which threads read words of 8-bit "
           "floats, which an instruction widens in pairs">];
}
def SinkLayoutConversionsPass : Pass<"ttg-sink-layout-conversions", "::mlir::ModuleOp"> {
  let summary = "makes one conversion after an scf.if of those that both branches end in";
}
def KeepRowsPass : Pass<"ttg-keep-rows", "::mlir::ModuleOp"> {
  let summary = "loads a row that several loops of known length read once, and keeps it in registers";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [
    Option<"registers", "registers", "int64_t", "0", "words that the blocks of a multiprocessor have together; 0: not "
           "known, no row is kept">,
    Option<"most_registers", "most-registers", "int64_t", "64", "words of a thread for rows">];
}
def ReloadAfterLoopsPass : Pass<"ttg-reload-after-loops", "::mlir::ModuleOp"> {
  let summary = "loads tensors again after loops that need their registers";
  let options = [
    Option<"registers", "registers", "int64_t", "65536", "words that the blocks of a multiprocessor have together">,
    Option<"most_registers", "most-registers", "int64_t", "255", "words of a thread">];
}
def ReorderInstructionsPass : Pass<"ttg-reorder-instructions", "::mlir::ModuleOp"> {
  let summary = "moves operations to where they hold fewer registers";
}
def SinkOperandReadsPass : Pass<"ttg-sink-operand-reads", "::mlir::ModuleOp"> {
  let summary = "reads operands that a loop does not change again in each iteration, where the loop lacks registers";
  let options = [
    Option<"registers", "registers", "int64_t", "256", "words of a thread">,
    Option<"reads_late", "reads-late", "bool", "false", "an operand is read a step along K at a time">,
    Option<"max_buffer_bytes", "max-buffer-bytes", "int64_t", "49152", "of all buffers of a function together">,
    Option<"max_frame_bytes", "max-frame-bytes", "int64_t", "0",
           "of a function where all its buffers are more than that; 0: it is not asked">];
}
def SkipFullMasksPass : Pass<"ttg-skip-full-masks", "::mlir::ModuleOp"> {
  let summary = "takes blocks of loops as they are where scalars tell that a mask holds everywhere";
  let options = [
    Option<"registers", "registers", "int64_t", "0",
           "words that the blocks of a multiprocessor have together; 0: not known">,
    Option<"most_registers", "most-registers", "int64_t", "255", "words of a thread">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}
def SquareDotTilesPass : Pass<"ttg-square-dot-tiles", "::mlir::ModuleOp"> {
  let summary = "gives each thread a square tile of the accumulators of dots by multiply-adds";
  let dependentDialects = ["::tritond::ttg::TTGDialect"];
  let options = [
    Option<"shared_bytes", "shared-bytes", "int64_t", "128", "that shared memory moves in a cycle">,
    Option<"issued_warps", "issued-warps", "int64_t", "4", "that issue an instruction in a cycle">,
    Option<"pairs_share_reads", "pairs-share-reads", "bool", "false",
           "a wide access takes half as long where each two lanes, next to each other or two apart, read the same">];
}
def TileDotsPass : Pass<"ttg-tile-dots", "::mlir::ModuleOp"> {
  let summary = "loops over slices of K for dots by multiply-adds";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}
def ShareGathersPass : Pass<"ttg-share-gathers", "::mlir::ModuleOp"> {
  let summary = "gathers of one tensor read one buffer";
}
def ShareKPass : Pass<"ttg-share-k", "::mlir::ModuleOp"> {
  let summary = "lets warps share K of dots by multiply-adds whose threads have few accumulators";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [
    Option<"shared_bytes", "shared-bytes", "int64_t", "128", "as of ttg-square-dot-tiles">,
    Option<"issued_warps", "issued-warps", "int64_t", "4", "as of ttg-square-dot-tiles">,
    Option<"pairs_share_reads", "pairs-share-reads", "bool", "false", "as of ttg-square-dot-tiles">];
}

def AssignLatenciesPass : Pass<"ttg-assign-latencies", "::mlir::ModuleOp"> {
  let summary = "chooses the loads of innermost loops that shall be started iterations ahead; sets tt.latency";
  let options = [
    Option<"num_stages", "num-stages", "int", "3", "iterations in flight, where a loop has no tt.num_stages">,
    Option<"max_shared_bytes", "max-shared-bytes", "int64_t", "49152", "shared memory of a block">,
    Option<"least_copy_bytes", "least-copy-bytes", "int", "4",
           "neighbouring bytes that an asynchronous copy takes; 0: there is none">,
    Option<"most_copy_bytes", "most-copy-bytes", "int", "16", "the same, at most">,
    Option<"copies_in_lane_order", "copies-in-lane-order", "bool", "false",
           "whether lanes of a warp write to shared memory side by side, in their order">,
    Option<"max_waiting_elements", "max-waiting-elements", "int", "64", "of a thread, that may wait in registers">,
    Option<"thread_registers", "thread-registers", "int", "0",
           "words that a thread has, for what loops with dots need and what waits; 0: any">,
    Option<"registers", "registers", "int64_t", "0",
           "words that the blocks of a multiprocessor have together; 0: how many blocks it holds does not count">,
    Option<"multiprocessors", "multiprocessors", "int64_t", "0", "of the device; 0: not known">,
    Option<"issued_warps", "issued-warps", "int64_t", "0",
           "whose instructions a multiprocessor issues in a cycle; 0: not known, and no copies in place">,
    Option<"min_stream_words", "min-stream-words", "int64_t", "0",
           "that a thread loads in an iteration without dots for the loads to start an iteration early; 0: they never do">,
    Option<"word_instructions", "word-instructions", "int64_t", "0",
           "that a thread issues while memory gives it a word, in loops without dots; 0: not known">,
    Option<"bytes_on_the_way", "bytes-on-the-way", "int64_t", "0",
           "to a multiprocessor, while memory delivers as much as it can; 0: not known">,
    Option<"reserved_shared_bytes", "reserved-shared-bytes", "int64_t", "0",
           "of each block on a multiprocessor, beside what the kernel asks for">];
}
def OrderCopiesPass : Pass<"ttg-order-copies", "::mlir::ModuleOp"> {
  let summary = "gives loads for dots encodings whose asynchronous copies write side by side, in the order of lanes";
  let options = [
    Option<"num_stages", "num-stages", "int", "3", "iterations in flight, where a loop has no tt.num_stages">,
    Option<"least_copy_bytes", "least-copy-bytes", "int", "4", "that a copy takes of a lane; this many or the most">,
    Option<"most_copy_bytes", "most-copy-bytes", "int", "16", "that a copy takes of a lane">];
}
def SpreadCopiesPass : Pass<"ttg-spread-copies", "::mlir::ModuleOp"> {
  let summary = "rows that become copies get encodings under which lanes share their elements";
  let dependentDialects = ["::tritond::ttg::TTGDialect"];
}
def ScheduleLoopsPass : Pass<"ttg-schedule-loops", "::mlir::ModuleOp"> {
  let summary = "spreads the operations of loops over stages by the latencies; sets loop.stage and loop.cluster";
}
def PipelinePass : Pass<"ttg-pipeline", "::mlir::ModuleOp"> {
  let summary = "overlaps the iterations of scheduled loops; their loads become asynchronous copies to shared memory";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}
def PrefetchPass : Pass<"ttg-prefetch", "::mlir::ModuleOp"> {
  let summary = "loads the first slices of a dot's operands from shared memory at the end of the iteration before";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [
    Option<"min_slices", "min-slices", "int", "2", "of K that a dot must have, as thick as the first">,
    Option<"min_accumulators", "min-accumulators", "int", "0", "of a thread of such a dot">,
    Option<"converts", "converts", "bool", "true", "slices may go through conversions, or be floats of 8 bits">];
}

//===-- ttgir -> what lowering takes ------------------------------------------------------------------------------===//

def CountAsyncGroupsPass : Pass<"ttg-count-async-groups", "::mlir::ModuleOp"> {
  let summary = "lets waits for asynchronous copies leave no more groups in flight than their tokens allow";
}
def AllocateWarpGroupsPass : Pass<"ttg-allocate-warp-groups", "::mlir::ModuleOp"> {
  let summary = "gives partitions of warp-specialised kernels their warps and registers; sets ttg.total-num-warps";
  let options = [
    Option<"group_warps", "group-warps", "int", "1", "that the device takes together">,
    Option<"registers", "registers", "int64_t", "0",
           "words of a multiprocessor, where its warps can give each other registers; 0: they cannot">,
    Option<"register_step", "register-step", "int", "8", "a thread has a multiple of so many">,
    Option<"least_registers", "least-registers", "int", "24", "that a thread can have left">,
    Option<"most_registers", "most-registers", "int", "256", "that a thread can have">,
    Option<"entry_registers", "entry-registers", "int", "0",
           "that a thread has when a kernel starts; 0: what the module says, or as many as fit">];
}
def SplitWarpSpecializePass : Pass<"ttg-split-warp-specialize", "::mlir::ModuleOp"> {
  let summary = "makes default regions of warp-specialised kernels blocks of their functions";
  let dependentDialects = ["::mlir::cf::ControlFlowDialect"];
}
def UntangleAxisPass : Pass<"ttg-untangle-axis", "::mlir::ModuleOp"> {
  let summary = "converts operands of reductions and scans whose encoding mixes the axis with other dimensions";
}
def AllocateSharedMemoryPass : Pass<"ttg-allocate-shared-memory", "::mlir::ModuleOp"> {
  let summary = "places buffers and scratch in shared memory; sets allocation.offset and ttg.shared";
  let options = [Option<"max_bytes", "max-bytes", "int64_t", "0",
                        "of a block; conversions beyond it work in parts. 0: not known">,
                 Option<"registers", "registers", "int64_t", "0",
                        "words of a multiprocessor whose cache has what threads lack them for, and shared memory; 0: not so">];
}
def AllocateGlobalScratchPass : Pass<"ttg-allocate-global-scratch", "::mlir::ModuleOp"> {
  let summary = "places a program's buffers in global memory; sets ttg.global_scratch_memory_offset, …_size, …_alignment";
}
def InsertBarriersPass : Pass<"ttg-insert-barriers", "::mlir::ModuleOp"> {
  let summary = "puts a barrier between accesses to one place of shared memory by different threads";
}

def RunByOneThreadPass : Pass<"ttg-run-by-one-thread", "::mlir::ModuleOp"> {
  let summary = "ends all threads but one of kernels without tensors, rather than let them wait for each other";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect"];
}
def EndIdleWarpsPass : Pass<"ttg-end-idle-warps", "::mlir::ModuleOp"> {
  let summary = "ends warps that hold nothing but copies of what other warps hold";
  let dependentDialects = ["::mlir::cf::ControlFlowDialect"];
}

#endif  // COMPILER_PASSES_PASSES_TD_
