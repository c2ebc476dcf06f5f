// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file | FileCheck %s
// RUN: triton-opt %s -split-input-file | triton-opt -split-input-file | FileCheck %s

// Clusters, in the newest spelling and that of releases up to 3.6; copies are a zero basis.
//   CHECK-DAG: #[[A:blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 2], order = [1, 0], CGALayout = {{\[\[}}0, 1], [1, 0]]}>
//   CHECK-DAG: #[[B:blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 2], order = [1, 0], CGALayout = {{\[\[}}1, 0], [0, 0]]}>
//       CHECK: @clusters
//  CHECK-SAME:   tensor<32x32xf32, #[[A]]>, %arg1: tensor<32x32xf32, #[[A]]>, %arg2: tensor<32x32xf32, #[[B]]>
#a = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 2], order = [1, 0], CGALayout = [[0, 1], [1, 0]]}>
#b = #triton_gpu.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 2], order = [1, 0], CTAsPerCGA = [2, 2], CTASplitNum = [2, 2], CTAOrder = [1, 0]}>
#c = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 2], order = [1, 0], CTAsPerCGA = [4, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>
tt.func @clusters(%x: tensor<32x32xf32, #a>, %y: tensor<32x32xf32, #b>, %z: tensor<32x32xf32, #c>) { tt.return }

// -----

// Matrix units.
//   CHECK-DAG: #[[V2:mma[0-9]*]] = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
//   CHECK-DAG: #[[V3:mma[0-9]*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
//       CHECK: @nvidia
//  CHECK-SAME:   #ttg.dot_op<{opIdx = 0, parent = #[[V3]], kWidth = 2}>>
//  CHECK-SAME:   #ttg.slice<{dim = 1, parent = #[[V2]]}>>
#v2 = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#v3 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
tt.func @nvidia(%a: tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #v3, kWidth = 2}>>, %b: tensor<64xf32, #ttg.slice<{dim = 1, parent = #v2}>>) { tt.return }

// -----

//   CHECK-DAG: #[[A:mma[0-9]*]] = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
//   CHECK-DAG: #[[B:mma[0-9]*]] = #ttg.amd_mfma<{version = 2, warpsPerCTA = [4, 1], instrShape = [16, 16], isTransposed = false, tilesPerWarp = [2, 1], elementBitWidth = 64}>
//   CHECK-DAG: #[[C:mma[0-9]*]] = #ttg.amd_wmma<{version = 1, isTranspose = false, ctaLayout = {register = [], warp = {{\[\[}}0, 1], [1, 0]]}}>
//   CHECK-DAG: #[[D:mma[0-9]*]] = #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {register = {{\[\[}}0, 1]], warp = {{\[\[}}0, 2], [1, 0]]}, instrShape = [16, 16, 32]}>
//   CHECK-DAG: #[[E:mma[0-9]*]] = #ttg.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, threadsPerWarp = 16, warpsPerCTA = [4, 1], repCluster = [2, 2]}>
//       CHECK: @others
//  CHECK-SAME:   tensor<64x64xf32, #[[A]]>, %arg1: tensor<64x64xf64, #[[B]]>, %arg2: tensor<64x64xf32, #[[C]]>, %arg3: tensor<64x64xf32, #[[D]]>, %arg4: tensor<64x64xf32, #[[E]]>
//  CHECK-SAME:   #ttg.dot_op<{opIdx = 1, parent = #[[E]], kWidth = 2}>
#a = #ttg.amd_mfma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#b = #ttg.amd_mfma<{version = 2, warpsPerCTA = [4, 1], instrShape = [16, 16], isTransposed = false, tilesPerWarp = [2, 1], elementBitWidth = 64}>
#c = #ttg.amd_wmma<{version = 1, isTranspose = false, warpsPerCTA = [2, 2]}>
#d = #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {register = [[0, 1]], warp = [[0, 2], [1, 0]]}, instrShape = [16, 16, 32]}>
#e = #ttig.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, threadsPerWarp = 16, warpsPerCTA = [4, 1], repCluster = [2, 2], A = [16, 16], B = [16, 32], C = [16, 32]}>
tt.func @others(%a: tensor<64x64xf32, #a>, %b: tensor<64x64xf64, #b>, %c: tensor<64x64xf32, #c>, %d: tensor<64x64xf32, #d>,
                %e: tensor<64x64xf32, #e>, %f: tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #e, kWidth = 2}>>) { tt.return }

// -----

// Shared memory.
//   CHECK-DAG: #[[A:shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
//   CHECK-DAG: #[[B:shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 32, rank = 3}>
//   CHECK-DAG: #[[C:shared[0-9]*]] = #ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>
//   CHECK-DAG: #[[D:shared[0-9]*]] = #ttg.padded_shared<[2:+4, 4:+8] {offset = {{\[\[}}0, 1], [1, 0], [0, 2]], block = []}>
//   CHECK-DAG: #[[E:shared[0-9]*]] = #ttg.shared_linear<{offset = {{\[\[}}0, 1], [0, 2], [1, 1]], block = []}, alignment = 64>
//   CHECK-DAG: #[[F:shared[0-9]*]] = #ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>
//   CHECK-DAG: #[[G:shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, fp4Padded = true}>
//       CHECK: @buffers
//  CHECK-SAME:   memdesc<64x64xf16, #[[A]], #smem>, %arg1: !ttg.memdesc<8x4x16xf32, #[[B]], #smem>, %arg2: !ttg.memdesc<64x64xf16, #[[C]], #smem>
//  CHECK-SAME:   memdesc<2x4xf16, #[[D]], #smem>, %arg4: !ttg.memdesc<2x4xf16, #[[E]], #smem>, %arg5: !ttg.memdesc<64x64xf16, #[[F]], #smem>, %arg6: !ttg.memdesc<8x64xi8, #[[G]], #smem>
#a = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0]}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 32, rank = 3}>
#c = #ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>
#d = #ttg.padded_shared<[2:+4, 4:+8] {offset = [[0, 1], [1, 0], [0, 2]], block = []}>
#e = #ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 1]]}, alignment = 64>
#f = #ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>
#g = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, fp4Padded = true}>
#smem = #ttg.shared_memory
tt.func @buffers(%a: !ttg.memdesc<64x64xf16, #a, #smem>, %b: !ttg.memdesc<8x4x16xf32, #b, #smem>, %c: !ttg.memdesc<64x64xf16, #c, #smem>,
                 %d: !ttg.memdesc<2x4xf16, #d, #smem>, %e: !ttg.memdesc<2x4xf16, #e, #smem>, %f: !ttg.memdesc<64x64xf16, #f, #smem>,
                 %g: !ttg.memdesc<8x64xi8, #g, #smem>) { tt.return }
