#include "entangle/report/json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/names.h"

namespace entangle::report {

namespace {

using infer::Place;
using infer::Verdict;
using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json to_json(const support::Span& span) {
  return {{"file", support::source_path(span.file)}, {"line", span.line}, {"column", span.column}};
}

Json to_json(const support::Diagnostic& diagnostic) {
  Json result = {{"id", diagnostic.id}};
  result.update(to_json(diagnostic.span));
  result["message"] = diagnostic.message;
  result["suggestion"] = diagnostic.suggestion;
  result["notes"] = Json::array();
  for (const support::Note& note : diagnostic.notes) {
    Json item = to_json(note.span);
    item["message"] = note.message;
    result["notes"].push_back(std::move(item));
  }
  return result;
}

// A null rank is the sequential program.
Json to_json(const Place& place) {
  return {{"rank", place.rank < 0 ? Json() : Json(place.rank)},
          {"tensor", place.tensor},
          {"op", place.op},
          {"loc", place.loc},
          {"relations", place.relations}};
}

Json to_json(const std::vector<Place>& places) {
  Json result = Json::array();
  for (const Place& place : places) result.push_back(to_json(place));
  return result;
}

Json to_json(const infer::OutputReport& output) {
  Json expectations = Json::array();
  for (const infer::Expectation& expectation : output.expectations) {
    expectations.push_back({{"expected", expectation.expected}, {"holds", expectation.holds}});
  }
  return {{"tensor", output.tensor},
          {"ok", output.ok},
          {"relations", output.relations},
          {"expect", std::move(expectations)},
          {"notes", output.notes}};
}

Json to_json(const infer::Failing& failing) {
  return {{"tensor", failing.at.tensor},
          {"op", failing.at.op},
          {"loc", failing.at.loc},
          {"stopped", failing.stopped},
          {"reason", failing.reason},
          {"hints", failing.hints},
          {"chain", to_json(failing.chain)},
          {"operands", to_json(failing.operands)},
          {"considered", to_json(failing.considered)}};
}

Json to_json(const infer::CollectiveMismatch& mismatch) {
  return {{"reason", mismatch.reason}, {"places", to_json(mismatch.places)}};
}

Json to_json(const infer::Statistics& numbers) {
  return {{"sequential_operators", numbers.sequential_operators},
          {"distributed_operators", numbers.distributed_operators},
          {"by_lookup", numbers.by_lookup},
          {"local_problems", numbers.local_problems},
          {"by_memo", numbers.by_memo},
          {"carried", numbers.carried},
          {"largest_egraph", numbers.largest_egraph},
          {"conditions", numbers.conditions},
          {"conditions_by_solver", numbers.conditions_by_solver},
          {"conditions_unknown", numbers.conditions_unknown}};
}

double rounded(double seconds) {
  return std::round(seconds * 1e6) / 1e6;
}

Json to_json(const infer::Times& times) {
  return {{"read", rounded(times.read)},
          {"lower", rounded(times.lower)},
          {"infer", rounded(times.infer)},
          {"total", rounded(times.total)}};
}

Json to_json(const std::vector<infer::Unproved>& unproved) {
  Json result = Json::array();
  for (const infer::Unproved& one : unproved) {
    result.push_back({{"kind", one.kind == infer::Unproved::Kind::lemma ? "lemma" : "claim"},
                      {"name", one.name},
                      {"file", one.file},
                      {"line", one.line},
                      {"verdict", one.known}});
  }
  return result;
}

Json to_json(const Verdict& verdict) {
  Json result = {{"manifest", verdict.manifest}, {"verdict", name(verdict.kind)}, {"ranks", verdict.ranks}};
  result["outputs"] = Json::array();
  for (const infer::OutputReport& output : verdict.outputs) result["outputs"].push_back(to_json(output));
  result["failing"] = verdict.failing ? to_json(*verdict.failing) : Json();
  result["mismatch"] = verdict.mismatch ? to_json(*verdict.mismatch) : Json();
  result["assumptions"] = verdict.assumptions;
  result["unproved"] = to_json(verdict.unproved);
  result["obligations"] = verdict.obligations;
  result["opaque"] = verdict.opaque;
  result["unrelated"] = verdict.unrelated;
  result["lemmas"] = Json::array();
  for (const infer::LemmaUse& use : verdict.lemmas) {
    result["lemmas"].push_back({{"name", use.name}, {"applied", use.applied}});
  }
  result["limits"] = verdict.limits;
  if (!verdict.relations.empty()) {
    result["relations"] = Json::array();
    for (const auto& [tensor, relations] : verdict.relations) {
      result["relations"].push_back({{"tensor", tensor}, {"relations", relations}});
    }
  }
  result["warnings"] = Json::array();
  for (const support::Diagnostic& warning : verdict.warnings) result["warnings"].push_back(to_json(warning));
  result["statistics"] = to_json(verdict.statistics);
  result["times"] = to_json(verdict.times);
  return result;
}

}  // namespace

std::string to_json(const std::vector<Outcome>& outcomes) {
  Json result = {{"schema", kSchema}};
  Json results = Json::array();
  for (const Outcome& outcome : outcomes) {
    if (const auto* verdict = std::get_if<Verdict>(&outcome.result)) {
      results.push_back(to_json(*verdict));
      continue;
    }
    Json error = to_json(std::get<support::Diagnostic>(outcome.result));
    results.push_back({{"manifest", outcome.manifest}, {"error", error}});
    if (!result.contains("error")) result["error"] = std::move(error);
  }
  result["results"] = std::move(results);
  return dump(result);
}

std::string to_json(const std::vector<support::Diagnostic>& errors) {
  ENTANGLE_CHECK(!errors.empty(), "no error to report");
  Json result = {{"schema", kSchema}, {"error", to_json(errors.front())}};
  if (errors.size() > 1) {
    result["errors"] = Json::array();
    for (const support::Diagnostic& error : errors) result["errors"].push_back(to_json(error));
  }
  result["results"] = Json::array();
  return dump(result);
}

}  // namespace entangle::report
