// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/elf_image.h"

#include <elf.h>

#include <cstring>
#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

using ::testing::HasSubstr;

template <typename T>
void Append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

Elf64_Shdr Section(uint32_t type, uint64_t offset, uint64_t size, uint32_t link = 0, uint64_t entry = 0) {
  Elf64_Shdr section{};
  section.sh_type = type;
  section.sh_offset = offset;
  section.sh_size = size;
  section.sh_link = link;
  section.sh_entsize = entry;
  return section;
}

// A file with 16 bytes of code, a defined function "kernel", a variable "data" and an open function "other".
std::string Sample() {
  std::string bytes(sizeof(Elf64_Ehdr), '\0');
  const uint64_t code = bytes.size();
  bytes.append(16, '\x90');
  const std::string names("\0kernel\0data\0other\0", 19);
  const uint64_t strings = bytes.size();
  bytes.append(names);
  const uint64_t table = bytes.size();
  auto symbol = [&](uint32_t name, unsigned char type, uint16_t section, uint64_t size) {
    Elf64_Sym entry{};
    entry.st_name = name;
    entry.st_info = ELF64_ST_INFO(STB_GLOBAL, type);
    entry.st_shndx = section;
    entry.st_size = size;
    Append(bytes, entry);
  };
  symbol(0, STT_NOTYPE, SHN_UNDEF, 0);
  symbol(1, STT_FUNC, 1, 16);
  symbol(8, STT_OBJECT, 1, 4);
  symbol(13, STT_FUNC, SHN_UNDEF, 0);
  const uint64_t symbols = bytes.size() - table;
  Elf64_Ehdr header{};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = kElfMachineCuda;
  header.e_version = EV_CURRENT;
  header.e_flags = 0x06005a04;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shoff = bytes.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  Append(bytes, Section(SHT_NULL, 0, 0));
  Append(bytes, Section(SHT_PROGBITS, code, 16));
  Append(bytes, Section(SHT_STRTAB, strings, names.size()));
  Append(bytes, Section(SHT_SYMTAB, table, symbols, 2, sizeof(Elf64_Sym)));
  memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

TEST(ElfImage, TellsMachineAndFunctions) {
  const std::string bytes = Sample();
  auto image = ElfImage::Parse(bytes);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->machine(), kElfMachineCuda);
  EXPECT_EQ(image->flags(), 0x06005a04u);
  EXPECT_TRUE(image->RequireFunction("kernel").ok());
}

TEST(ElfImage, AKernelMustBeAFunctionOfTheFile) {
  const std::string bytes = Sample();
  auto image = ElfImage::Parse(bytes);
  ASSERT_TRUE(image.ok()) << image.status();
  for (const char* name : {"data", "other", "kern", ""})
    EXPECT_TRUE(absl::IsInternal(image->RequireFunction(name))) << name;
}

// ptxas 12.8 writes 128 there. No other assembler does the like.
TEST(ElfImage, TheVersionOfACubinMayBeTheReleaseOfItsAssembler) {
  std::string bytes = Sample();
  const uint32_t release = 128;
  memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_version), &release, sizeof(release));
  absl::StatusOr<ElfImage> image = ElfImage::Parse(bytes);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_TRUE(image->RequireFunction("kernel").ok());
  const uint16_t machine = EM_AMDGPU;
  memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof(machine));
  EXPECT_THAT(std::string(ElfImage::Parse(bytes).status().message()), HasSubstr("unknown version"));
}

TEST(ElfImage, AnEmptyFileIsNone) {
  EXPECT_THAT(std::string(ElfImage::Parse("").status().message()), HasSubstr("it is empty"));
  EXPECT_THAT(std::string(ElfImage::Parse("Usage: ptxas").status().message()), HasSubstr("ends within the header"));
  EXPECT_THAT(std::string(ElfImage::Parse(std::string(4096, ' ')).status().message()), HasSubstr("begin as one"));
}

TEST(ElfImage, ACutFileIsNone) {
  const std::string bytes = Sample();
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(ElfImage::Parse(bytes.substr(0, size)).ok()) << size;
}

TEST(ElfImage, AFunctionThatEndsOutsideItsSectionIsNotDefined) {
  std::string bytes = Sample();
  const size_t size = sizeof(Elf64_Ehdr) + 16 + 19 + sizeof(Elf64_Sym) + offsetof(Elf64_Sym, st_size);
  ASSERT_EQ(bytes[size], 16);
  bytes[size] = 17;
  auto image = ElfImage::Parse(bytes);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_FALSE(image->RequireFunction("kernel").ok());
}

// Whatever the bytes, the answer is a status: the test looks for reads outside, which its guard and sanitizers tell.
TEST(ElfImage, SurvivesRandomDamage) {
  const std::string sound = Sample();
  std::mt19937 random(1);
  int refused = 0, taken = 0;
  for (int iteration = 0; iteration < 200000; ++iteration) {
    // A copy of exactly its size on the heap, so that a read after its end is one outside an allocation.
    std::vector<char> bytes(sound.begin(), sound.end());
    for (int left = 1 + random() % 4; left > 0; --left) {
      const size_t at = random() % bytes.size();
      switch (random() % 3) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes[at] = static_cast<char>(0xff);
          break;
        default:
          bytes.resize(at + 1);
      }
    }
    auto image = ElfImage::Parse(absl::string_view(bytes.data(), bytes.size()));
    if (image.ok()) {
      ++taken;
      for (const ElfImage::Symbol& symbol : image->symbols()) {
        if (symbol.name.empty()) continue;
        ASSERT_GE(symbol.name.data(), bytes.data());
        ASSERT_LE(symbol.name.data() + symbol.name.size(), bytes.data() + bytes.size());
      }
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(taken, 1000);
}

}  // namespace
}  // namespace tritond::compiler
