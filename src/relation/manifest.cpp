#include "entangle/relation/manifest.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "entangle/support/text.h"
#include "relation/failure.h"
#include "relation/form.h"
#include "relation/yaml_source.h"

namespace entangle::relation {

namespace {

using support::FileId;
using support::Span;
using support::trim;

constexpr std::size_t kMostRanks = 65536;
constexpr std::string_view kRankPattern = "{rank}";

const std::vector<std::string>& keys() {
  static const std::vector<std::string> all = {"sequential", "distributed", "ranks",  "rules", "mesh",
                                               "assume",     "outputs",     "inputs", "given", "expect"};
  return all;
}

std::string ticked(std::string_view text) {
  return "`" + std::string(text) + "`";
}

// Calls visit(key text, value) for the entries of a mapping, in order; keys are scalars and unique.
template <class Visit>
void for_each_entry(const YAML::Node& map, FileId file, Visit visit) {
  std::set<std::string> seen;
  for (const auto& entry : map) {
    if (!entry.first.IsScalar()) {
      fail(Problem::wrong_type, span_of(entry.first, file),
           "a key must be a text, not " + describe(entry.first));
    }
    const Text key = text_of(entry.first, file);
    if (!seen.insert(key.text).second) {
      fail(Problem::duplicate_key, key.span, ticked(key.text) + " stands here a second time");
    }
    visit(key, entry.second);
  }
}

class Reader {
 public:
  Reader(FileId file, Manifest& manifest) : file_(file), manifest_(manifest) {}

  void read() {
    const YAML::Node document = load_document(file_);
    if (!document.IsMap()) {
      fail(Problem::not_a_mapping, span_of(document, file_),
           "a manifest is a mapping from keys to values, not " + describe(document));
    }
    std::vector<std::pair<Text, YAML::Node>> values;
    for_each_entry(document, file_, [&](const Text& key, const YAML::Node& value) {
      if (std::find(keys().begin(), keys().end(), key.text) == keys().end()) {
        std::string suggestion = support::did_you_mean(key.text, keys());
        if (suggestion.empty()) suggestion = "the keys are " + support::join_list(keys());
        fail(Problem::unknown_key, key.span, "manifests have no key " + ticked(key.text),
             std::move(suggestion));
      }
      values.emplace_back(key, value);
    });
    // The mesh first: placements refer to it.
    for (const auto& [key, value] : values) {
      if (key.text == "mesh") read_mesh(value, key.span);
    }
    for (const auto& [key, value] : values) read_value(key, value);
    for (const char* key : {"sequential", "distributed"}) {
      if (std::none_of(values.begin(), values.end(),
                       [&](const auto& value) { return value.first.text == key; })) {
        fail(Problem::missing_key, {file_, 0, 0, 0}, "the manifest has no key " + ticked(key));
      }
    }
    settle_ranks();
  }

 private:
  void read_value(const Text& key, const YAML::Node& value) {
    if (key.text == "sequential") {
      manifest_.sequential = read_text(value, key);
    } else if (key.text == "distributed") {
      distributed_span_ = key.span;
      distributed_ = read_texts(value, key);
      listed_ = value.IsSequence();
      if (distributed_.empty()) wrong_type(value, key, "the ranks' files");
    } else if (key.text == "ranks") {
      read_ranks(value, key);
    } else if (key.text == "rules") {
      manifest_.rules = read_texts(value, key);
    } else if (key.text == "outputs") {
      manifest_.outputs = read_texts(value, key);
    } else if (key.text == "assume") {
      for (const Text& text : read_texts(value, key)) {
        manifest_.assume.push_back(unwrap(parse_assumption(text.text, text.span)));
      }
    } else if (key.text == "inputs") {
      manifest_.inputs = read_entries(value, key);
    } else if (key.text == "given") {
      manifest_.given = read_entries(value, key);
    } else if (key.text == "expect") {
      manifest_.expect = read_entries(value, key);
    }
  }

  [[noreturn]] void wrong_type(const YAML::Node& value, const Text& key, const std::string& expected) const {
    const Span span = value.IsNull() ? key.span : span_of(value, file_);
    fail(Problem::wrong_type, span, ticked(key.text) + " needs " + expected + ", not " + describe(value));
  }

  Text read_text(const YAML::Node& value, const Text& key) const {
    if (!value.IsScalar() || value.Scalar().empty()) wrong_type(value, key, "a text");
    return text_of(value, file_);
  }

  // A list of texts; a single text counts as a list of one, nothing as an empty list.
  std::vector<Text> read_texts(const YAML::Node& value, const Text& key) const {
    if (value.IsNull()) return {};
    if (value.IsScalar()) return {read_text(value, key)};
    if (!value.IsSequence()) wrong_type(value, key, "a list of texts");
    std::vector<Text> result;
    for (const YAML::Node& item : value) {
      if (!item.IsScalar() || item.Scalar().empty()) {
        fail(Problem::wrong_type, span_of(item.IsNull() ? value : item, file_),
             ticked(key.text) + " needs a list of texts, but an entry is " + describe(item),
             item.IsMap() ? "quote a text that holds `: `" : "");
      }
      result.push_back(text_of(item, file_));
    }
    return result;
  }

  std::size_t read_count(const YAML::Node& value, const Text& key) const {
    std::size_t count = 0;
    if (value.IsScalar()) {
      const std::string_view text = trim(value.Scalar());
      const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), count);
      if (code == std::errc() && end == text.data() + text.size() && count >= 1 && count <= kMostRanks)
        return count;
    }
    fail(Problem::bad_ranks, value.IsNull() ? key.span : span_of(value, file_),
         ticked(key.text) + " must be an integer from 1 to " + std::to_string(kMostRanks) + ", not " +
             describe(value));
  }

  void read_ranks(const YAML::Node& value, const Text& key) {
    ranks_ = read_count(value, key);
    ranks_span_ = span_of(value, file_);
  }

  void read_mesh(const YAML::Node& value, Span span) {
    mesh_span_ = span;
    if (!value.IsMap() || value.size() == 0) {
      wrong_type(value, {"mesh", span}, "a mapping from axis names to sizes, such as {dp: 2, tp: 4}");
    }
    mesh_ranks_ = 1;
    for_each_entry(value, file_, [&](const Text& key, const YAML::Node& size) {
      const std::size_t count = read_count(size, key);
      mesh_ranks_ = *mesh_ranks_ * count;
      if (*mesh_ranks_ > kMostRanks) {
        fail(Problem::bad_ranks, key.span, "the mesh has more than " + std::to_string(kMostRanks) + " ranks");
      }
      manifest_.mesh.push_back({key.text, count, key.span});
    });
  }

  std::vector<Entry> read_entries(const YAML::Node& value, const Text& key) const {
    std::vector<Entry> result;
    if (value.IsNull()) return result;
    if (!value.IsMap()) wrong_type(value, key, "a mapping from tensors to placements or expressions");
    for_each_entry(value, file_, [&](const Text& name, const YAML::Node& form) {
      Entry entry{name, {}};
      if (name.text.empty()) fail(Problem::wrong_type, name.span, "the name of a tensor is empty");
      if (form.IsSequence()) {
        for (const YAML::Node& alternative : form) entry.forms.push_back(read_form(alternative, form, name));
      } else {
        entry.forms.push_back(read_form(form, form, name));
      }
      if (entry.forms.empty())
        fail(Problem::wrong_type, span_of(form, file_), "an empty list of alternatives");
      result.push_back(std::move(entry));
    });
    return result;
  }

  Form read_form(const YAML::Node& value, const YAML::Node& around, const Text& name) const {
    if (value.IsScalar() && !trim(value.Scalar()).empty()) {
      return parse_form(text_of(value, file_), around.IsSequence());
    }
    if (!value.IsMap()) {
      fail(Problem::wrong_type, value.IsNull() ? name.span : span_of(value, file_),
           ticked(name.text) + " needs a placement, a placement per mesh axis, or an expression, not " +
               describe(value));
    }
    return read_mesh_form(value);
  }

  Form read_mesh_form(const YAML::Node& value) const {
    Form form;
    form.kind = Form::Kind::mesh;
    form.span = span_of(value, file_);
    if (manifest_.mesh.empty()) {
      fail(Problem::bad_mesh, form.span, "a placement per mesh axis, but the manifest declares no mesh",
           "add e.g. `mesh: {dp: 2, tp: 2}`");
    }
    form.placements.resize(manifest_.mesh.size());
    std::vector<bool> given(manifest_.mesh.size());
    std::vector<std::string> names;
    for (const MeshAxis& axis : manifest_.mesh) names.push_back(axis.name);
    std::string separator = "{";
    for_each_entry(value, file_, [&](const Text& key, const YAML::Node& placement) {
      const auto axis = std::find(names.begin(), names.end(), key.text);
      if (axis == names.end()) {
        fail(Problem::bad_mesh, key.span, "the mesh has no axis " + ticked(key.text),
             "its axes are " + support::join_list(names));
      }
      if (!placement.IsScalar()) {
        fail(Problem::bad_placement, placement.IsNull() ? key.span : span_of(placement, file_),
             "a placement is expected: Replicate, Shard(d) or Partial, not " + describe(placement));
      }
      const auto index = static_cast<std::size_t>(axis - names.begin());
      form.placements[index] = parse_placement(text_of(placement, file_));
      given[index] = true;
      form.text += separator + key.text + ": " + to_string(form.placements[index]);
      separator = ", ";
    });
    form.text += form.text.empty() ? "{}" : "}";
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!given[i] && manifest_.mesh[i].size > 1) {
        fail(Problem::bad_mesh, form.span, "no placement for the mesh axis " + ticked(names[i]),
             "write `" + names[i] + ": Replicate` if every rank along it holds the same");
      }
    }
    return form;
  }

  // The number of ranks from what says something about it, and the files of the ranks.
  void settle_ranks() {
    const bool pattern = !listed_ && distributed_.front().text.find(kRankPattern) != std::string::npos;
    if (ranks_ && mesh_ranks_ && *ranks_ != *mesh_ranks_) {
      fail(Problem::rank_count, ranks_span_,
           std::to_string(*ranks_) + " ranks, but the mesh has " + std::to_string(*mesh_ranks_));
    }
    std::optional<std::size_t> count = ranks_ ? ranks_ : mesh_ranks_;
    if (listed_) {
      if (count && *count != distributed_.size()) {
        fail(Problem::rank_count, distributed_span_,
             std::to_string(distributed_.size()) + " files are listed for " + std::to_string(*count) +
                 " ranks",
             "list one file per rank, or write one pattern with {rank}");
      }
      count = distributed_.size();
    }
    if (!count) {
      fail(Problem::bad_ranks, {file_, 0, 0, 0}, "the manifest does not say how many ranks there are",
           "add e.g. `ranks: 2`");
    }
    manifest_.ranks = *count;
    if (listed_) {
      for (const Text& text : distributed_) check_pattern(text, false);
      manifest_.distribution = Manifest::Distributed::per_rank;
      manifest_.distributed = distributed_;
    } else if (pattern) {
      manifest_.distribution = Manifest::Distributed::per_rank;
      for (std::size_t rank = 0; rank < *count; ++rank) {
        Text text = distributed_.front();
        for (std::size_t at = text.text.find(kRankPattern); at != std::string::npos;
             at = text.text.find(kRankPattern, at)) {
          text.text.replace(at, kRankPattern.size(), std::to_string(rank));
        }
        manifest_.distributed.push_back(std::move(text));
      }
    } else {
      check_pattern(distributed_.front(), true);
      manifest_.distribution = Manifest::Distributed::one;
      manifest_.distributed = distributed_;
    }
  }

  static void check_pattern(const Text& text, bool may_be_pattern) {
    const std::size_t open = text.text.find('{');
    if (open == std::string::npos || text.text.find('}', open) == std::string::npos) return;
    fail(Problem::wrong_type, text.span,
         may_be_pattern ? "the pattern of the ranks' files has no `{rank}`"
                        : "a pattern inside a list of files",
         may_be_pattern ? "the number of the rank is written {rank}" : "write either a list or one pattern");
  }

  FileId file_;
  Manifest& manifest_;
  std::vector<Text> distributed_;
  Span distributed_span_, ranks_span_, mesh_span_;
  bool listed_ = false;
  std::optional<std::size_t> ranks_, mesh_ranks_;
};

support::Result<Manifest> read_registered(const std::string& path, FileId file) {
  return guarded([&] {
    Manifest manifest;
    manifest.path = path;
    manifest.folder = std::filesystem::path(path).parent_path().string();
    manifest.file = file;
    Reader(file, manifest).read();
    return manifest;
  });
}

}  // namespace

std::string Manifest::path_of(const std::string& written) const {
  const std::filesystem::path path(written);
  return path.is_absolute() || folder.empty() ? written : (std::filesystem::path(folder) / path).string();
}

const Text& Manifest::file_of_rank(std::size_t rank) const {
  ENTANGLE_CHECK(rank < ranks, "a rank that does not exist");
  return distribution == Distributed::one ? distributed.front() : distributed.at(rank);
}

support::Result<Manifest> read_manifest(const std::string& path) {
  const support::Result<FileId> file = support::read_source(path);
  if (!file) return error(Problem::cannot_read, file.error().span, file.error().message);
  return read_registered(path, *file);
}

support::Result<Manifest> read_manifest_text(const std::string& path, const std::string& text) {
  return read_registered(path, support::add_source(path, text));
}

}  // namespace entangle::relation
