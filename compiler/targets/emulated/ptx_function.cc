// SPDX-License-Identifier: Apache-2.0
// A piece of PTX becomes a function:
//
//   call float asm "@$2 ex2.approx.f32 $0, $1;", "=f,f,b"(float %x, i1 %p)
//
//   call float @tritond.ptx(ptr null, float %x, i1 %p)
//
// The function has a stack slot for each register and a branch around each predicated statement. Each instruction
// becomes either a few operations of LLVM's (moves, loads, stores, atomics, branches) or a call of the run-time, which
// knows it by name:
//
//   call void @tritond.execute(ptr %site, ptr @"ptx:ex2/approx/f32 1 1", ptr %in, ptr %out)
//
// Registers start with a pattern, as on a GPU with what was in them before. The pattern is a large number in every
// type, so that a result which depends on it shows.
#include "compiler/targets/emulated/ptx_function.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/targets/emulated/any_device.h"
#include "llvm/ADT/StringSwitch.h"

namespace tritond::compiler::emulated {
namespace {

using Kind = PtxOperand::Kind;

constexpr int kClusterAxis = 3;  // of the run-time: the block in its cluster, and how many it has
using host::RuntimeFunction;

// How an instruction that the run-time executes uses its operands.
enum class Form { kNone, kResult, kNoResult, kAccumulator };

Form FormOf(llvm::StringRef opcode) {
  return llvm::StringSwitch<Form>(opcode)
      .Cases({"add", "sub", "mul", "mad", "addc", "subc", "madc", "mul24", "fma", "div", "rem", "neg", "abs"},
             Form::kResult)
      .Cases({"min", "max", "and", "or", "xor", "not", "cnot", "shl", "shr", "setp"}, Form::kResult)
      .Cases({"selp", "cvt", "ex2", "lg2", "rcp", "rsqrt", "sqrt", "sin", "cos", "tanh"}, Form::kResult)
      .Cases({"prmt", "lop3", "shf", "bfe", "bfi", "brev", "popc", "clz", "sad", "copysign", "vprintf"}, Form::kResult)
      .Cases({"mma", "ldmatrix", "shfl", "vote", "redux", "match", "elect", "activemask"}, Form::kResult)
      .Cases(
          {"stmatrix", "fence", "membar", "griddepcontrol", "prefetch", "nanosleep", "setmaxnreg", "cp", "tensormap"},
          Form::kNoResult)
      .Cases({"wgmma", "tcgen05"}, Form::kNoResult)
      .Default(Form::kNone);
}

// "[map, {x, y}]" as "[map]", x, y.
std::vector<PtxOperand> CoordinatesOf(const PtxOperand& address) {
  PtxOperand base = address;
  base.parts.resize(1);
  std::vector<PtxOperand> elements = {base};
  for (size_t i = 1; i < address.parts.size(); ++i)
    for (const PtxOperand& part : PtxFunction::Elements(address.parts[i])) elements.push_back(part);
  return elements;
}

int BitsOfValue(llvm::Type* type, const llvm::DataLayout& layout) {
  return type->isPointerTy() ? 64 : static_cast<int>(layout.getTypeSizeInBits(type).getFixedValue());
}

// A value of any first-class type as i64, and back.
llvm::Value* ToWord(llvm::IRBuilder<>& b, llvm::Value* value, int bits) {
  if (value->getType()->isPointerTy()) return b.CreatePtrToInt(value, b.getInt64Ty());
  return b.CreateZExt(b.CreateBitCast(value, b.getIntNTy(bits)), b.getInt64Ty());
}

llvm::Value* FromWord(llvm::IRBuilder<>& b, llvm::Value* word, llvm::Type* type, int bits) {
  if (type->isPointerTy()) return b.CreateIntToPtr(word, type);
  return b.CreateBitCast(b.CreateTrunc(word, b.getIntNTy(bits)), type);
}

std::vector<llvm::Type*> ResultTypes(llvm::Type* type) {
  if (type->isVoidTy()) return {};
  if (auto* fields = llvm::dyn_cast<llvm::StructType>(type)) return {fields->element_begin(), fields->element_end()};
  return {type};
}

// Floats go through functions as their bits. On x86 the third float of a structure is returned in a register of the
// 8087, which makes signalling NaNs quiet.
llvm::Type* AsBits(llvm::Type* type, const llvm::DataLayout& layout) {
  if (auto* fields = llvm::dyn_cast<llvm::StructType>(type)) {
    llvm::SmallVector<llvm::Type*> bits;
    for (llvm::Type* field : fields->elements()) bits.push_back(AsBits(field, layout));
    return llvm::StructType::get(type->getContext(), bits);
  }
  if (type->isVoidTy() || type->isPointerTy()) return type;
  return llvm::IntegerType::get(type->getContext(), BitsOfValue(type, layout));
}

}  // namespace

llvm::Value* FromReturnedBits(llvm::IRBuilder<>& b, llvm::Value* returned, llvm::Type* type) {
  auto* fields = llvm::dyn_cast<llvm::StructType>(type);
  if (!fields) return returned->getType() == type ? returned : b.CreateBitCast(returned, type);
  llvm::Value* result = llvm::PoisonValue::get(type);
  for (unsigned i = 0; i < fields->getNumElements(); ++i) {
    llvm::Value* field = FromReturnedBits(b, b.CreateExtractValue(returned, i), fields->getElementType(i));
    result = b.CreateInsertValue(result, field, i);
  }
  return result;
}

PtxFunction::PtxFunction(llvm::Module& module, const PtxCall& call, const PtxText& text)
    : module_(module), call_(call), text_(text), b_(module.getContext()) {}

absl::Status PtxFunction::Unknown(const PtxStatement& statement) const {
  return absl::InvalidArgumentError(absl::StrCat("the emulator has no PTX instruction ", statement.Name()));
}

absl::StatusOr<llvm::Function*> PtxFunction::Define() {
  std::vector<llvm::Type*> params = {b_.getPtrTy()};
  params.insert(params.end(), call_.type->param_begin(), call_.type->param_end());
  llvm::Type* returned = AsBits(call_.type->getReturnType(), module_.getDataLayout());
  auto* type = llvm::FunctionType::get(returned, params, false);
  function_ = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "tritond.ptx", module_);
  function_->addFnAttr(host::kSiteAttr);
  function_->addFnAttr(llvm::Attribute::NoInline);
  b_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "", function_));
  MakeSlots();
  for (int i = 0; i < text_.labels; ++i)
    labels_.push_back(llvm::BasicBlock::Create(module_.getContext(), "label", function_));
  for (const PtxStatement& statement : text_.statements) {
    if (absl::Status status = EmitPredicated(statement); !status.ok()) return status;
  }
  ReturnResults();
  return function_;
}

PtxFunction::Slot PtxFunction::MakeSlot(int bits) {
  llvm::AllocaInst* memory = b_.CreateAlloca(b_.getIntNTy(bits));
  const llvm::APInt pattern = llvm::APInt::getSplat(bits < 8 ? 8 : bits, llvm::APInt(8, 0x7f)).trunc(bits);
  b_.CreateStore(b_.getInt(pattern), memory);
  return {memory, bits};
}

// LLVM numbers outputs first, then inputs; an input that is tied to an output has its register.
void PtxFunction::MakeSlots() {
  const std::vector<llvm::Type*> results = ResultTypes(call_.type->getReturnType());
  const llvm::DataLayout& layout = module_.getDataLayout();
  for (llvm::Type* result : results) arguments_.push_back(MakeSlot(BitsOfValue(result, layout)));
  outputs_ = results.size();
  size_t input = 0, operand = 0;
  for (const llvm::InlineAsm::ConstraintInfo& info : call_.constraints) {
    if (info.Type == llvm::InlineAsm::isClobber || info.Type == llvm::InlineAsm::isLabel) continue;
    if (operand++ < outputs_) continue;
    llvm::Value* value = function_->getArg(1 + input++);
    const int bits = BitsOfValue(value->getType(), layout);
    size_t tied = outputs_;
    for (const std::string& code : info.Codes)
      if (!absl::SimpleAtoi(code, &tied)) tied = outputs_;
    const Slot slot = tied < outputs_ ? arguments_[tied] : MakeSlot(bits);
    b_.CreateStore(b_.CreateZExtOrTrunc(ToWord(b_, value, bits), b_.getIntNTy(slot.bits)), slot.memory);
    arguments_.push_back(slot);
  }
  carry_ = MakeSlot(1);
  for (const PtxRegister& declared : text_.registers) registers_.push_back(MakeSlot(declared.bits));
}

void PtxFunction::ReturnResults() {
  llvm::Type* returned = function_->getReturnType();
  const std::vector<llvm::Type*> results = ResultTypes(returned);
  std::vector<llvm::Value*> values;
  for (size_t i = 0; i < results.size(); ++i) {
    llvm::Value* word =
        b_.CreateZExt(b_.CreateLoad(b_.getIntNTy(arguments_[i].bits), arguments_[i].memory), b_.getInt64Ty());
    values.push_back(FromWord(b_, word, results[i], arguments_[i].bits));
  }
  if (returned->isVoidTy()) {
    b_.CreateRetVoid();
  } else if (returned->isStructTy()) {
    b_.CreateAggregateRet(values.data(), values.size());
  } else {
    b_.CreateRet(values[0]);
  }
}

absl::StatusOr<PtxFunction::Slot> PtxFunction::SlotOf(const PtxOperand& operand) {
  if (operand.kind == Kind::kRegister) return registers_[operand.index];
  if (operand.kind == Kind::kArgument && operand.index < static_cast<int>(arguments_.size()))
    return arguments_[operand.index];
  return absl::InvalidArgumentError("inline PTX: an operand is no register");
}

absl::StatusOr<llvm::Value*> PtxFunction::Read(const PtxOperand& operand, llvm::StringRef type) {
  if (operand.kind == Kind::kImmediate) return b_.getInt64(operand.value);
  if (operand.kind == Kind::kSpecial) return SpecialRegister(operand.name);
  if (operand.kind == Kind::kFloat) {
    uint64_t bits = 0;
    const float narrow = static_cast<float>(operand.number);
    if (type == "f64")
      std::memcpy(&bits, &operand.number, 8);
    else
      std::memcpy(&bits, &narrow, 4);
    return b_.getInt64(bits);
  }
  auto slot = SlotOf(operand);
  if (!slot.ok()) return slot.status();
  llvm::Value* value = b_.CreateLoad(b_.getIntNTy(slot->bits), slot->memory);
  if (operand.is_negated) value = b_.CreateNot(value);
  return b_.CreateZExt(value, b_.getInt64Ty());
}

bool PtxFunction::IsPredicate(const PtxOperand& operand) {
  if (operand.kind == Kind::kImmediate || operand.kind == Kind::kSpecial || operand.kind == Kind::kFloat) return false;
  auto slot = SlotOf(operand);
  return slot.ok() && slot->bits == 1;
}

absl::Status PtxFunction::Write(const PtxOperand& operand, llvm::Value* value) {
  if (operand.kind == Kind::kSink) return absl::OkStatus();
  auto slot = SlotOf(operand);
  if (!slot.ok()) return slot.status();
  b_.CreateStore(b_.CreateTrunc(value, b_.getIntNTy(slot->bits)), slot->memory);
  return absl::OkStatus();
}

absl::StatusOr<llvm::Value*> PtxFunction::Address(const PtxOperand& operand) {
  if (operand.kind != Kind::kAddress || operand.parts.size() != 1)
    return absl::InvalidArgumentError("inline PTX: an operand is no address");
  auto base = Read(operand.parts[0]);
  if (!base.ok() || operand.offset == 0) return base;
  llvm::Value* address = b_.CreateAdd(*base, b_.getInt64(operand.offset));
  auto slot = SlotOf(operand.parts[0]);
  return slot.ok() && slot->bits == 32 ? b_.CreateAnd(address, 0xffffffffu) : address;
}

std::vector<PtxOperand> PtxFunction::Elements(const PtxOperand& operand) {
  if (operand.kind == Kind::kVector || operand.kind == Kind::kPair) return operand.parts;
  return {operand};
}

llvm::CallInst* PtxFunction::CallRuntime(RuntimeFunction function, llvm::ArrayRef<llvm::Value*> arguments) {
  return b_.CreateCall(host::DeclareRuntime(module_, function), arguments);
}

std::vector<llvm::Value*> PtxFunction::Execute(const std::string& name, llvm::ArrayRef<llvm::Value*> in,
                                               size_t results) {
  return EmitExecute(b_, Site(), name, in, results);
}

absl::Status PtxFunction::EmitPredicated(const PtxStatement& statement) {
  llvm::LLVMContext& context = module_.getContext();
  if (statement.label) {
    b_.CreateBr(labels_[*statement.label]);
    b_.SetInsertPoint(labels_[*statement.label]);
    return absl::OkStatus();
  }
  const bool is_branch = statement.words[0] == "bra";
  if (is_branch && (statement.operands.size() != 1 || statement.operands[0].kind != Kind::kLabel))
    return absl::InvalidArgumentError("inline PTX: a branch without a label");
  llvm::BasicBlock* next = llvm::BasicBlock::Create(context, "next", function_);
  llvm::BasicBlock* taken =
      is_branch ? labels_[statement.operands[0].index] : llvm::BasicBlock::Create(context, "taken", function_);
  if (statement.predicate) {
    auto predicate = Read(*statement.predicate);
    if (!predicate.ok()) return predicate.status();
    b_.CreateCondBr(b_.CreateTrunc(*predicate, b_.getInt1Ty()), taken, next);
  } else {
    b_.CreateBr(taken);
  }
  if (!is_branch) {
    b_.SetInsertPoint(taken);
    if (absl::Status status = EmitInstruction(statement); !status.ok()) return status;
    b_.CreateBr(next);
  }
  b_.SetInsertPoint(next);
  return absl::OkStatus();
}

absl::Status PtxFunction::EmitInstruction(const PtxStatement& statement) {
  const std::string& opcode = statement.words[0];
  if (opcode == "mov" || opcode == "cvta") return EmitMove(statement);
  if (opcode == "bar" || opcode == "barrier") return EmitBarrier(statement);
  if (opcode == "trap") {
    CallRuntime(RuntimeFunction::kFail, {Site(), b_.CreateGlobalString("the kernel has stopped itself: trap")});
    return absl::OkStatus();
  }
  bool known = false;
  if (absl::Status status = EmitMemoryInstruction(*this, statement, &known); !status.ok() || known) return status;
  if (statement.words.size() > 1 && opcode == "wgmma" && statement.words[1] == "wait_group")
    return EmitWgmmaWait(statement);
  return EmitGeneric(statement);
}

// Between registers, to and from vectors of narrower ones, and from special registers. Address spaces are one here.
absl::Status PtxFunction::EmitMove(const PtxStatement& statement) {
  if (statement.operands.size() != 2) return Unknown(statement);
  const std::vector<PtxOperand> to = Elements(statement.operands[0]), from = Elements(statement.operands[1]);
  llvm::Value* whole = b_.getInt64(0);
  int bits = 0;
  if (!absl::SimpleAtoi(absl::string_view(statement.words.back()).substr(1), &bits)) bits = 1;
  for (size_t i = 0; i < from.size(); ++i) {
    auto part = Read(from[i], statement.words.back());
    if (!part.ok()) return part.status();
    const uint64_t shift = i * bits / from.size();
    whole = b_.CreateOr(whole, b_.CreateShl(*part, shift));
  }
  for (size_t i = 0; i < to.size(); ++i) {
    if (absl::Status status = Write(to[i], b_.CreateLShr(whole, i * bits / to.size())); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Of all threads or of some ("bar.sync 1, 64"), of the warp, and of the cluster.
absl::Status PtxFunction::EmitBarrier(const PtxStatement& statement) {
  const std::vector<PtxOperand>& operands = statement.operands;
  const auto is = [&](uint64_t value) {
    return operands.size() == 1 && operands[0].kind == Kind::kImmediate && operands[0].value == value;
  };
  if (statement.Has("warp")) {
    const bool is_mask_checked_elsewhere = operands.size() == 1 && operands[0].kind == Kind::kArgument;
    if (!statement.Has("sync")) return Unknown(statement);
    if (!is(0xffffffffu) && !is_mask_checked_elsewhere)
      return absl::InvalidArgumentError(
          absl::StrCat("the emulator has ", statement.Name(), " only for all lanes of a warp"));
    CallRuntime(RuntimeFunction::kWarpBarrier, {Site()});
    return absl::OkStatus();
  }
  if (statement.Has("cluster")) {
    const bool arrives = statement.Has("arrive");
    if (arrives == statement.Has("wait") || !operands.empty()) return Unknown(statement);
    Execute(arrives ? "ptx:barrier.cluster.arrive" : "ptx:barrier.cluster.wait", {}, 0);
    return absl::OkStatus();
  }
  const bool waits = statement.Has("sync");
  if (waits == statement.Has("arrive") || operands.empty() || operands.size() > 2) return Unknown(statement);
  if (waits && is(0)) {
    CallRuntime(RuntimeFunction::kBarrier, {Site()});
    return absl::OkStatus();
  }
  auto number = Read(operands[0]);
  if (!number.ok()) return number.status();
  absl::StatusOr<llvm::Value*> threads = b_.getInt64(call_.threads);
  if (operands.size() == 2) threads = Read(operands[1]);
  if (!threads.ok()) return threads.status();
  Execute(waits ? "ptx:barrier.sync 1 1" : "ptx:barrier.arrive 1 1", {*number, *threads}, 0);
  return absl::OkStatus();
}

// "wait_group N" gives registers their accumulators: the outputs of the statement, and the words that its text
// declares.
absl::Status PtxFunction::EmitWgmmaWait(const PtxStatement& statement) {
  if (statement.operands.size() != 1) return Unknown(statement);
  auto pending = Read(statement.operands[0]);
  if (!pending.ok()) return pending.status();
  std::vector<Slot> sums(arguments_.begin(), arguments_.begin() + static_cast<std::ptrdiff_t>(outputs_));
  std::copy_if(registers_.begin(), registers_.end(), std::back_inserter(sums),
               [](const Slot& slot) { return slot.bits == 32; });
  std::vector<llvm::Value*> in = {*pending};
  for (const Slot& sum : sums)
    in.push_back(b_.CreateZExt(b_.CreateLoad(b_.getIntNTy(sum.bits), sum.memory), b_.getInt64Ty()));
  const std::string sizes = absl::StrCat(" ", sums.size(), " 1 ", sums.size());
  const std::vector<llvm::Value*> out = Execute("ptx:" + statement.Name() + sizes, in, sums.size());
  for (size_t i = 0; i < sums.size(); ++i)
    b_.CreateStore(b_.CreateTrunc(out[i], b_.getIntNTy(sums[i].bits)), sums[i].memory);
  return absl::OkStatus();
}

absl::Status PtxFunction::EmitGeneric(const PtxStatement& statement) {
  Form form = FormOf(statement.words[0]);
  if (statement.words.size() > 1 && statement.words[1] == "mma_async") form = Form::kAccumulator;
  if (statement.words.size() > 1 && statement.words[0] == "tcgen05" && statement.words[1] == "ld") form = Form::kResult;
  if (statement.words[0] == "mbarrier" && statement.words.size() > 1)
    form = statement.words[1] == "init" || statement.words[1] == "inval" ? Form::kNoResult : Form::kResult;
  if (form == Form::kNone) return Unknown(statement);
  if (form != Form::kNoResult && statement.operands.empty()) return Unknown(statement);
  std::string name = "ptx:" + statement.Name();
  std::vector<PtxOperand> results;
  std::vector<llvm::Value*> in;
  for (size_t i = 0; i < statement.operands.size(); ++i) {
    const PtxOperand& operand = statement.operands[i];
    const bool is_result = i == 0 && form != Form::kNoResult;
    std::vector<PtxOperand> elements = Elements(operand);
    if (operand.kind == Kind::kAddress && operand.parts.size() > 1) elements = CoordinatesOf(operand);
    absl::StrAppend(&name, " ", elements.size());
    if (is_result) results = elements;
    if (is_result && form == Form::kResult) continue;
    for (const PtxOperand& element : elements) {
      auto value = element.kind == Kind::kAddress ? Address(element) : Read(element, statement.words.back());
      if (!value.ok()) return value.status();
      in.push_back(*value);
    }
  }
  // The condition code is one register more.
  const std::string& opcode = statement.words[0];
  const bool sets_carry = statement.Has("cc");
  if (opcode == "addc" || opcode == "subc" || opcode == "madc")
    in.push_back(b_.CreateZExt(b_.CreateLoad(b_.getInt1Ty(), carry_.memory), b_.getInt64Ty()));
  const std::vector<llvm::Value*> out = Execute(name, in, results.size() + sets_carry);
  if (sets_carry) b_.CreateStore(b_.CreateTrunc(out.back(), b_.getInt1Ty()), carry_.memory);
  for (size_t i = 0; i < results.size(); ++i) {
    if (absl::Status status = Write(results[i], out[i]); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// A program's threads and the grid have one dimension of threads, three of programs.
absl::StatusOr<llvm::Value*> PtxFunction::SpecialRegister(llvm::StringRef name) {
  auto [what, axis_name] = name.split('.');
  const int axis = llvm::StringSwitch<int>(axis_name).Cases({"x", ""}, 0).Case("y", 1).Case("z", 2).Default(-1);
  if (axis < 0) return absl::InvalidArgumentError(absl::StrCat("the emulator has no register %", name.str()));
  const auto thread = [&] { return CallRuntime(RuntimeFunction::kThreadId, {}); };
  llvm::Value* value = nullptr;
  if (what == "tid") value = axis == 0 ? static_cast<llvm::Value*>(thread()) : b_.getInt32(0);
  if (what == "ntid") value = b_.getInt32(axis == 0 ? call_.threads : 1);
  if (what == "laneid") value = b_.CreateAnd(thread(), 31);
  if (what == "warpid") value = b_.CreateLShr(thread(), 5);
  if (what == "nwarpid") value = b_.getInt32((call_.threads + 31) / 32);
  const auto number = [&](int along) -> llvm::Value* {
    return CallRuntime(RuntimeFunction::kProgramId, {b_.getInt32(along)});
  };
  const auto count = [&](int along) -> llvm::Value* {
    return CallRuntime(RuntimeFunction::kNumPrograms, {b_.getInt32(along)});
  };
  const bool has_clusters = axis == 0;  // blocks of a program lie along x
  const auto block = [&]() -> llvm::Value* { return has_clusters ? number(kClusterAxis) : b_.getInt32(0); };
  const auto blocks = [&]() -> llvm::Value* { return has_clusters ? count(kClusterAxis) : b_.getInt32(1); };
  if (what == "clusterid") value = number(axis);
  if (what == "nclusterid") value = count(axis);
  if (what == "ctaid") value = b_.CreateAdd(b_.CreateMul(number(axis), blocks()), block());
  if (what == "nctaid") value = b_.CreateMul(count(axis), blocks());
  if (what == "cluster_ctaid" || what == "cluster_ctarank") value = block();
  if (what == "cluster_nctaid" || what == "cluster_nctarank") value = blocks();
  if (what == "smid") value = b_.getInt32(0);
  if (what == "nsmid") value = b_.getInt32(1);
  if (what == "globaltimer" || what == "clock" || what == "clock64")
    value = Execute(("ptx:" + what + " 1").str(), {}, 1)[0];
  if (!value) return absl::InvalidArgumentError(absl::StrCat("the emulator has no register %", name.str()));
  return b_.CreateZExt(value, b_.getInt64Ty());
}

absl::StatusOr<llvm::Function*> DefinePtxFunction(llvm::Module& module, const PtxCall& call) {
  auto text = ParsePtx(call.text);
  if (!text.ok()) return text.status();
  return PtxFunction(module, call, *text).Define();
}

}  // namespace tritond::compiler::emulated
