// SPDX-License-Identifier: Apache-2.0
// The layout of the structures is that of <elf.h>. They are copied out of the bytes, which need not be aligned. No sum
// of two numbers of the file is formed before both are known to be small.
#include "compiler/targets/elf_image.h"

#include <elf.h>

#include <cstring>

#include "absl/strings/str_cat.h"

namespace tritond::compiler {
namespace {

absl::Status Wrong(absl::string_view what) { return absl::InternalError(absl::StrCat("not a sound ELF file: ", what)); }

bool Within(uint64_t offset, uint64_t size, uint64_t total) { return offset <= total && size <= total - offset; }

// The structure at `offset`; the caller knows that it lies within the bytes.
template <typename T>
T At(absl::string_view bytes, uint64_t offset) {
  T value;
  memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

bool HasBytes(const Elf64_Shdr& section) { return section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL; }

absl::StatusOr<Elf64_Ehdr> ReadHeader(absl::string_view bytes) {
  if (bytes.empty()) return Wrong("it is empty");
  if (bytes.size() < sizeof(Elf64_Ehdr)) return Wrong("it ends within the header");
  const auto header = At<Elf64_Ehdr>(bytes, 0);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return Wrong("it does not begin as one");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return Wrong("it does not have 64 bits and little-endian numbers");
  // ptxas before CUDA 13 writes its own release into e_version: 128 for 12.8.
  if (header.e_ident[EI_VERSION] != EV_CURRENT ||
      (header.e_machine != kElfMachineCuda && header.e_version != EV_CURRENT))
    return Wrong("unknown version");
  if (header.e_ehsize != sizeof(Elf64_Ehdr)) return Wrong("the header's size is wrong");
  if (header.e_phnum != 0 && (header.e_phentsize != sizeof(Elf64_Phdr) ||
                              !Within(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), bytes.size())))
    return Wrong("the program headers lie outside");
  return header;
}

absl::Status CheckSegments(absl::string_view bytes, const Elf64_Ehdr& header) {
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = At<Elf64_Phdr>(bytes, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!Within(segment.p_offset, segment.p_filesz, bytes.size()))
      return Wrong(absl::StrCat("segment ", i, " lies outside"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Elf64_Shdr>> ReadSections(absl::string_view bytes, const Elf64_Ehdr& header) {
  if (header.e_shnum == 0 || header.e_shentsize != sizeof(Elf64_Shdr) ||
      !Within(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr), bytes.size()))
    return Wrong("the section headers are missing or lie outside");
  std::vector<Elf64_Shdr> sections;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = At<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (HasBytes(section) && !Within(section.sh_offset, section.sh_size, bytes.size()))
      return Wrong(absl::StrCat("section ", i, " lies outside"));
    sections.push_back(section);
  }
  return sections;
}

// The string at `offset` of a table; empty when it does not end within it.
absl::string_view StringAt(absl::string_view table, uint64_t offset) {
  if (offset >= table.size()) return absl::string_view();
  const absl::string_view rest = table.substr(offset);
  const size_t end = rest.find('\0');
  return end == absl::string_view::npos ? absl::string_view() : rest.substr(0, end);
}

std::vector<ElfImage::Section> NamedSections(absl::string_view bytes, const Elf64_Ehdr& header,
                                             const std::vector<Elf64_Shdr>& sections) {
  const auto bytes_of = [&](const Elf64_Shdr& section) {
    return HasBytes(section) ? bytes.substr(section.sh_offset, section.sh_size) : absl::string_view();
  };
  const absl::string_view names =
      header.e_shstrndx < sections.size() ? bytes_of(sections[header.e_shstrndx]) : absl::string_view();
  std::vector<ElfImage::Section> named;
  for (const Elf64_Shdr& section : sections) named.push_back({StringAt(names, section.sh_name), bytes_of(section)});
  return named;
}

// A relocatable file counts a symbol's value from the start of its section, any other one from its address.
bool IsDefined(const Elf64_Sym& symbol, const Elf64_Ehdr& header, const std::vector<Elf64_Shdr>& sections) {
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= sections.size()) return false;
  const Elf64_Shdr& section = sections[symbol.st_shndx];
  if (section.sh_type != SHT_PROGBITS || section.sh_size == 0) return false;
  const uint64_t start = header.e_type == ET_DYN ? section.sh_addr : 0;
  return symbol.st_value >= start && Within(symbol.st_value - start, symbol.st_size, section.sh_size);
}

absl::Status ReadSymbols(absl::string_view bytes, const Elf64_Ehdr& header, const std::vector<Elf64_Shdr>& sections,
                         const Elf64_Shdr& table, std::vector<ElfImage::Symbol>* symbols) {
  if (table.sh_entsize != sizeof(Elf64_Sym) || table.sh_size % sizeof(Elf64_Sym) != 0)
    return Wrong("the symbol table's size is wrong");
  if (table.sh_link >= sections.size() || sections[table.sh_link].sh_type != SHT_STRTAB)
    return Wrong("the symbol table has no names");
  const Elf64_Shdr& names = sections[table.sh_link];
  const absl::string_view strings = bytes.substr(names.sh_offset, names.sh_size);
  for (uint64_t at = 0; at < table.sh_size; at += sizeof(Elf64_Sym)) {
    const auto symbol = At<Elf64_Sym>(bytes, table.sh_offset + at);
    if (symbol.st_name >= strings.size() && symbol.st_name != 0) return Wrong("a symbol's name lies outside");
    symbols->push_back({StringAt(strings, symbol.st_name), ELF64_ST_TYPE(symbol.st_info) == STT_FUNC,
                        IsDefined(symbol, header, sections), symbol.st_shndx == SHN_UNDEF});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ElfImage> ElfImage::Parse(absl::string_view bytes) {
  absl::StatusOr<Elf64_Ehdr> header = ReadHeader(bytes);
  if (!header.ok()) return header.status();
  if (absl::Status status = CheckSegments(bytes, *header); !status.ok()) return status;
  absl::StatusOr<std::vector<Elf64_Shdr>> sections = ReadSections(bytes, *header);
  if (!sections.ok()) return sections.status();
  ElfImage image;
  image.type_ = header->e_type;
  image.machine_ = header->e_machine;
  image.flags_ = header->e_flags;
  image.abi_version_ = header->e_ident[EI_ABIVERSION];
  image.sections_ = NamedSections(bytes, *header, *sections);
  for (const uint32_t kind : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (const Elf64_Shdr& section : *sections) {
      if (section.sh_type != kind) continue;
      absl::Status status = ReadSymbols(bytes, *header, *sections, section, &image.symbols_);
      if (!status.ok()) return status;
      break;  // A file has one of each kind.
    }
  }
  return image;
}

absl::Status ElfImage::RequireFunction(absl::string_view name) const {
  for (const Symbol& symbol : symbols_) {
    if (symbol.name == name && symbol.function && symbol.defined && !name.empty()) return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat("the binary defines no function '", name, "', the kernel"));
}

}  // namespace tritond::compiler
