#include "cli/ledger.h"

#include <nlohmann/json.hpp>

#include "entangle/support/output_file.h"

namespace entangle::cli {

namespace {

using Json = nlohmann::ordered_json;
using prove::Outcome;
using prove::Result;

constexpr int kVersion = 2;

support::Diagnostic damaged(const std::string& path, const std::string& why) {
  return support::error("cli/ledger", {}, "`" + path + "` is no proof ledger: " + why,
                        "`entangle prove RULES --cache FOLDER` writes FOLDER/" + std::string(kLedgerFile));
}

Outcome outcome_of(const Json& verdict) {
  const auto text = verdict.get<std::string>();
  for (const Outcome outcome : {Outcome::refuted, Outcome::unknown, Outcome::tested, Outcome::bounded,
                                Outcome::proved, Outcome::axiom}) {
    if (prove::to_string(outcome) == text) return outcome;
  }
  throw std::runtime_error("`" + text + "` is no verdict");
}

Json to_json(const Result& result) {
  Json operators = Json::array();
  for (const prove::Instantiation& one : result.operators) {
    operators.push_back({one.op, prove::to_string(one.outcome), one.forms});
  }
  Json ranks = Json::object();
  for (const auto& [rank, count] : result.ranks) ranks[std::to_string(rank)] = count;
  return {{"name", result.name},
          {"verdict", prove::to_string(result.outcome)},
          {"instances", result.instances},
          {"forms", result.forms},
          {"proved", result.proved},
          {"bounded", result.bounded},
          {"longest", result.longest},
          {"ranks", ranks},
          {"proved_ranks", result.proved_ranks},
          {"operators", std::move(operators)},
          {"reason", result.reason},
          {"counterexample", result.counterexample}};
}

Result from_json(const Json& json) {
  Result result;
  result.name = json.at("name").get<std::string>();
  result.outcome = outcome_of(json.at("verdict"));
  result.instances = json.at("instances").get<std::size_t>();
  result.forms = json.at("forms").get<std::size_t>();
  result.proved = json.at("proved").get<std::size_t>();
  result.bounded = json.at("bounded").get<std::size_t>();
  result.longest = json.at("longest").get<std::size_t>();
  for (const auto& [rank, count] : json.at("ranks").items()) result.ranks[std::stoul(rank)] = count;
  result.proved_ranks = json.at("proved_ranks").get<std::set<std::size_t>>();
  for (const Json& one : json.at("operators")) {
    result.operators.push_back(
        {one.at(0).get<std::string>(), outcome_of(one.at(1)), one.at(2).get<std::size_t>()});
  }
  result.reason = json.at("reason").get<std::string>();
  result.counterexample = json.at("counterexample").get<std::string>();
  return result;
}

}  // namespace

support::Result<Ledger> Ledger::read(const std::string& path) {
  Ledger ledger;
  const support::Result<std::string> text = support::read_file(path);
  if (!text) return text.error();
  const Json json = Json::parse(*text, nullptr, false);
  if (json.is_discarded()) return damaged(path, "it is no JSON");
  if (!json.is_object() || !json.contains("version") || !json.contains("results")) {
    return damaged(path, "it has no `version` and `results`");
  }
  if (json["version"] != kVersion) return damaged(path, "it is of another version");
  if (!json["results"].is_object()) return damaged(path, "its `results` are no object");
  for (const auto& [key, entry] : json["results"].items()) {
    try {
      ledger.results_[key] = from_json(entry);
    } catch (const std::exception&) {
      return damaged(path, "its entry `" + key + "` is malformed");
    }
  }
  return ledger;
}

support::Status Ledger::write(const std::string& path) const {
  Json results = Json::object();
  for (const auto& [key, result] : results_) results[key] = to_json(result);
  return support::write_file(path, Json{{"version", kVersion}, {"results", results}}.dump(1) + "\n");
}

std::optional<Result> Ledger::find(const std::string& key) const {
  const auto found = results_.find(key);
  return found == results_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace entangle::cli
