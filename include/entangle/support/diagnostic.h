// Diagnostics: what is told to the user about their input.
//
// A Diagnostic is a value: a stable id (`rules/unknown-operator`), a severity, a message, the place it is
// about, an optional suggestion and notes with places of their own. Errors at the boundary of a module are
// returned in a Result<T>, never thrown. A Span is small and copyable; the text it points into is kept by the
// process-wide registry of sources for the life of the process. The registry is safe for concurrent use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "entangle/support/check.h"

namespace entangle::support {

using FileId = std::uint32_t;
inline constexpr FileId kNoFile = 0;

// A place in a source. Line and column count from 1 (columns in bytes); line 0 means the file as a whole.
struct Span {
  FileId file = kNoFile;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t length = 0;

  bool operator==(const Span&) const = default;
};

// Registers a source and returns its id. `path` is shown to the user as given.
FileId add_source(std::string path, std::string text);
// The same for a file whose text is read when somebody asks for it; "" if it cannot be read then.
FileId add_source_file(std::string path);
// The path of a registered source; "" for kNoFile.
const std::string& source_path(FileId file);
// The text of a registered source; "" for kNoFile.
const std::string& source_text(FileId file);
// The span of `length` bytes that starts at byte `offset` of a registered source.
Span span_at(FileId file, std::size_t offset, std::size_t length = 1);

enum class Severity { error, warning, note };

struct Note {
  Span span;
  std::string message;
};

struct Diagnostic {
  std::string id;
  Severity severity = Severity::error;
  Span span;
  std::string message;
  std::string suggestion;  // e.g. "did you mean `matmul`?"; empty when there is none
  std::vector<Note> notes;
};

// An error without notes.
Diagnostic error(std::string id, Span span, std::string message, std::string suggestion = {});

// `file:line:column: error: message [id]`, the source line with a caret, the suggestion, the notes.
std::string render(const Diagnostic& diagnostic);

// Either a value or the Diagnostic that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}           // NOLINT(implicit)
  Result(Diagnostic error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(implicit)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() {
    ENTANGLE_CHECK(ok(), "Result::value on an error");
    return std::get<0>(state_);
  }
  const T& value() const {
    ENTANGLE_CHECK(ok(), "Result::value on an error");
    return std::get<0>(state_);
  }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Diagnostic& error() const {
    ENTANGLE_CHECK(!ok(), "Result::error on a value");
    return std::get<1>(state_);
  }
  Diagnostic& error() {
    ENTANGLE_CHECK(!ok(), "Result::error on a value");
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Diagnostic> state_;
};

struct Unit {};
using Status = Result<Unit>;

// The contents of a file, or the diagnostic `support/cannot-read`.
Result<std::string> read_file(const std::string& path);
// Reads and registers a file: its id, or the same diagnostic.
Result<FileId> read_source(const std::string& path);

// The names most like `name` (edit distance), best first, at most `most`; those too different are left out.
std::vector<std::string> nearest(std::string_view name, const std::vector<std::string>& names,
                                 std::size_t most = 3);
// "did you mean `a`, `b` or `c`?", or "" when nothing is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& names);

}  // namespace entangle::support
