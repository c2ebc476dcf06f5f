// SPDX-License-Identifier: Apache-2.0
// Tells the run-time of every access to global and shared memory before it happens, and where in the source it is.
//
//   %x = load <4 x i32>, ptr addrspace(3) %p, !dbg !7
//
//   @site = private constant { ptr, ptr, i32, i32 } { ptr @file, ptr @function, i32 12, i32 5 }
//   %q = addrspacecast ptr addrspace(3) %p to ptr
//   call void @tritond.check_access(ptr @site, ptr %q, i64 16, i32 4), !dbg !7
//   %x = load <4 x i32>, ptr addrspace(3) %p, !dbg !7
//
// This happens before optimisation: what the source accesses is checked, not what is left of it. Predicated accesses
// are in functions that check themselves, and get the place as an argument, as do all calls that tell a place.
#include "compiler/targets/host/codegen.h"
#include "compiler/targets/host/runtime.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/Path.h"

namespace tritond::compiler::host {
namespace {

// The constants that describe places, one for each.
class Sites {
 public:
  explicit Sites(llvm::Module& module) : module_(module), context_(module.getContext()) {}

  // The site of `instruction`: what its debug location says, else the function's name alone.
  llvm::Constant* SiteOf(const llvm::Instruction& instruction) {
    std::string file;
    llvm::StringRef function = instruction.getFunction()->getName();
    unsigned line = 0, column = 0;
    if (const llvm::DILocation* location = instruction.getDebugLoc()) {
      file = FileOf(*location);
      line = location->getLine();
      column = location->getColumn();
      if (const llvm::DISubprogram* subprogram = location->getScope()->getSubprogram())
        function = subprogram->getName();
    }
    return Get(file, function, line, column);
  }

 private:
  // MLIR's name of a file that it does not know is no file.
  static std::string FileOf(const llvm::DILocation& location) {
    llvm::SmallString<128> path = location.getDirectory();
    llvm::sys::path::append(path, location.getFilename());
    return path == "<unknown>" ? "" : path.str().str();
  }

  llvm::Constant* Get(llvm::StringRef file, llvm::StringRef function, unsigned line, unsigned column) {
    llvm::Constant* name = String(function);
    llvm::Constant*& site = sites_[{String(file), {name, {line, column}}}];
    if (site) return site;
    llvm::Type* i32 = llvm::Type::getInt32Ty(context_);
    llvm::Constant* fields[] = {String(file), name, llvm::ConstantInt::get(i32, line),
                                llvm::ConstantInt::get(i32, column)};
    return site = Constant(llvm::ConstantStruct::getAnon(fields), "tritond.place");
  }

  llvm::Constant* String(llvm::StringRef text) {
    llvm::Constant*& string = strings_[text];
    if (!string) string = Constant(llvm::ConstantDataArray::getString(context_, text), "tritond.text");
    return string;
  }

  llvm::Constant* Constant(llvm::Constant* value, const char* name) {
    return new llvm::GlobalVariable(module_, value->getType(), /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                    value, name);
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::StringMap<llvm::Constant*> strings_;
  llvm::DenseMap<std::pair<llvm::Constant*, std::pair<llvm::Constant*, std::pair<unsigned, unsigned>>>, llvm::Constant*>
      sites_;
};

// One access by an instruction: `type` or, for block transfers, `bytes` at `pointer`.
struct Access {
  llvm::Value* pointer;
  llvm::Type* type;
  llvm::Value* bytes;
  uint32_t kind;
};

// Scopes of a part of the device, as LLVM's back ends name them; other threads of the device may not see the update.
uint32_t ScopeOf(const llvm::Instruction& atomic, llvm::SyncScope::ID id) {
  const llvm::StringRef scope = atomic.getContext().getSyncScopeName(id).value_or("");
  for (const char* part : {"singlethread", "wavefront", "subgroup", "workgroup"})
    if (scope.starts_with(part)) return kWorkGroupAccess;
  return 0;
}

llvm::SmallVector<Access, 2> AccessesOf(llvm::Instruction& instruction) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return {{load->getPointerOperand(), load->getType(), nullptr, load->isAtomic() ? kAtomicAccess : kReadAccess}};
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return {{store->getPointerOperand(), store->getValueOperand()->getType(), nullptr,
             store->isAtomic() ? kAtomicAccess : kWriteAccess}};
  if (auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return {{rmw->getPointerOperand(), rmw->getType(), nullptr, kAtomicAccess | ScopeOf(*rmw, rmw->getSyncScopeID())}};
  if (auto* cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return {{cas->getPointerOperand(), cas->getNewValOperand()->getType(), nullptr,
             kAtomicAccess | ScopeOf(*cas, cas->getSyncScopeID())}};
  llvm::SmallVector<Access, 2> accesses;
  if (auto* transfer = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
    if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(transfer))
      accesses.push_back({copy->getRawSource(), nullptr, copy->getLength(), kReadAccess});
    accesses.push_back({transfer->getRawDest(), nullptr, transfer->getLength(), kWriteAccess});
  }
  return accesses;
}

void CheckBefore(llvm::Instruction& instruction, const Access& access, Sites& sites) {
  const unsigned space = access.pointer->getType()->getPointerAddressSpace();
  if (space != 1 && space != 3) return;
  // A table of the module's own.
  if (llvm::isa<llvm::GlobalVariable>(llvm::getUnderlyingObject(access.pointer))) return;
  llvm::Module& module = *instruction.getModule();
  llvm::IRBuilder<> b(&instruction);
  const uint32_t kind = space == 3 ? (access.kind & ~kWorkGroupAccess) | kSharedAccess : access.kind;
  llvm::Value* bytes = access.type ? b.getInt64(module.getDataLayout().getTypeStoreSize(access.type).getFixedValue())
                                   : b.CreateZExtOrTrunc(access.bytes, b.getInt64Ty());
  b.CreateCall(
      DeclareRuntime(module, RuntimeFunction::kCheckAccess),
      {sites.SiteOf(instruction), b.CreateAddrSpaceCast(access.pointer, b.getPtrTy()), bytes, b.getInt32(kind)});
}

// Null stands for the place of the call itself; a function that got a place hands it on.
void TellSite(llvm::CallInst& call, Sites& sites) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee || !callee->hasFnAttribute(kSiteAttr) || call.arg_empty()) return;
  if (llvm::isa<llvm::ConstantPointerNull>(call.getArgOperand(0))) call.setArgOperand(0, sites.SiteOf(call));
}

}  // namespace

void InstrumentAccesses(llvm::Module& module) {
  Sites sites(module);
  for (llvm::Function& function : module) {
    const bool checks_itself = function.hasFnAttribute(kSiteAttr);
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) TellSite(*call, sites);
      if (checks_itself) continue;
      for (const Access& access : AccessesOf(instruction)) CheckBefore(instruction, access, sites);
    }
  }
}

}  // namespace tritond::compiler::host
