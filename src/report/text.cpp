#include "entangle/report/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
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

class Writer {
 public:
  explicit Writer(const TextOptions& options) : options_(options) {}

  std::string write(const Verdict& verdict) {
    head(verdict);
    if (verdict.mismatch) mismatch(*verdict.mismatch);
    if (verdict.failing) failing(*verdict.failing);
    outputs(verdict);
    list("still to be shown", verdict.obligations, true);
    list("assumptions", verdict.assumptions, true);
    list("operators nothing is known of", verdict.opaque, true);
    list("limits", verdict.limits, true);
    list("other outputs without a relation (they do not decide)", verdict.unrelated, false);
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
      line(indent + (i == 0 ? tensor : std::string(tensor.size(), ' ')) + " = " + all[i]);
    }
    if (all.empty()) line(indent + tensor + ": no clean relation");
  }

  void mismatch(const infer::CollectiveMismatch& found) {
    title("the ranks disagree on a collective");
    line("  " + found.reason);
    places(found.places, "    ");
  }

  void failing(const infer::Failing& found) {
    title("fails at");
    places({found.at}, "  ");
    if (!found.reason.empty()) line("  " + found.reason);
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
  }

  void outputs(const Verdict& verdict) {
    if (verdict.outputs.empty()) return;
    title("outputs");
    for (const infer::OutputReport& output : verdict.outputs) {
      relations(output.tensor, output.relations, "  ");
      for (const infer::Expectation& expectation : output.expectations) {
        line("    expected " + expectation.expected + (expectation.holds ? ": holds" : ": NOT shown"));
      }
      for (const std::string& note : output.notes) line("    note: " + note);
    }
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

std::string to_text(const Verdict& verdict, const TextOptions& options) {
  return Writer(options).write(verdict);
}

}  // namespace entangle::report
