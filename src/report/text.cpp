#include "entangle/report/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <vector>

#include "entangle/support/text.h"
#include "report/names.h"

namespace entangle::report {

namespace {

using support::counted;

using infer::Place;
using infer::Verdict;
using infer::VerdictKind;

constexpr std::size_t kShort = 12;  // entries of a list that are shown without --verbose

// What a place is called: `y`, `r1.y`.
std::string name_of(const Place& place) {
  return place.rank < 0 ? place.tensor : "r" + std::to_string(place.rank) + "." + place.tensor;
}

std::string seconds(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3f s", value);
  return buffer;
}

// The ends of argument lists that are longer than this.
constexpr std::size_t kOperands = 6;
constexpr std::size_t kFirst = 3;

// `concat(r0.y, r1.y, r2.y, … 28 more …, r31.y; 0)`: of long argument lists of an expression the ends.
std::string abbreviated(const std::string& text) {
  const std::size_t open = text.find('(');
  if (open == std::string::npos || text.back() != ')') return text;
  std::vector<std::string> parts{""};  // what stands between commas of this level
  std::string tail;                    // from the semicolon on
  int depth = 0;
  bool quoted = false;
  for (std::size_t at = open + 1; at + 1 < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' && text[at - 1] != '\\') quoted = !quoted;
    if (!quoted && (c == '(' || c == '[')) ++depth;
    if (!quoted && (c == ')' || c == ']')) --depth;
    if (depth < 0) return text;  // not one application
    if (!quoted && depth == 0 && c == ';') {
      tail = text.substr(at, text.size() - 1 - at);
      break;
    }
    if (!quoted && depth == 0 && c == ',') {
      parts.emplace_back();
      if (text[at + 1] == ' ') ++at;
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) part = abbreviated(part);
  if (parts.size() > kOperands) {
    const std::size_t more = parts.size() - kFirst - 1;
    std::vector<std::string> ends(parts.begin(), parts.begin() + kFirst);
    ends.push_back("… " + std::to_string(more) + " more …");
    ends.push_back(parts.back());
    parts = std::move(ends);
  }
  return text.substr(0, open + 1) + support::join(parts, ", ") + tail + ")";
}

// Whether there is no more to say of an output than that it has no relation.
bool says_nothing(const infer::OutputReport& output) {
  return output.notes.empty() ||
         (output.notes.size() == 1 && output.notes.front() == "no relation was found");
}

class Writer {
 public:
  explicit Writer(const TextOptions& options) : options_(options) {}

  std::string write(const Verdict& verdict) {
    head(verdict);
    if (verdict.mismatch) mismatch(*verdict.mismatch);
    if (verdict.failing) failing(*verdict.failing);
    outputs(verdict);
    list("still to be shown", verdict.obligations, true);
    list("assumptions", assumptions(verdict), true);
    list("operators nothing is known of", verdict.opaque, true);
    list("limits", verdict.limits, true);
    list("other outputs, which are not in question", verdict.unrelated, false);
    warnings(verdict);
    if (options_.verbose) details(verdict);
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += text + "\n"; }
  void title(const std::string& text) { text_ += "\n" + text + "\n"; }

  void head(const Verdict& verdict) {
    line(std::string(name(verdict.kind)) + ": " + verdict.manifest + " (" +
         counted(static_cast<std::uint64_t>(std::max(verdict.ranks, 0)), "rank", "ranks") + ")");
    switch (verdict.kind) {
      case VerdictKind::refines:
        line("Every output in question can be read off the ranks' results.");
        break;
      case VerdictKind::violates:
        line("The ranks do not compute what the sequential program computes.");
        break;
      case VerdictKind::unproved:
        line("No proof was found that the ranks compute what the sequential program computes.");
        break;
    }
  }

  // `name  operator  source line`, in columns.
  void places(const std::vector<Place>& all, const std::string& indent) {
    std::size_t names = 0, ops = 0;
    const std::size_t shown = options_.verbose ? all.size() : std::min(all.size(), kShort);
    for (std::size_t i = 0; i < shown; ++i) {
      names = std::max(names, name_of(all[i]).size());
      ops = std::max(ops, all[i].op.size());
    }
    for (std::size_t i = 0; i < shown; ++i) {
      const Place& place = all[i];
      std::string row =
          indent + padded(name_of(place), names) + "  " + padded(place.op, ops) + "  " + place.loc;
      row.erase(row.find_last_not_of(' ') + 1);
      line(row);
    }
    if (shown < all.size()) line(indent + "and " + std::to_string(all.size() - shown) + " more (--verbose)");
  }

  static std::string padded(const std::string& text, std::size_t width) {
    return text + std::string(width - std::min(width, text.size()), ' ');
  }

  void relations(const std::string& tensor, const std::vector<std::string>& all, const std::string& indent) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      line(indent + (i == 0 ? tensor : std::string(tensor.size(), ' ')) + " = " + shown(all[i]));
    }
    if (all.empty()) line(indent + tensor + ": none");
  }

  // Of long lists of operands the ends, without --verbose.
  std::string shown(const std::string& relation) const {
    return options_.verbose ? relation : abbreviated(relation);
  }

  void mismatch(const infer::CollectiveMismatch& found) {
    title("the ranks disagree on a collective");
    line("  " + found.reason);
    places(found.places, "    ");
  }

  void failing(const infer::Failing& found) {
    title(found.stopped ? "stopped by the time limit at" : "fails at");
    places({found.at}, "  ");
    if (!found.reason.empty()) line("  " + found.reason);
    for (const std::string& hint : found.hints) line("  " + hint);
    if (found.chain.size() > 1) {
      line("  operators that were followed without a relation, the last one tried last:");
      places(found.chain, "    ");
    }
    if (!found.operands.empty()) {
      line("  relations of its operands:");
      for (const Place& operand : found.operands) relations(name_of(operand), operand.relations, "    ");
    }
    if (!found.considered.empty()) {
      line("  operators of the ranks that were considered:");
      places(found.considered, "    ");
    }
    next_step(found);
  }

  // What to look at.
  void next_step(const infer::Failing& found) {
    const auto where = [](const Place& place) {
      return "`" + name_of(place) + "`" + (place.loc.empty() ? "" : " (" + place.loc + ")");
    };
    // Of what is not understood there is no more to say.
    const bool unknown = found.reason.starts_with("no rule") || found.reason.starts_with("nothing is known");
    if (found.considered.empty() || unknown) return;
    const auto behind = std::ranges::find_if(
        found.considered, [&](const Place& place) { return place.rank != found.considered.front().rank; });
    line("  next: compare " + where(found.at) + " with what the ranks do around " +
         where(*std::prev(behind)) + "; if both are right, a lemma may be missing (docs/inference.md)");
  }

  void outputs(const Verdict& verdict) {
    if (verdict.outputs.empty()) return;
    title("outputs");
    std::vector<std::string> none;
    for (const infer::OutputReport& output : verdict.outputs) {
      if (output.relations.empty() && !options_.verbose && says_nothing(output)) {
        none.push_back(output.tensor);
        continue;
      }
      relations(output.tensor, output.relations, "  ");
      expectations(output.expectations);
      for (const std::string& note : output.notes) line("    note: " + note);
    }
    if (none.empty()) return;
    const std::size_t more = none.size() - std::min(none.size(), kShort);
    none.resize(none.size() - more);
    line("  no relation was found for " + support::join(none, ", ") +
         (more == 0 ? "" : " and " + std::to_string(more) + " more (--verbose)"));
  }

  // Those that are like their neighbours (one for each rank that is to have the tensor) in one line.
  void expectations(const std::vector<infer::Expectation>& all) {
    for (std::size_t i = 0; i < all.size();) {
      std::size_t end = i + 1;
      while (!options_.verbose && end < all.size() && all[end].holds == all[i].holds) ++end;
      std::string what = shown(all[i].expected);
      if (end == i + 2) what += " and " + shown(all[i + 1].expected);
      if (end > i + 2) what += " and " + std::to_string(end - i - 1) + " more";
      line("    expected " + what + (all[i].holds ? ": holds" : ": NOT shown"));
      i = end;
    }
  }

  // With what is applied without a proof.
  std::vector<std::string> assumptions(const Verdict& verdict) const {
    std::vector<std::string> result = verdict.assumptions;
    bool untried = false;
    const std::size_t most = options_.verbose ? verdict.unproved.size() : kShort;
    for (std::size_t i = 0; i < verdict.unproved.size(); ++i) {
      if (i < most) result.push_back(what_is_unproved(verdict.unproved[i]));
      untried = untried || verdict.unproved[i].known.starts_with("not ");
    }
    if (verdict.unproved.size() > most) {
      result.push_back("and " + std::to_string(verdict.unproved.size() - most) +
                       " more lemmas and claims that are not proved (--verbose)");
    }
    if (untried && !options_.rules.empty()) {
      result.push_back("to prove these: `entangle prove " + options_.rules +
                       " --own --cache .proofs`; then `check --ledger .proofs/ledger.json` knows of it");
    }
    return result;
  }

  void list(const std::string& heading, const std::vector<std::string>& entries, bool whole) {
    if (entries.empty()) return;
    title(heading);
    const std::size_t shown = whole || options_.verbose ? entries.size() : std::min(entries.size(), kShort);
    for (std::size_t i = 0; i < shown; ++i) line("  " + entries[i]);
    if (shown < entries.size()) line("  and " + std::to_string(entries.size() - shown) + " more (--verbose)");
  }

  void warnings(const Verdict& verdict) {
    if (verdict.warnings.empty()) return;
    title("warnings");
    for (const support::Diagnostic& warning : verdict.warnings) text_ += support::render(warning);
  }

  void details(const Verdict& verdict) {
    if (!verdict.relations.empty()) {
      title("relations of all tensors");
      for (const auto& [tensor, all] : verdict.relations) relations(tensor, all, "  ");
    }
    if (!verdict.lemmas.empty()) {
      title("lemmas, by how often they were applied");
      for (const infer::LemmaUse& use : verdict.lemmas) {
        const std::string count = std::to_string(use.applied);
        line("  " + std::string(8 - std::min<std::size_t>(8, count.size()), ' ') + count + "  " + use.name);
      }
    }
    const infer::Statistics& numbers = verdict.statistics;
    title("statistics");
    line("  operators: " + std::to_string(numbers.sequential_operators) + " sequential, " +
         std::to_string(numbers.distributed_operators) + " distributed");
    line("  settled by look-up: " + std::to_string(numbers.by_lookup) +
         "; local problems: " + std::to_string(numbers.local_problems) + ", by memo " +
         std::to_string(numbers.by_memo) + "; carried into consumers: " + std::to_string(numbers.carried) +
         "; largest e-graph: " + counted(numbers.largest_egraph, "node", "nodes"));
    line("  conditions: " + std::to_string(numbers.conditions) + ", by the solver " +
         std::to_string(numbers.conditions_by_solver) + ", undecided " +
         std::to_string(numbers.conditions_unknown));
    line("  times: read " + seconds(verdict.times.read) + ", lower " + seconds(verdict.times.lower) +
         ", infer " + seconds(verdict.times.infer) + ", total " + seconds(verdict.times.total));
  }

  TextOptions options_;
  std::string text_;
};

}  // namespace

std::string what_is_unproved(const infer::Unproved& one) {
  const bool lemma = one.kind == infer::Unproved::Kind::lemma;
  return std::string(lemma ? "lemma" : "claim") + " `" + one.name + "` (" + one.file + ":" +
         std::to_string(one.line) + "): " + one.known;
}

std::string to_text(const Verdict& verdict, const TextOptions& options) {
  return Writer(options).write(verdict);
}

}  // namespace entangle::report
