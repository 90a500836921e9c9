// JSON text as a tree that knows where everything stands.
//
// Strict (RFC 8259) but for the numbers NaN, Infinity and -Infinity, which Python writes. Numbers keep their
// text, so that nothing is rounded. Keys of an object are unique. The tree points into the registered source,
// which lives as long as the process, and into the Document.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "entangle/support/diagnostic.h"

namespace entangle::graph::json {

enum class Kind : std::uint8_t { null, boolean, number, string, array, object };

struct Value;
struct Member;

struct Value {
  Kind kind = Kind::null;
  bool truth = false;               // boolean; object: stands in the model
  std::uint32_t offset = 0;         // of the text in the source, and
  std::uint32_t length = 0;         // its length; arrays and objects: the opening bracket
  std::uint32_t end = 0;            // arrays and objects: behind the closing bracket
  std::string_view text;            // number: as written; string: without quotes and escapes
  std::span<const Value> items;     // array
  std::span<const Member> members;  // object, in order

  // Null when there is no such key.
  const Value* find(std::string_view key) const;
  bool is(Kind which) const { return kind == which; }
};

struct Member {
  Value key;  // a string
  Value value;
};

struct Document {
  Value root;
  std::deque<std::string> unescaped;
  // What the spans of the tree point into.
  std::unique_ptr<std::pmr::monotonic_buffer_resource> memory;
};

inline constexpr int kMaxDepth = 200;

// `a list`, `a text`, …, for messages.
std::string_view describe(Kind kind);

// Texts of objects that were parsed in another file and need not be parsed again.
struct Model {
  std::string_view source;
  struct Text {
    std::uint32_t offset = 0, length = 0;  // 0: none
  };
  // By their places in a list that is an entry of the root.
  std::vector<Text> objects;
};

// With a model, an object that begins with the text at its place there is marked (`truth`) and has no
// members: an object ends where its text does, so it is the same.
support::Result<Document> parse(support::FileId file, const Model* model = nullptr);

}  // namespace entangle::graph::json
