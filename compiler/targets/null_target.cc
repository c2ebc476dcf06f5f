// SPDX-License-Identifier: Apache-2.0
// A target has two classes. TargetOps is the device's instructions as lowering asks for them. Target is the way from a
// parsed module to a binary. docs/extending.md says how to add one: with a copy of this file. Fill in, in this order:
//
//   1. Info: what everybody else needs to know of the device, with the options that it alone has.
//   2. Ops, until the lit tests of compiler/lowering pass with --lower-to-llvm=target=NAME. What the device cannot do
//      stays as it is here: a diagnostic, at the location that the caller gives. Families of instructions go to files
//      of their own (memory_ops.cc, math_ops.cc).
//   3. The pipeline, in <vendor>/pipeline.cc: a stretch that is equal for all devices is in neutral_pipeline.h.
//   4. Optimize and EmitAsm, with LLVM's back end (assembly_text.h), then Assemble.
#include "compiler/targets/null_target.h"

#include "compiler/passes/neutral_pipeline.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tritond::compiler::null {
namespace {

using mlir::FailureOr;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

class NullOps final : public TargetOps {
 public:
  int WarpSize() const override { return 32; }

  Value ThreadId(OpBuilder& b, Location loc) const override { return Missing(b, loc, "thread index", b.getI32Type()); }
  Value ProgramId(OpBuilder& b, Location loc, tt::ProgramDim) const override {
    return Missing(b, loc, "program index", b.getI32Type());
  }
  Value NumPrograms(OpBuilder& b, Location loc, tt::ProgramDim) const override {
    return Missing(b, loc, "grid size", b.getI32Type());
  }

  void Barrier(OpBuilder& b, Location loc) const override { (void)Refuse(loc, "barrier"); }
  void WarpBarrier(OpBuilder& b, Location loc) const override { (void)Refuse(loc, "barrier of a warp"); }
  Value ShuffleXor(OpBuilder& b, Location loc, Value, int) const override {
    return Missing(b, loc, "shuffle", b.getI32Type());
  }
  Value ShuffleIndex(OpBuilder& b, Location loc, Value, Value) const override {
    return Missing(b, loc, "shuffle", b.getI32Type());
  }
  // No such instruction is no failure: the reduction is done by shuffles.
  std::optional<Value> WarpReduce(OpBuilder&, Location, mlir::Operation*, Value) const override { return std::nullopt; }

  llvm::SmallVector<Value> Load(OpBuilder& b, Location loc, const MemoryAccess& access, ValueRange) const override {
    (void)Refuse(loc, "load");
    Value element = mlir::LLVM::PoisonOp::create(b, loc, access.element);
    return llvm::SmallVector<Value>(access.count, element);
  }
  void Store(OpBuilder&, Location loc, const MemoryAccess&, ValueRange) const override { (void)Refuse(loc, "store"); }
  FailureOr<Value> AtomicRmw(OpBuilder&, Location loc, const AtomicAccess&, tt::RmwOp, Value) const override {
    return Refuse(loc, "atomic operation");
  }
  FailureOr<Value> AtomicCas(OpBuilder&, Location loc, const AtomicAccess&, Value, Value) const override {
    return Refuse(loc, "atomic operation");
  }

  FailureOr<Value> Math(OpBuilder&, Location loc, llvm::StringRef op, ValueRange) const override {
    return Refuse(loc, op);
  }
  FailureOr<Value> CallExtern(OpBuilder&, Location loc, llvm::StringRef symbol, mlir::Type, ValueRange) const override {
    return Refuse(loc, symbol);
  }
  // No such instruction is no failure: lowering converts in integer arithmetic.
  llvm::SmallVector<Value> ConvertFloat(OpBuilder&, Location, mlir::FloatType, mlir::FloatType, tt::RoundingMode,
                                        ValueRange) const override {
    return {};
  }
  FailureOr<Value> InlineAsm(OpBuilder&, Location loc, mlir::Type, ValueRange, llvm::StringRef, llvm::StringRef,
                             bool) const override {
    return Refuse(loc, "inline assembly");
  }

  void Assert(OpBuilder&, Location loc, Value, const AssertSite&) const override { (void)Refuse(loc, "assertion"); }
  mlir::LogicalResult Print(OpBuilder&, Location loc, llvm::StringRef, ValueRange) const override {
    return Refuse(loc, "print");
  }

 private:
  static mlir::LogicalResult Refuse(Location loc, llvm::StringRef what) {
    return mlir::emitError(loc) << "target null has no " << what;
  }
  static Value Missing(OpBuilder& b, Location loc, llvm::StringRef what, mlir::Type type) {
    (void)Refuse(loc, what);
    return mlir::LLVM::PoisonOp::create(b, loc, type);
  }
};

class NullTarget final : public Target {
 public:
  // From the vendor's manual: what exceeds a limit is refused before any code is made.
  const TargetInfo& Info() const override { return info_; }
  const TargetOps& Ops() const override { return ops_; }

  void AddTtirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const override {
    // Until tensors have encodings, nothing depends on the device.
    AddNeutralTtirPasses(pm, {.descriptor_flags = options.descriptor_flags});
  }
  void AddTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const override {
    // Every tensor gets the default encoding of its shape. Passes that choose better ones for this device come after.
    ConvertToTtgPassOptions convert;
    convert.target = info_.name;
    convert.num_warps = options.num_warps;
    convert.threads_per_warp = info_.lanes;
    convert.num_ctas = options.num_ctas;
    pm.addPass(createConvertToTtgPass(convert));
  }
  void AddLlirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const override {
    // Buffers, offsets and barriers are the same on every device.
    AddNeutralLlirPasses(pm, /*max_shared_bytes=*/0);
  }

  absl::Status Optimize(llvm::Module&, const KernelOptions&) override { return Nothing(); }
  absl::StatusOr<std::string> EmitAsm(llvm::Module&, const KernelOptions&) override { return Nothing(); }
  std::string KernelName(const std::string&) const override { return ""; }
  // What is no binary must not pass for one: nobody looks at it again before it is stored and launched.
  absl::Status CheckBinary(const std::string&, const std::string&) const override { return Nothing(); }
  absl::StatusOr<std::string> Assemble(const std::string&, const KernelOptions&) override { return Nothing(); }
  absl::Status AssemblerStatus() override { return Nothing(); }
  // Empty: there is no tool whose version could change the bytes.
  std::string ToolsId() override { return ""; }
  std::string AssemblyToolsId() override { return ""; }

 private:
  static absl::Status Nothing() { return absl::FailedPreconditionError("target null has no device to make code for"); }

  static TargetInfo Describe() {
    TargetInfo info;
    info.name = info.backend = "null";
    info.arch = 0;
    info.asm_format = "s";
    info.binary_format = "bin";
    info.max_shared_bytes = 64 * 1024;
    return info;
  }

  const TargetInfo info_ = Describe();
  const NullOps ops_;
};

}  // namespace

std::vector<std::string> TargetNames() { return {"null"}; }

std::unique_ptr<Target> MakeTarget(absl::string_view name, const TargetConfig&) {
  return name == "null" ? std::make_unique<NullTarget>() : nullptr;
}

}  // namespace tritond::compiler::null
