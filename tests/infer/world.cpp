#include "world.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "entangle/support/paths.h"
#include "entangle/support/text.h"

namespace entangle::infer::test {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "entangle-infer-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

Engine load(const std::string& path) {
  const rules::Loaded loaded = rules::load_rules({path}, support::rule_folders());
  for (const support::Diagnostic& diagnostic : loaded.diagnostics) {
    MESSAGE(support::render(diagnostic));
  }
  REQUIRE(loaded.ok());
  return Engine::of(loaded.rules);
}

const Engine& default_engine() {
  static const Engine engine = load(ENTANGLE_SOURCE_DIR "/rules/aten.rules");
  return engine;
}

std::string trim(const std::string& text) {
  const auto begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// The pieces between separators that stand outside of brackets and strings.
std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> pieces(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    quoted = quoted != (c == '"');
    if (!quoted) {
      depth += c == '(' || c == '[' || c == '{' ? 1 : 0;
      depth -= c == ')' || c == ']' || c == '}' ? 1 : 0;
      if (c == separator && depth == 0) {
        pieces.emplace_back();
        continue;
      }
    }
    pieces.back() += c;
  }
  for (std::string& piece : pieces) {
    piece = trim(piece);
  }
  std::erase(pieces, "");
  return pieces;
}

std::string in_quotes(const std::string& text) {
  return '"' + text + '"';
}

// JSON with references written `%name`.
std::string with_references(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    std::string name;
    while (i + 1 < text.size() && (std::isalnum(static_cast<unsigned char>(text[i + 1])) != 0 ||
                                   text[i + 1] == '_' || text[i + 1] == '.')) {
      name += text[++i];
    }
    result += R"({"ref": )" + in_quotes(name) + "}";
  }
  return result;
}

// `f32[4, 8]`, `none`, or several of these in parentheses: shape and dtype as JSON.
std::pair<std::string, std::string> type_json(const std::string& text) {
  if (text == "none") {
    return {"null", "null"};
  }
  if (text.starts_with('(')) {
    std::vector<std::string> shapes;
    std::vector<std::string> dtypes;
    for (const std::string& one : split(text.substr(1, text.size() - 2), ',')) {
      const auto [shape, dtype] = type_json(one);
      shapes.push_back(shape);
      dtypes.push_back(dtype);
    }
    return {"[" + support::join(shapes, ", ") + "]", "[" + support::join(dtypes, ", ") + "]"};
  }
  const auto bracket = text.find('[');
  REQUIRE_MESSAGE(bracket != std::string::npos, text);
  return {text.substr(bracket), in_quotes(text.substr(0, bracket))};
}

std::string node_json(const std::string& name, const std::string& op, const std::string& type,
                      const std::string& more) {
  const auto [shape, dtype] = type_json(type);
  return R"({"name": )" + in_quotes(name) + R"(, "op": )" + in_quotes(op) + R"(, "shape": )" + shape +
         R"(, "dtype": )" + dtype + more + "}";
}

// `op(args; key=value, …): type`
std::string call_json(const std::string& name, const std::string& call, const std::string& more) {
  const auto open = call.find('(');
  const auto close = call.rfind("): ");
  REQUIRE_MESSAGE((open != std::string::npos && close != std::string::npos && open <= close), call);
  const std::string inside = call.substr(open + 1, close - open - 1);
  const auto semicolon = inside.find(';');
  std::vector<std::string> keywords;
  if (semicolon != std::string::npos) {
    for (const std::string& keyword : split(inside.substr(semicolon + 1), ',')) {
      const auto equals = keyword.find('=');
      keywords.push_back(in_quotes(keyword.substr(0, equals)) + ": " +
                         with_references(keyword.substr(equals + 1)));
    }
  }
  const std::string args = with_references(support::join(split(inside.substr(0, semicolon), ','), ", "));
  return node_json(
      name, call.substr(0, open), trim(call.substr(close + 3)),
      R"(, "args": [)" + args + R"(], "kwargs": {)" + support::join(keywords, ", ") + "}" + more);
}

}  // namespace

std::string graph_json(const std::string& program, std::size_t rank, std::size_t ranks,
                       const std::string& groups) {
  std::vector<std::string> nodes;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::istringstream lines(program);
  for (std::string line; std::getline(lines, line);) {
    std::string more;
    if (const auto comment = line.find("//"); comment != std::string::npos) {
      more += R"(, "loc": )" + in_quotes(trim(line.substr(comment + 2)));
      line.resize(comment);
    }
    if (const auto bar = line.find('|'); bar != std::string::npos) {
      more += ", " + line.substr(bar + 1);
      line.resize(bar);
    }
    line = trim(line);
    if (line.starts_with("out ")) {
      for (const std::string& output : split(line.substr(4), ',')) {
        outputs.push_back(in_quotes(output));
      }
    } else if (line.starts_with("in ")) {
      const auto colon = line.find(':');
      const std::string name = trim(line.substr(3, colon - 3));
      inputs.push_back(in_quotes(name));
      nodes.push_back(node_json(name, "placeholder", trim(line.substr(colon + 1)), more));
    } else if (!line.empty()) {
      const auto equals = line.find(" = ");
      REQUIRE_MESSAGE(equals != std::string::npos, line);
      nodes.push_back(call_json(trim(line.substr(0, equals)), trim(line.substr(equals + 3)), more));
    }
  }
  std::string members;
  for (std::size_t r = 0; r < ranks; ++r) {
    members += (r == 0 ? "" : ", ") + std::to_string(r);
  }
  return R"({"format": "entangle-graph", "version": 1, "name": "test", "rank": )" + std::to_string(rank) +
         R"(, "world_size": )" + std::to_string(ranks) + R"(, "source": "pytorch", "groups": )" +
         (groups.empty() ? R"({"tp": [)" + members + "]}" : groups) + R"(, "inputs": [)" +
         support::join(inputs, ", ") + R"(], "outputs": [)" + support::join(outputs, ", ") +
         "],\n\"nodes\": [\n" + support::join(nodes, ",\n") + "\n]}\n";
}

support::Result<Verdict> run(const Case& test, const CheckOptions& options) {
  const Folder folder;
  folder.write("sequential.json", graph_json(test.sequential, 0, 1));
  for (std::size_t rank = 0; rank < test.ranks.size(); ++rank) {
    folder.write("r" + std::to_string(rank) + ".json",
                 graph_json(test.ranks[rank], rank, test.ranks.size(), test.groups));
  }
  const std::string path =
      folder.write("manifest.yaml", "sequential: sequential.json\ndistributed: r{rank}.json\nranks: " +
                                        std::to_string(test.ranks.size()) + "\n" + test.manifest);
  const auto manifest = relation::read_manifest(path);
  if (!manifest) {
    return manifest.error();
  }
  const Engine engine = test.rules.empty() ? default_engine() : load(folder.write("own.rules", test.rules));
  support::Result<Verdict> result = check(*manifest, engine, options);
  if (result) {
    CHECK(result->manifest == path);
    CHECK(result->ranks == static_cast<int>(test.ranks.size()));
    result->manifest = "manifest.yaml";
  }
  return result;
}

Verdict verdict(const Case& test, const CheckOptions& options) {
  support::Result<Verdict> result = run(test, options);
  if (!result) {
    FAIL(support::render(result.error()));
  }
  return std::move(*result);
}

std::string outcome(const Case& test) {
  const auto result = run(test);
  return result ? to_string(result->kind) : result.error().id;
}

std::string to_string(VerdictKind kind) {
  constexpr const char* kNames[] = {"refines", "violates", "unproved"};
  return kNames[static_cast<std::size_t>(kind)];
}

const OutputReport& only_output(const Verdict& verdict) {
  REQUIRE(verdict.outputs.size() == 1);
  return verdict.outputs.front();
}

bool has(const std::vector<std::string>& texts, const std::string& text) {
  return std::ranges::find(texts, text) != texts.end();
}

std::vector<std::string> each(std::size_t count, const std::function<std::string(std::size_t)>& program) {
  std::vector<std::string> programs;
  for (std::size_t rank = 0; rank < count; ++rank) {
    programs.push_back(program(rank));
  }
  return programs;
}

std::vector<std::string> copies(std::size_t count, const std::string& program) {
  return std::vector<std::string>(count, program);
}

Case same(const std::string& program, std::size_t ranks) {
  return {program, copies(ranks, program), "inputs:\n  x: Replicate\n", "", ""};
}

Case uses(const std::string& call) {
  return same("in x: f32[4]\nr = " + call +
              ": f32[4] // model.py:1\ny = aten.add.Tensor(%x, %r): f32[4]\nout y");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  REQUIRE_MESSAGE(text.find(from) != std::string::npos, from);
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace entangle::infer::test
