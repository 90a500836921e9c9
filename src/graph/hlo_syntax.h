// HLO text as it is written: a module of computations of instructions, with the place of everything.
//
// Nothing is interpreted here but brackets and sizes: an attribute's value is the text between its brackets
// (hlo_values.h reads it). The tree points into the registered source, which lives as long as the process.
// Cost: linear in the text.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "entangle/support/diagnostic.h"

namespace entangle::graph::hlo {

// A piece of the source.
struct Text {
  std::string_view text;
  std::uint32_t offset = 0;
};

// `f32[2,<=8]{1,0}`, or a tuple of such.
struct Shape {
  std::string_view dtype;
  std::vector<std::int64_t> sizes;
  bool dynamic = false;     // some size is only a bound
  std::string_view layout;  // between its braces; null when none is written
  bool tuple = false;
  std::vector<Shape> parts;
  Text text;
};

struct Operand {
  Text name;           // without `%`; of a parameter its number
  bool typed = false;  // written with its shape (not of tuples)
  Shape shape;
};

struct Attribute {
  std::string_view name;
  Text value;
};

struct Instruction {
  Text name;  // without `%`
  bool root = false;
  Shape shape;
  Text opcode;
  std::vector<Operand> operands;
  Text arguments;  // what stands between the parentheses
  std::vector<Attribute> attributes;

  // Null when there is none.
  const Attribute* find(std::string_view attribute) const;
};

struct Computation {
  Text name;  // without `%`
  bool entry = false;
  std::vector<Instruction> instructions;
  std::unordered_map<std::string_view, std::uint32_t> index;  // by name
  std::uint32_t root = 0;
  std::vector<std::uint32_t> parameters;  // by number
};

// A row of the tables behind the header: `3 {file_name_id=1 line=17}`, `1 "model.py"`.
using Table = std::unordered_map<std::int64_t, Text>;

struct Module {
  Text name;
  std::vector<Attribute> attributes;
  Table files;
  Table locations;
  Table frames;
  std::vector<Computation> computations;
  std::unordered_map<std::string_view, std::uint32_t> index;  // by name
  std::uint32_t entry = 0;
};

// The name without the `%` it may begin with.
Text without_percent(Text name);

// The module, with names that are unique and roots and parameters that exist.
support::Result<Module> parse(support::FileId file);

}  // namespace entangle::graph::hlo
