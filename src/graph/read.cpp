#include <algorithm>
#include <array>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>
#include <utility>

#include "entangle/support/text.h"
#include "hlo_reader.h"
#include "reader.h"

namespace entangle::graph {

using json::Kind;
using json::Value;

namespace {

constexpr std::array<std::string_view, 10> kGraphKeys = {
    "format", "version", "name", "rank", "world_size", "source", "groups", "inputs", "outputs", "nodes"};

}  // namespace

support::Result<Graph> Reader::run() {
  const json::Model model = model_texts();
  support::Result<json::Document> document = json::parse(file_, options_.model != nullptr ? &model : nullptr);
  if (!document) {
    return document.error();
  }
  if (!graph(document->root)) {
    if (!error_) {
      return Reader(file_, {options_.rank, options_.shared, nullptr, options_.world})
          .run();  // the model does not fit
    }
    return *error_;
  }
  report_unknown_keys();
  return std::move(graph_);
}

void Reader::report_unknown_keys() {
  if (unknown_.empty()) {
    return;
  }
  const auto names = unknown_ | ranges::views::transform(quoted) | ranges::to<std::vector>();
  graph_.warnings.push_back({"graph/unknown-key",
                             support::Severity::warning,
                             first_unknown_,
                             "keys that are not known are ignored: " + support::join_list(names),
                             "",
                             {}});
}

// Names and places of all nodes, so that references can be told apart from mistakes.
bool Reader::names(const Value& nodes) {
  if (!expect(nodes, Kind::array, "`nodes`")) {
    return false;
  }
  const auto count = static_cast<NodeIndex>(nodes.items.size());
  graph_.nodes.reserve(count);
  graph_.texts.reserve(count);
  raw_.reserve(count);
  own_.reserve(count);
  bool as_in_model = options_.model != nullptr && options_.model->nodes.size() == count;
  for (NodeIndex i = 0; i < count; ++i) {
    const Value& object = nodes.items[i];
    raw_.push_back(&object);
    if (!expect(object, Kind::object, "a node")) {
      return false;
    }
    if (in_model(i)) {
      share(i);
    } else if (!name_of(object, i)) {
      return false;
    }
    as_in_model = as_in_model && graph_.nodes[i].name == options_.model->nodes[i].name;
  }
  return look_up(as_in_model);
}

bool Reader::name_of(const Value& object, NodeIndex at) {
  own_.push_back(&graph_.nodes.add());
  if (!text(object, "name", "a node", own_[at]->name)) {
    return false;
  }
  const Value& name = *object.find("name");
  graph_.texts.push_back({object.offset, object.end - object.offset, name.offset, name.length});
  return true;
}

bool Reader::look_up(bool as_in_model) {
  if (as_in_model) {
    graph_.names = options_.model->names;
    return true;
  }
  auto names = std::make_shared<NodeNames>();
  names->reserve(graph_.nodes.size());
  for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
    const std::string& name = graph_.nodes[i].name;
    const auto [place, added] = names->emplace(name, i);
    if (!added) {
      if (in_model(i)) {
        return false;  // the model does not fit
      }
      fail("duplicate-name", *raw_[i]->find("name"), "two nodes are named " + quoted(name));
      error_->notes.push_back({graph_.span(place->second), "the other one"});
      return false;
    }
  }
  graph_.names = std::move(names);
  return true;
}

bool Reader::header(const Value& root) {
  const Value* format = root.is(Kind::object) ? root.find("format") : nullptr;
  if (format == nullptr || !format->is(Kind::string) || format->text != "entangle-graph") {
    return fail("format", format != nullptr ? *format : root,
                "this is not a graph: the key `format` is not \"entangle-graph\"");
  }
  const Value* version = require(root, "version", "the graph");
  if (version == nullptr) {
    return false;
  }
  if (small_integer(*version) != std::optional<std::int64_t>(1)) {
    return fail("version", *version, "this program reads version 1 of the format only");
  }
  for (const json::Member& member : root.members) {
    if (!is_one_of(member.key.text, kGraphKeys)) {
      ignore(member.key);
    }
  }
  for (const auto& [key, out] : {std::pair{"name", &graph_.name}, std::pair{"source", &graph_.source}}) {
    if (const Value* value = root.find(key); value != nullptr && !value->is(Kind::null)) {
      if (!expect(*value, Kind::string, quoted(key))) {
        return false;
      }
      *out = value->text;
    }
  }
  return ranks(root);
}

bool Reader::ranks(const Value& root) {
  const Value* world = root.find("world_size");
  if (world != nullptr && !world->is(Kind::null)) {
    std::size_t size = 0;
    if (!count(*world, "`world_size`", 1, size)) {
      return false;
    }
    graph_.world_size = size;
  }
  const Value* rank = root.find("rank");
  std::optional<std::size_t> recorded;
  if (rank != nullptr && !rank->is(Kind::null)) {
    std::size_t number = 0;
    if (!count(*rank, "`rank`", 0, number)) {
      return false;
    }
    recorded = number;
    if (graph_.world_size && number >= *graph_.world_size) {
      return fail("bad-rank", *rank,
                  "rank " + std::to_string(number) + " does not exist among " +
                      std::to_string(*graph_.world_size) + (*graph_.world_size == 1 ? " rank" : " ranks"));
    }
  }
  if (options_.rank && recorded && !options_.shared && *recorded != *options_.rank) {
    return fail("wrong-rank", *rank,
                "this is the file of rank " + std::to_string(*recorded) + ", read as that of rank " +
                    std::to_string(*options_.rank));
  }
  graph_.rank = options_.rank ? *options_.rank : recorded.value_or(0);
  graph_.symbol_prefix = symbol_prefix(options_.rank);
  return true;
}

bool Reader::group_ranks(const Value& list, const std::string& name, std::vector<std::size_t>& out) {
  for (const Value& entry : list.items) {
    const std::optional<std::int64_t> rank = small_integer(entry);
    if (!rank || *rank < 0 || *rank > kLargestWorld) {
      return fail("bad-group", entry, "a group is a list of ranks");
    }
    const auto number = static_cast<std::size_t>(*rank);
    if (graph_.world_size && number >= *graph_.world_size) {
      return fail("bad-group", entry,
                  "rank " + std::to_string(number) + " of group " + quoted(name) + " does not exist among " +
                      std::to_string(*graph_.world_size) + (*graph_.world_size == 1 ? " rank" : " ranks"));
    }
    if (std::find(out.begin(), out.end(), number) != out.end()) {
      return fail("bad-group", entry,
                  "rank " + std::to_string(number) + " is twice in group " + quoted(name));
    }
    out.push_back(number);
  }
  return true;
}

bool Reader::groups(const Value& root) {
  const Value* groups = root.find("groups");
  if (groups == nullptr || groups->is(Kind::null)) {
    return true;
  }
  if (!expect(*groups, Kind::object, "`groups`")) {
    return false;
  }
  for (const auto& [key, list] : groups->members) {
    Group group{std::string(key.text), {}};
    if (!expect(list, Kind::array, "a group")) {
      return false;
    }
    if (list.items.empty()) {
      return fail("bad-group", list, "the group " + quoted(group.name) + " has no ranks");
    }
    // A list of groups of one name, as a file for all ranks has it: that of this rank counts.
    const bool nested = list.items[0].is(Kind::array);
    for (const Value& entry : nested ? list.items : std::span<const Value>(&list, 1)) {
      std::vector<std::size_t> ranks;
      if (!expect(entry, Kind::array, "a group") || !group_ranks(entry, group.name, ranks)) {
        return false;
      }
      if (!nested || std::find(ranks.begin(), ranks.end(), graph_.rank) != ranks.end()) {
        group.ranks = std::move(ranks);
      }
    }
    if (!group.ranks.empty()) {
      graph_.groups.push_back(std::move(group));
    }
  }
  return true;
}

bool Reader::ends(const Value& root, std::string_view key, std::vector<NodeIndex>& out) {
  const Value* names = require(root, key, "the graph");
  if (names == nullptr || !expect(*names, Kind::array, quoted(key))) {
    return false;
  }
  std::vector<bool> listed(graph_.nodes.size());
  for (const Value& name : names->items) {
    if (name.is(Kind::null) && key == "outputs") {
      continue;
    }
    if (!expect(name, Kind::string, "an entry of " + quoted(key))) {
      return false;
    }
    const NodeIndex node = graph_.find(name.text);
    if (node == kNoNode) {
      return missing(name, std::string(key));
    }
    if (key == "inputs" && graph_.nodes[node].op != "placeholder") {
      return fail(
          "not-an-input", name,
          quoted(name.text) + " is listed under `inputs` but computed by " + quoted(graph_.nodes[node].op));
    }
    if (key == "inputs" && listed[node]) {
      return fail("duplicate-input", name, quoted(name.text) + " is listed twice under `inputs`");
    }
    listed[node] = true;
    out.push_back(node);
  }
  return true;
}

bool Reader::graph(const Value& root) {
  graph_.file = file_;
  graph_.model = options_.model != nullptr ? options_.model->file : support::kNoFile;
  graph_.path = support::source_path(file_);
  if (!header(root) || !groups(root)) {
    return false;
  }
  const Value* nodes = require(root, "nodes", "the graph");
  if (nodes == nullptr || !names(*nodes) || !model_fits()) {
    return false;
  }
  for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
    repeatable_ = true;
    if (!in_model(i) && !node(i)) {
      return false;
    }
    graph_.texts[i].repeatable = repeatable_;
  }
  return ends(root, "inputs", graph_.inputs) && ends(root, "outputs", graph_.outputs);
}

json::Model Reader::model_texts() const {
  json::Model result;
  if (options_.model != nullptr) {
    result.source = support::source_text(options_.model->file);
    for (const NodeText& text : options_.model->texts) {
      result.objects.push_back(text.repeatable ? json::Model::Text{text.offset, text.length}
                                               : json::Model::Text{});
    }
  }
  return result;
}

bool Reader::model_fits() const {
  if (options_.model == nullptr) {
    return true;
  }
  bool same_names = true;  // up to here
  for (NodeIndex i = 0; i < raw_.size(); ++i) {
    const Node& node = graph_.nodes[i];
    if (!in_model(i)) {
      same_names =
          same_names && i < options_.model->nodes.size() && node.name == options_.model->nodes[i].name;
      continue;
    }
    const Arg::Ref* picked = is_getitem(node) ? node.args[0].ref() : nullptr;
    if (!same_names || (picked != nullptr && !in_model(picked->node))) {
      return false;
    }
  }
  return true;
}

void Reader::share(NodeIndex node) {
  const NodeText& from = options_.model->texts[node];
  const std::uint32_t moved = raw_[node]->offset - from.offset;  // modulo 2^32
  own_.push_back(nullptr);
  graph_.nodes.add(options_.model->nodes, node);
  graph_.texts.push_back({from.offset + moved, from.length, from.name + moved, from.name_length, true, true});
}

support::Result<Graph> parse_graph(support::FileId file, const ReadOptions& options) {
  const std::string& text = support::source_text(file);
  if (!hlo::is_hlo(text)) {
    return Reader(file, options).run();
  }
  // A module that another rank runs, too.
  if (options.model != nullptr && options.rank && support::source_text(options.model->file) == text) {
    return hlo::for_rank(*options.model, file, *options.rank);
  }
  const support::Result<hlo::Module> module = hlo::parse(file);
  return module ? hlo::HloReader(file, options, *module).run() : module.error();
}

support::Result<Graph> read_graph(const std::string& path, const ReadOptions& options) {
  const support::Result<support::FileId> file = support::read_source(path);
  return file ? parse_graph(*file, options) : file.error();
}

}  // namespace entangle::graph
