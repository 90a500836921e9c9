#include "json.h"

#include <memory>
#include <optional>
#include <type_traits>
#include <unordered_set>

namespace entangle::graph::json {

using support::Diagnostic;
using support::FileId;

const Value* Value::find(std::string_view key) const {
  for (const Member& member : members) {
    if (member.key.text == key) {
      return &member.value;
    }
  }
  return nullptr;
}

std::string_view describe(Kind kind) {
  switch (kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return "a truth value";
    case Kind::number:
      return "a number";
    case Kind::string:
      return "a text";
    case Kind::array:
      return "a list";
    case Kind::object:
      return "an object";
  }
  return "";
}

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
// In a text: stands for itself, and is not its end.
bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

// The length of the UTF-8 sequence at the start of `text`, 0 when it is not valid.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  if (first >= 0xC2 && first < 0xE0) {
    return follows(1) ? 2 : 0;
  }
  if (first >= 0xE0 && first < 0xF0) {
    const bool overlong = first == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = first == 0xED && byte(1) >= 0xA0;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first < 0xF5) {
    const bool overlong = first == 0xF0 && byte(1) < 0x90;
    const bool too_large = first == 0xF4 && byte(1) >= 0x90;
    return follows(1) && follows(2) && follows(3) && !overlong && !too_large ? 4 : 0;
  }
  return 0;
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto tail = [&](unsigned shift) {
    out.push_back(static_cast<char>(0x80U | ((code >> shift) & 0x3FU)));
  };
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xC0U | (code >> 6U)));
    tail(0);
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xE0U | (code >> 12U)));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0U | (code >> 18U)));
    tail(12);
    tail(6);
    tail(0);
  }
}

class Parser {
 public:
  Parser(FileId file, std::string_view text, const Model* model) : file_(file), text_(text), model_(model) {}

  support::Result<Document> run() {
    skip_space();
    constexpr std::size_t kFirstBlock = 1 << 16;
    document_.memory = std::make_unique<std::pmr::monotonic_buffer_resource>(kFirstBlock);
    if (!value(document_.root, 0)) {
      return *error_;
    }
    skip_space();
    if (at_ < text_.size()) {
      fail("the file goes on after its value");
      return *error_;
    }
    return std::move(document_);
  }

 private:
  bool fail(std::string message, std::size_t offset, std::string id = "graph/json-syntax") {
    if (!error_) {
      error_ = support::error(std::move(id), support::span_at(file_, offset), std::move(message));
    }
    return false;
  }
  bool fail(std::string message) {
    if (at_ >= text_.size()) {
      return fail("the file ends too early: " + message, at_);
    }
    return fail(std::move(message), at_);
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  bool value(Value& out, int depth) {
    if (depth > kMaxDepth) {
      return fail("nested more than " + std::to_string(kMaxDepth) + " deep", at_, "graph/json-depth");
    }
    out.offset = static_cast<std::uint32_t>(at_);
    out.length = 1;
    const char c = peek();
    if (c == '{') {
      return object(out, depth);
    }
    if (c == '[') {
      return array(out, depth);
    }
    if (c == '"') {
      return string(out);
    }
    if (c == '-' || is_digit(c)) {
      return number(out);
    }
    return word(out);
  }

  bool word(Value& out) {
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) {
      ++end;
    }
    const std::string_view name = text_.substr(at_, end - at_);
    if (name == "true" || name == "false") {
      out.kind = Kind::boolean;
      out.truth = name == "true";
    } else if (name == "null") {
      out.kind = Kind::null;
    } else if (name == "NaN" || name == "Infinity") {
      out.kind = Kind::number;
      out.text = name;
    } else {
      return fail("expected a value");
    }
    finish(out, end);
    return true;
  }

  bool number(Value& out) {
    std::size_t end = at_ + (peek() == '-' ? 1 : 0);
    const auto digits = [&] {
      const std::size_t begin = end;
      while (end < text_.size() && is_digit(text_[end])) {
        ++end;
      }
      return end > begin;
    };
    const auto next_is = [&](char c) { return end < text_.size() && text_[end] == c; };
    out.kind = Kind::number;
    if (text_.substr(end).starts_with("Infinity")) {
      end += 8;
      out.text = text_.substr(at_, end - at_);
      finish(out, end);
      return true;
    }
    const bool leading_zero = next_is('0');
    const std::size_t first = end;
    if (!digits()) {
      return fail("expected a digit", end);
    }
    if (leading_zero && end > first + 1) {
      return fail("a number does not start with 0", first);
    }
    if (next_is('.')) {
      ++end;
      if (!digits()) {
        return fail("expected a digit", end);
      }
    }
    if (next_is('e') || next_is('E')) {
      ++end;
      if (next_is('+') || next_is('-')) {
        ++end;
      }
      if (!digits()) {
        return fail("expected a digit", end);
      }
    }
    out.text = text_.substr(at_, end - at_);
    finish(out, end);
    return true;
  }

  void finish(Value& out, std::size_t end) {
    out.length = static_cast<std::uint32_t>(end - at_);
    at_ = end;
  }

  bool string(Value& out) {
    out.kind = Kind::string;
    const std::size_t open = at_;
    std::size_t at = at_ + 1;
    std::string* changed = nullptr;
    std::size_t copied = at;  // up to where the text is in *changed
    while (true) {
      if (at >= text_.size()) {
        return fail("this text does not end", open);
      }
      const char c = text_[at];
      if (c == '"') {
        break;
      }
      if (is_plain(c)) {
        ++at;
        continue;
      }
      if (c == '\\') {
        if (changed == nullptr) {
          changed = &document_.unescaped.emplace_back();
        }
        changed->append(text_.substr(copied, at - copied));
        if (!escape(at, *changed)) {
          return false;
        }
        copied = at;
        continue;
      }
      if (static_cast<unsigned char>(c) < 0x20) {
        return fail("a control character inside a text (is the closing quote missing?)", at);
      }
      const std::size_t length = utf8_length(text_.substr(at, 4));
      if (length == 0) {
        return fail("this is not UTF-8", at);
      }
      at += length;
    }
    if (changed != nullptr) {
      changed->append(text_.substr(copied, at - copied));
      out.text = *changed;
    } else {
      out.text = text_.substr(open + 1, at - open - 1);
    }
    finish(out, at + 1);
    return true;
  }

  std::optional<std::uint32_t> hex4(std::size_t at) const {
    std::uint32_t code = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
      const char c = i < text_.size() ? text_[i] : '\0';
      code <<= 4U;
      if (is_digit(c)) {
        code += static_cast<std::uint32_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        code += static_cast<std::uint32_t>(c - 'a' + 10);
      } else if (c >= 'A' && c <= 'F') {
        code += static_cast<std::uint32_t>(c - 'A' + 10);
      } else {
        return std::nullopt;
      }
    }
    return code;
  }

  // `at` is at the backslash and moves behind the escape.
  bool escape(std::size_t& at, std::string& out) {
    const std::size_t begin = at;
    const char c = at + 1 < text_.size() ? text_[at + 1] : '\0';
    static constexpr std::string_view kFrom = "\"\\/bfnrt";
    static constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
    if (const std::size_t i = kFrom.find(c); c != '\0' && i != std::string_view::npos) {
      out.push_back(kTo[i]);
      at += 2;
      return true;
    }
    std::optional<std::uint32_t> code = c == 'u' ? hex4(at + 2) : std::nullopt;
    if (!code) {
      return fail("not an escape of JSON", begin);
    }
    at += 6;
    if (*code >= 0xD800 && *code < 0xE000) {
      const std::optional<std::uint32_t> low =
          *code < 0xDC00 && text_.substr(at, 2) == "\\u" ? hex4(at + 2) : std::nullopt;
      if (!low || *low < 0xDC00 || *low >= 0xE000) {
        return fail("half of a surrogate pair", begin);
      }
      code = 0x10000 + ((*code - 0xD800) << 10U) + (*low - 0xDC00);
      at += 6;
    }
    append_utf8(out, *code);
    return true;
  }

  // Whether the model's object of this place stands here; passes over it.
  bool in_model(std::size_t place, Value& out) {
    if (model_ == nullptr || place >= model_->objects.size() || model_->objects[place].length == 0) {
      return false;
    }
    const auto [offset, length] = model_->objects[place];
    if (text_.substr(at_, length) != model_->source.substr(offset, length)) {
      return false;
    }
    out.kind = Kind::object;
    out.truth = true;
    out.offset = static_cast<std::uint32_t>(at_);
    out.length = 1;
    at_ += length;
    out.end = static_cast<std::uint32_t>(at_);
    return true;
  }

  bool array(Value& out, int depth) {
    out.kind = Kind::array;
    ++at_;
    skip_space();
    if (peek() == ']') {
      ++at_;
      return true;
    }
    const std::size_t begin = items_.size();
    while (true) {
      Value item;
      if (!(depth == 1 && in_model(items_.size() - begin, item)) && !value(item, depth + 1)) {
        return false;
      }
      items_.push_back(item);
      skip_space();
      if (peek() == ']') {
        ++at_;
        out.end = static_cast<std::uint32_t>(at_);
        out.items = keep(items_, begin);
        return true;
      }
      if (peek() != ',') {
        return fail("expected `,` or `]`");
      }
      ++at_;
      skip_space();
    }
  }

  bool object(Value& out, int depth) {
    out.kind = Kind::object;
    ++at_;
    skip_space();
    if (peek() == '}') {
      ++at_;
      return true;
    }
    const std::size_t begin = members_.size();
    while (true) {
      if (peek() != '"') {
        return fail("expected a key in quotes");
      }
      Member member;
      member.key.offset = static_cast<std::uint32_t>(at_);
      if (!string(member.key)) {
        return false;
      }
      skip_space();
      if (peek() != ':') {
        return fail("expected `:`");
      }
      ++at_;
      skip_space();
      if (!value(member.value, depth + 1)) {
        return false;
      }
      members_.push_back(member);
      skip_space();
      if (peek() == '}') {
        ++at_;
        out.end = static_cast<std::uint32_t>(at_);
        out.members = keep(members_, begin);
        return unique_keys(out);
      }
      if (peek() != ',') {
        return fail("expected `,` or `}`");
      }
      ++at_;
      skip_space();
    }
  }

  // Moves the entries from `begin` on, which are complete, to the document.
  template <class T>
  std::span<const T> keep(std::vector<T>& open, std::size_t begin) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t count = open.size() - begin;
    auto* kept = static_cast<T*>(document_.memory->allocate(count * sizeof(T), alignof(T)));
    std::uninitialized_copy(open.begin() + static_cast<std::ptrdiff_t>(begin), open.end(), kept);
    open.resize(begin);
    return {kept, count};
  }

  bool unique_keys(const Value& object) {
    const std::size_t count = object.members.size();
    const auto twice = [&](const Member& member) {
      return fail("the key `" + std::string(member.key.text) + "` stands twice in this object",
                  member.key.offset, "graph/duplicate-key");
    };
    if (count <= 16) {
      for (std::size_t i = 1; i < count; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          if (object.members[i].key.text == object.members[j].key.text) {
            return twice(object.members[i]);
          }
        }
      }
      return true;
    }
    std::unordered_set<std::string_view> seen;
    for (const Member& member : object.members) {
      if (!seen.insert(member.key.text).second) {
        return twice(member);
      }
    }
    return true;
  }

  FileId file_;
  std::string_view text_;
  const Model* model_;
  std::size_t at_ = 0;
  Document document_;
  // Entries of the arrays and objects that are not closed yet.
  std::vector<Value> items_;
  std::vector<Member> members_;
  std::optional<Diagnostic> error_;
};

}  // namespace

support::Result<Document> parse(FileId file, const Model* model) {
  return Parser(file, support::source_text(file), model).run();
}

}  // namespace entangle::graph::json
