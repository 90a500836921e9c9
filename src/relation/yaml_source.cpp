#include "relation/yaml_source.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "relation/failure.h"

namespace entangle::relation {

using support::FileId;
using support::Span;

namespace {

// The byte at which a mark stands; npos beyond the end.
std::size_t offset_of(const YAML::Mark& mark, std::string_view text) {
  std::size_t offset = 0;
  for (int line = 0; line < mark.line; ++line) {
    offset = text.find('\n', offset);
    if (offset == std::string_view::npos) return offset;
    ++offset;
  }
  offset += static_cast<std::size_t>(mark.column);
  return offset <= text.size() ? offset : std::string_view::npos;
}

}  // namespace

Span span_of(const YAML::Mark& mark, FileId file) {
  if (mark.is_null()) return {file, 0, 0, 0};
  return {file, static_cast<std::uint32_t>(mark.line) + 1, static_cast<std::uint32_t>(mark.column) + 1, 1};
}

Span span_of(const YAML::Node& node, FileId file) {
  Span span = span_of(node.Mark(), file);
  if (span.line == 0 || !node.IsScalar()) return span;
  const std::string_view source = support::source_text(file);
  const std::string& text = node.Scalar();
  std::size_t offset = offset_of(node.Mark(), source);
  if (offset == std::string_view::npos || text.empty()) return span;
  if (source[offset] == '"' || source[offset] == '\'') ++offset;
  if (text.find('\n') != std::string::npos || source.substr(offset, text.size()) != text) return span;
  return support::span_at(file, offset, text.size());
}

Text text_of(const YAML::Node& node, FileId file) {
  return {node.Scalar(), span_of(node, file)};
}

std::string describe(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Map:
      return "a mapping";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Scalar:
      return node.Scalar().empty() ? "an empty text" : "`" + node.Scalar() + "`";
    default:
      return "an empty value";
  }
}

YAML::Node load_document(FileId file) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(support::source_text(file));
    if (documents.empty()) fail(Problem::not_a_mapping, {file, 0, 0, 0}, "the manifest is empty");
    if (documents.size() > 1) {
      fail(Problem::yaml_syntax, span_of(documents[1].Mark(), file),
           "a second document: a manifest is one document", "write one file per manifest");
    }
    return documents[0];
  } catch (const YAML::Exception& exception) {
    std::string message = exception.msg;
    while (message.ends_with('.')) message.pop_back();
    fail(Problem::yaml_syntax, span_of(exception.mark, file), "not valid YAML: " + message);
  }
}

}  // namespace entangle::relation
