// SPDX-License-Identifier: Apache-2.0
// The precompiled header of every test without MLIR.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmake/plain_pch.h"
