// Manifest: which programs are compared and how the sequential tensors are laid out over the ranks, as
// written.
//
// read_manifest checks everything that needs neither graphs nor rules: YAML syntax, keys, types, ranks
// against mesh, the syntax of placements and of `assume`. Names and expressions are resolved later
// (resolve.h). Every entry keeps the place it was written at. Errors are `relation/…` diagnostics
// (diagnostics.h); the first one in the file's order is returned. Reading costs time linear in the file; safe
// for concurrent use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "entangle/support/diagnostic.h"
#include "entangle/sym/int.h"

namespace entangle::relation {

// A text of the manifest and where it stands (without its quotes).
struct Text {
  std::string text;
  support::Span span;
};

// How a tensor is spread over a line of ranks.
struct Placement {
  enum class Kind : std::uint8_t { replicate, shard, partial };
  Kind kind = Kind::replicate;
  int dim = 0;  // shard; may be negative

  bool operator==(const Placement&) const = default;
};

// `Replicate`, `Shard(0)`, `Partial`.
std::string to_string(const Placement& placement);

struct MeshAxis {
  std::string name;
  std::size_t size = 1;
  support::Span span;
};

// The ranks as a grid, row-major: the last axis changes fastest from rank to rank.
using Mesh = std::vector<MeshAxis>;

// One thing a tensor is said to equal.
struct Form {
  enum class Kind : std::uint8_t {
    placement,   // over all ranks, in rank order
    mesh,        // one placement per mesh axis
    expression,  // written out, over leaves r<rank>.<name>
  };
  Kind kind = Kind::expression;
  std::vector<Placement> placements;  // placement: one; mesh: one per axis of the mesh, in its order
  std::string text;                   // as written
  support::Span span;
};

// `name: …`; the forms are alternatives, each of which equals the tensor.
struct Entry {
  Text name;  // a tensor's name or a glob
  std::vector<Form> forms;
};

// A line of `assume`.
struct Assumption {
  enum class Kind : std::uint8_t {
    equal,       // left == right: two sizes, or, where both are names of tensors, two tensors
    less_equal,  // left <= right: sizes
    divides,     // left divides right: sizes
    range,       // every element of the integer tensor `left_name` is in [low, high]
    pure,        // the framework operator `left_name` is a deterministic function of operands and attributes
    dropout,     // at its k-th call a dropout masks an element as its sequential counterpart
  };
  Kind kind = Kind::equal;
  // Sizes: symbols are `s0` of the sequential graph and `r0.s0` of a rank's.
  sym::Int left, right;
  // The sides of `equal` where they are mere names (possibly of tensors), the tensor of `range`, the operator
  // of `pure`; "" otherwise.
  std::string left_name, right_name;
  // `range`, inclusive.
  std::optional<sym::Int> low, high;
  std::string text;  // as written
  support::Span span;
};

struct Manifest {
  enum class Distributed : std::uint8_t {
    one,       // a single file: every rank runs it, with its own number (or there is one rank)
    per_rank,  // one file each
  };

  std::string path;    // as given to read_manifest
  std::string folder;  // of the manifest, "" for the current one
  support::FileId file = support::kNoFile;

  Text sequential;  // a path as written; resolve it with path_of
  Distributed distribution = Distributed::one;
  std::vector<Text> distributed;  // one path, or one per rank; `{rank}` is replaced
  std::size_t ranks = 1;
  Mesh mesh;                // empty: none
  std::vector<Text> rules;  // as written; empty: the default
  std::vector<Assumption> assume;
  std::vector<Text> outputs;
  // In the order of the file. Names are unique within a section.
  std::vector<Entry> inputs, given, expect;

  // A path as the manifest means it: relative paths start at the manifest's folder.
  std::string path_of(const std::string& written) const;
  // The file that a rank runs.
  const Text& file_of_rank(std::size_t rank) const;
};

// Reads and registers the file.
support::Result<Manifest> read_manifest(const std::string& path);
// The same for a text; `path` is shown in diagnostics and gives the folder.
support::Result<Manifest> read_manifest_text(const std::string& path, const std::string& text);

// One line of `assume`; `at` is the span of the text.
support::Result<Assumption> parse_assumption(const std::string& text, support::Span at);

}  // namespace entangle::relation
