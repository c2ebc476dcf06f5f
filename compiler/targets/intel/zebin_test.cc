// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/intel/zebin.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "absl/strings/str_cat.h"

namespace tritond::compiler::intel {
namespace {

using testing::HasSubstr;

constexpr char kInfo[] = R"(---
version:         '1.20'
kernels:
  - name:            other
    execution_env:   { grf_count: 256, simd_size: 32 }
  - name:            kernel
    execution_env:
      barrier_count:   1
      grf_count:       128
      required_work_group_size: [ 64, 1, 1 ]
      simd_size:       16
    per_thread_memory_buffers:
      - type:            scratch
        usage:           single_space
        size:            512
      - type:            scratch
        usage:           spill_fill_space
        size:            8192
...
)";

// A native module whose kernel is called "kernel": the sections "", .text.kernel, .ze_info, .symtab and .strtab. With
// `open`, it leaves a function of that name to others.
std::string Module(const std::string& info, const std::string& open = "", uint16_t machine = 205) {
  const std::string names = std::string("\0.text.kernel\0.ze_info\0.symtab\0.strtab\0kernel\0", 46) + open + '\0';
  const std::string code(16, 'x');
  Elf64_Sym symbols[3] = {};
  symbols[1].st_name = 39;
  symbols[1].st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
  symbols[1].st_shndx = 1;
  symbols[1].st_size = code.size();
  symbols[2].st_name = open.empty() ? 0 : 46;
  symbols[2].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
  const std::string table(reinterpret_cast<const char*>(symbols), sizeof(symbols));
  Elf64_Ehdr header = {};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = header.e_version = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = machine;
  header.e_ehsize = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 5;
  header.e_shstrndx = 4;
  Elf64_Shdr sections[5] = {};
  std::string bytes(sizeof(header), '\0');
  const std::string* contents[] = {nullptr, &code, &info, &table, &names};
  const uint32_t kNames[] = {0, 1, 14, 23, 31}, kTypes[] = {0, SHT_PROGBITS, 0xff000011, SHT_SYMTAB, SHT_STRTAB};
  for (int i = 1; i < 5; ++i) {
    sections[i].sh_name = kNames[i];
    sections[i].sh_type = kTypes[i];
    sections[i].sh_offset = bytes.size();
    sections[i].sh_size = contents[i]->size();
    sections[i].sh_addralign = 1;
    bytes += *contents[i];
    bytes.resize((bytes.size() + 7) / 8 * 8);
  }
  sections[3].sh_entsize = sizeof(Elf64_Sym);
  sections[3].sh_link = 4;
  sections[3].sh_info = 2;
  header.e_shoff = bytes.size();
  memcpy(bytes.data(), &header, sizeof(header));
  return bytes.append(reinterpret_cast<const char*>(sections), sizeof(sections));
}

TEST(Zebin, TellsRegistersAndSpillsOfAKernel) {
  const BinaryResources resources = ResourcesOfNative(Module(kInfo), "kernel");
  EXPECT_EQ(resources.registers, 128);
  EXPECT_EQ(resources.local_bytes, 8192);
  EXPECT_EQ(ResourcesOfNative(Module(kInfo), "other").registers, 256);
  EXPECT_EQ(ResourcesOfNative(Module(kInfo), "other").local_bytes, 0);
  EXPECT_FALSE(ResourcesOfNative(Module(kInfo), "third").registers.has_value());
}

TEST(Zebin, PrefersTheSizeOfSpillsThatNewerModulesHave) {
  const std::string info =
      "kernels:\n  - {name: kernel, execution_env: {grf_count: 256, simd_size: 16, spill_size: 64}}\n";
  EXPECT_EQ(ResourcesOfNative(Module(info), "kernel").local_bytes, 64);
}

TEST(Zebin, ChecksTheKernel) {
  EXPECT_TRUE(CheckNative(Module(kInfo), 16, "kernel").ok()) << CheckNative(Module(kInfo), 16, "kernel");
  const std::pair<absl::Status, const char*> kWrong[] = {
      {CheckNative(Module(kInfo), 32, "kernel"), "made for sub-groups of 16, not of 32"},
      {CheckNative(Module(kInfo), 16, "third"), "third"},
      {CheckNative(Module("kernels: []"), 16, "kernel"), ".ze_info says nothing of 'kernel'"},
      {CheckNative(Module(kInfo, "", 62), 16, "kernel"), "machine 62"},
      {CheckNative(Module(kInfo, "_Z4openv"), 16, "kernel"), "leaves the function _Z4openv open"},
      {CheckNative(Module(kInfo).substr(0, 200), 16, "kernel"), ""},
      {CheckNative("SPIR-V", 16, "kernel"), ""},
  };
  for (const auto& [status, says] : kWrong) {
    EXPECT_TRUE(absl::IsInternal(status)) << says;
    EXPECT_THAT(std::string(status.message()), HasSubstr(says));
  }
}

TEST(Zebin, SaysNothingOfWhatIsNoYaml) {
  for (const std::string& info :
       {std::string(""), std::string("kernels: {"), std::string("- - ["), std::string("kernels: 3"),
        std::string("kernels:\n  - 7\n"), std::string("\0\377", 2), std::string(1000, '[')})
    EXPECT_FALSE(ResourcesOfNative(Module(info), "kernel").registers.has_value()) << info;
}

TEST(Zebin, IsToldFromSpirv) {
  EXPECT_TRUE(IsNative(Module(kInfo)));
  EXPECT_FALSE(IsNative("\x03\x02\x23\x07"));
  EXPECT_FALSE(IsNative(""));
}

}  // namespace
}  // namespace tritond::compiler::intel
