// SPDX-License-Identifier: Apache-2.0
#include "compiler/driver/call_sites.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Location.h"

namespace tritond::compiler {
namespace {

using mlir::CallSiteLoc;
using mlir::Location;

// Whether the place that a location stands for first is one in a file.
bool NamesFile(Location location) {
  return llvm::TypeSwitch<mlir::LocationAttr, bool>(location)
      .Case([](mlir::FileLineColLoc) { return true; })
      .Case([](mlir::NameLoc named) { return NamesFile(named.getChildLoc()); })
      .Case([](CallSiteLoc call) { return NamesFile(call.getCallee()); })
      .Case([](mlir::FusedLoc fused) { return NamesFile(fused.getLocations().front()); })
      .Case([](mlir::OpaqueLoc opaque) { return NamesFile(opaque.getFallbackLocation()); })
      .Default(false);
}

}  // namespace

void DropCalleesWithoutFile(mlir::Operation* root) {
  root->walk([](mlir::Operation* op) {
    Location location = op->getLoc();
    for (auto call = llvm::dyn_cast<CallSiteLoc>(location); call && !NamesFile(call.getCallee());
         call = llvm::dyn_cast<CallSiteLoc>(location))
      location = call.getCaller();
    op->setLoc(location);
  });
}

}  // namespace tritond::compiler
