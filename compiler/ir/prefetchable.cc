// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/prefetchable.h"

#include "compiler/ir/prefetchable.cc.inc"
