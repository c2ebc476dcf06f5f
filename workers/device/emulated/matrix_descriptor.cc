// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/matrix_descriptor.h"

#include <cstring>

namespace tritond::workers::emulated {
namespace {

double Number(const char* at, const PtxType& type) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, type.bits / 8);
  if (type.kind == 'f') return FloatOf(bits, type);
  return type.kind == 's' ? static_cast<double>(static_cast<int8_t>(bits)) : static_cast<double>(bits);
}

MatrixDescriptor WithoutSwizzle(uint64_t bits) {
  MatrixDescriptor descriptor;
  descriptor.start = (bits & 0x3fff) << 4;
  descriptor.leading = (bits >> 16 & 0x3fff) << 4;
  descriptor.stride = (bits >> 32 & 0x3fff) << 4;
  return descriptor;
}

}  // namespace

MatrixDescriptor MatrixDescriptor::OfWgmma(uint64_t bits) {
  MatrixDescriptor descriptor = WithoutSwizzle(bits);
  const int widths[] = {16, 128, 64, 32};
  descriptor.swizzle = widths[bits >> 62];
  return descriptor;
}

// Bits 46-48 are 1. The emulator has neither base offsets, absolute leading dimensions, nor swizzles of 32 bytes.
bool MatrixDescriptor::OfTcgen05(uint64_t bits, MatrixDescriptor* descriptor) {
  *descriptor = WithoutSwizzle(bits);
  const int widths[] = {16, 0, 128, 0, 64, 0, 32, 0};
  descriptor->swizzle = widths[bits >> 61];
  return (bits >> 46 & 0x7fff) == 1 && descriptor->swizzle != 0;
}

uint64_t MatrixDescriptor::AddressOf(int row, int k, int bytes, bool along_k) const {
  uint64_t offset;
  if (swizzle == 16) {
    const int inner = along_k ? k * bytes : row * bytes, outer = along_k ? row : k;
    const uint64_t inner_step = along_k ? leading : stride, outer_step = along_k ? stride : leading;
    offset = inner / 16 * inner_step + outer / 8 * outer_step + outer % 8 * 16 + inner % 16;
  } else if (along_k) {
    offset = row / 8 * stride + row % 8 * swizzle + static_cast<uint64_t>(k) * bytes;
  } else {
    const int per_column = swizzle / bytes;
    offset =
        row / per_column * leading + k / 8 * stride + k % 8 * swizzle + static_cast<uint64_t>(row % per_column) * bytes;
  }
  uint64_t address = start + offset;
  address ^= (address >> 7 & (swizzle / 16 - 1)) << 4;
  return address;
}

const char* MatrixPart::At(Machine& machine, int thread, const TritondHostSite* site, int row, int column, int bytes,
                           Fault* fault) const {
  const uint64_t address = descriptor.AddressOf(first + row, column, type.bits / 8, along_k);
  return ends_by_mbarrier ? machine.PeekSharedAsync(thread, site, address, bytes, fault)
                          : machine.ReadSharedAsync(thread, site, address, bytes, fault);
}

Fault MatrixPart::Read(Machine& machine, int thread, const TritondHostSite* site, std::vector<double>* numbers) const {
  numbers->resize(rows * k);
  const int bytes = type.bits / 8;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < k; ++c) {
      Fault fault;
      const char* at = At(machine, thread, site, r, c, bytes, &fault);
      if (fault) return fault;
      (*numbers)[r * k + c] = Number(at, type);
    }
  }
  return absl::nullopt;
}

Fault MatrixPart::Check(Machine& machine, int thread, const TritondHostSite* site) const {
  constexpr int kPieceBytes = 16;  // which no swizzle takes apart
  const int bytes = type.bits / 8, piece = kPieceBytes / bytes;
  for (int r = 0; r < rows; r += along_k ? 1 : piece) {
    for (int c = 0; c < k; c += along_k ? piece : 1) {
      Fault fault;
      At(machine, thread, site, r, c, kPieceBytes, &fault);
      if (fault) return fault;
    }
  }
  return absl::nullopt;
}

}  // namespace tritond::workers::emulated
