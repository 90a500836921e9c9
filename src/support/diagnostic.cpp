#include "entangle/support/diagnostic.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>
#include <shared_mutex>

#include "entangle/support/text.h"

namespace entangle::support {

namespace {

std::vector<std::size_t> line_starts_of(const std::string& text) {
  std::vector<std::size_t> result = {0};
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
    result.push_back(at + 1);
  }
  return result;
}

struct Source {
  explicit Source(std::string where) : path(std::move(where)) {}
  Source(std::string where, std::string contents)
      : path(std::move(where)), text(std::move(contents)), line_starts(line_starts_of(text)) {
    std::call_once(read, [] {});
  }

  void read_text() {
    std::call_once(read, [this] {
      if (Result<std::string> contents = read_file(path)) text = std::move(*contents);
      line_starts = line_starts_of(text);
    });
  }

  std::string path;
  std::once_flag read;
  std::string text;
  std::vector<std::size_t> line_starts;
};

// Sources are never removed and a deque never moves its elements, so references into it stay valid.
struct Registry {
  std::shared_mutex mutex;
  std::deque<Source> sources;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

Source& registered(FileId file) {
  static Source none{{}, {}};
  if (file == kNoFile) {
    return none;
  }
  Registry& all = registry();
  const std::shared_lock lock(all.mutex);
  ENTANGLE_CHECK(file <= all.sources.size(), "a file id that no source has");
  return all.sources[file - 1];
}

// With its text.
const Source& source(FileId file) {
  Source& result = registered(file);
  result.read_text();
  return result;
}

template <class... Arguments>
FileId add(Arguments&&... arguments) {
  Registry& all = registry();
  const std::unique_lock lock(all.mutex);
  all.sources.emplace_back(std::forward<Arguments>(arguments)...);
  return static_cast<FileId>(all.sources.size());
}

std::string_view line_text(const Source& source, std::uint32_t line) {
  const std::size_t start = source.line_starts[line - 1];
  std::string_view text = std::string_view(source.text).substr(start);
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) {
    text.remove_suffix(1);
  }
  return text;
}

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
  }
  return "error";
}

std::string location(Span span) {
  std::string result = source_path(span.file);
  if (span.file != kNoFile && span.line > 0) {
    result += ':' + std::to_string(span.line) + ':' + std::to_string(span.column);
  }
  return result.empty() ? result : result + ": ";
}

// The number of bytes that are shown in one column: continuation bytes of UTF-8 take none.
bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
}

// A line, or of a long one (a JSON file is often one line) what stands around the column, which follows.
std::string clipped(std::string_view text, std::size_t& column) {
  constexpr std::size_t kLong = 240;
  constexpr std::size_t kBefore = 60;
  constexpr std::size_t kShown = 160;
  if (text.size() <= kLong) {
    return std::string(text);
  }
  const auto to_character = [&](std::size_t at) {
    while (at < text.size() && !starts_character(text[at])) {
      ++at;
    }
    return at;
  };
  const std::size_t begin = column <= kBefore ? 0 : to_character(column - kBefore);
  const std::size_t end = to_character(std::min(begin + kShown, text.size()));
  const std::string before = begin == 0 ? "" : "...";
  column = std::min(column, end) - begin + before.size();
  return before + std::string(text.substr(begin, end - begin)) + (end == text.size() ? "" : "...");
}

// The source line and, below it, a caret with as many tildes as the span is long.
std::string excerpt(Span span) {
  if (span.file == kNoFile || span.line == 0) {
    return {};
  }
  const Source& file = source(span.file);
  if (span.line > file.line_starts.size()) {
    return {};
  }
  const std::string_view line = line_text(file, span.line);
  std::size_t column = std::min<std::size_t>(std::max<std::uint32_t>(span.column, 1) - 1, line.size());
  const std::string text = clipped(line, column);
  const std::string number = std::to_string(span.line);
  const std::string margin(std::max<std::size_t>(number.size(), 4), ' ');
  std::string result = std::string(margin.size() - number.size(), ' ') + number + " | " + text + "\n";
  result += margin + " | ";
  for (const char c : std::string_view(text).substr(0, column)) {
    if (c == '\t') {
      result += '\t';
    } else if (starts_character(c)) {
      result += ' ';
    }
  }
  result += '^';
  const std::string_view covered =
      std::string_view(text).substr(column, std::max<std::uint32_t>(span.length, 1));
  const auto width =
      static_cast<std::size_t>(std::count_if(covered.begin(), covered.end(), starts_character));
  result += std::string(width > 1 ? width - 1 : 0, '~');
  return result + "\n";
}

// Edits (insert, delete, replace, swap two neighbours) from one to the other, ignoring case at half the
// price.
std::size_t distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    table[i][0] = 2 * i;
  }
  for (std::size_t j = 0; j <= b.size(); ++j) {
    table[0][j] = 2 * j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t price = a[i - 1] == b[j - 1] ? 0 : lower(a[i - 1]) == lower(b[j - 1]) ? 1 : 2;
      table[i][j] = std::min({table[i - 1][j] + 2, table[i][j - 1] + 2, table[i - 1][j - 1] + price});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 2);
      }
    }
  }
  return table[a.size()][b.size()];
}

}  // namespace

FileId add_source(std::string path, std::string text) {
  return add(std::move(path), std::move(text));
}

FileId add_source_file(std::string path) {
  return add(std::move(path));
}

const std::string& source_path(FileId file) {
  return registered(file).path;
}

const std::string& source_text(FileId file) {
  return source(file).text;
}

Span span_at(FileId file, std::size_t offset, std::size_t length) {
  if (file == kNoFile) {
    return {};
  }
  const Source& text = source(file);
  offset = std::min(offset, text.text.size());
  const auto next = std::upper_bound(text.line_starts.begin(), text.line_starts.end(), offset);
  const auto line = static_cast<std::size_t>(next - text.line_starts.begin());
  return {file, static_cast<std::uint32_t>(line),
          static_cast<std::uint32_t>(offset - text.line_starts[line - 1] + 1),
          static_cast<std::uint32_t>(length)};
}

Diagnostic error(std::string id, Span span, std::string message, std::string suggestion) {
  return {std::move(id), Severity::error, span, std::move(message), std::move(suggestion), {}};
}

std::string render(const Diagnostic& diagnostic) {
  std::string result = location(diagnostic.span);
  result += severity_name(diagnostic.severity);
  result += ": " + diagnostic.message;
  if (!diagnostic.id.empty()) {
    result += " [" + diagnostic.id + "]";
  }
  result += "\n" + excerpt(diagnostic.span);
  if (!diagnostic.suggestion.empty()) {
    result += "  help: " + diagnostic.suggestion + "\n";
  }
  for (const Note& note : diagnostic.notes) {
    result += location(note.span) + "note: " + note.message + "\n" + excerpt(note.span);
  }
  return result;
}

// Of a pipe it is not known that it ends.
constexpr std::size_t kMostOfPipe = std::size_t{1} << 30U;
// Places in a text are numbers of 32 bits.
constexpr std::size_t kMostOfFile = (std::size_t{1} << 32U) - 1;

Result<std::string> read_file(const std::string& path) {
  const auto failed = [&](const std::string& reason) {
    return error("support/cannot-read", {}, "cannot read " + path + ": " + reason);
  };
  // Without waiting for somebody to open the other end of a pipe.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return failed(std::strerror(errno));
  struct Closing {
    int file;
    ~Closing() { ::close(file); }
  } const closing{file};
  struct stat status {};
  if (::fstat(file, &status) != 0) return failed(std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return failed("it is a folder");
  const bool pipe = S_ISFIFO(status.st_mode);
  if (!pipe && !S_ISREG(status.st_mode)) return failed("it is neither a file nor a pipe");
  if (pipe && ::fcntl(file, F_SETFL, 0) != 0) return failed(std::strerror(errno));
  const auto too_large = [&](std::size_t size) { return !pipe && size > kMostOfFile; };
  const char* const kTooLarge = "it is larger than 4 GiB";
  if (too_large(static_cast<std::size_t>(std::max<off_t>(status.st_size, 0)))) return failed(kTooLarge);
  // The size is a hint: pipes have none, and files may grow.
  std::string text(static_cast<std::size_t>(std::max<off_t>(status.st_size, 0)) + 1, '\0');
  std::size_t size = 0;
  while (true) {
    const ssize_t got = ::read(file, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(std::strerror(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (pipe && size > kMostOfPipe) return failed("more than 1 GiB comes out of this pipe");
    if (too_large(size)) return failed(kTooLarge);
    if (size == text.size()) text.resize(2 * size);
  }
  if (pipe && size == 0) return failed("nothing comes out of this pipe");
  text.resize(size);
  return text;
}

Result<FileId> read_source(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text) {
    return text.error();
  }
  return add_source(path, std::move(*text));
}

std::vector<std::string> nearest(std::string_view name, const std::vector<std::string>& names,
                                 std::size_t most) {
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& other : names) {
    const std::size_t longest = std::max(name.size(), other.size());
    const std::size_t shortest = std::min(name.size(), other.size());
    const std::size_t allowed = std::max<std::size_t>(2, 2 * (longest / 3));  // half-edits
    if (longest > 200 || 2 * (longest - shortest) > allowed) {
      continue;
    }
    const std::size_t edits = distance(name, other);
    // A name of which every character is replaced is not near, however short.
    if (edits <= allowed && edits < 2 * longest) {
      near.emplace_back(edits, other);
    }
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  std::vector<std::string> result;
  for (std::size_t i = 0; i < near.size() && i < most; ++i) {
    result.push_back(near[i].second);
  }
  return result;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& other : nearest(name, names)) {
    std::string one = "`";
    one += other;
    one += '`';
    quoted.push_back(std::move(one));
  }
  return quoted.empty() ? "" : "did you mean " + join_list(quoted, " or ") + "?";
}

}  // namespace entangle::support
