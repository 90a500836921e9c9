// library_hashes OUT FILE...: writes the definition of rules::library_hashes for these files.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "entangle/support/hash.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: library_hashes OUT FILE...\n";
    return 2;
  }
  std::vector<std::uint64_t> hashes;
  for (int k = 2; k < argc; ++k) {
    std::ifstream file(argv[k], std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file) {
      std::cerr << "cannot read " << argv[k] << "\n";
      return 2;
    }
    hashes.push_back(entangle::support::hash_bytes(text));
  }
  std::ranges::sort(hashes);
  std::ofstream out(argv[1], std::ios::binary);
  out << "#include \"rules/library_hashes.h\"\n\n"
         "namespace entangle::rules {\n\n"
         "const std::vector<std::uint64_t>& library_hashes() {\n"
         "  static const std::vector<std::uint64_t> hashes{\n";
  for (const std::uint64_t hash : hashes) out << "      " << hash << "u,\n";
  out << "  };\n  return hashes;\n}\n\n}  // namespace entangle::rules\n";
  return out.flush() ? 0 : 2;
}
