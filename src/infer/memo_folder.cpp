#include "memo_folder.h"

#include <filesystem>
#include <map>
#include <system_error>

#include "entangle/support/parallel.h"
#include "entangle/support/paths.h"
#include "entangle/support/sha256.h"
#include "entangle/support/text.h"
#include "kept_file.h"
#include "memo_bytes.h"
#include "verdict_bytes.h"

namespace entangle::infer {

namespace fs = std::filesystem;

MemoFolder::MemoFolder(const CheckOptions& options, const relation::Manifest& manifest,
                       const rules::RuleSet& rules)
    : options_(options), manifest_(manifest) {
  const auto program = support::running_program();
  if (options.memo_folder.empty() || !options.memo || !program) {
    return;
  }
  std::error_code ignored;
  whose_ = fs::weakly_canonical(manifest.path, ignored).string();
  std::vector<std::string> lines{whose_, program->path, program->build, std::to_string(manifest.ranks)};
  for (const std::size_t limit : {options.limits.nodes, options.limits.rounds, WalkOptions{}.most_carried}) {
    lines.push_back(std::to_string(limit));
  }
  for (const support::FileId file : rules.files()) {
    lines.push_back(support::to_hex(support::sha256(support::source_text(file))));
  }
  common_ = support::join(lines, "\n");
}

std::string MemoFolder::path(const char* kind) const {
  constexpr std::size_t kDigits = 32;
  const std::string name = support::to_hex(support::sha256(whose_)).substr(0, kDigits);
  return (fs::path(options_.memo_folder) / (std::string(kind) + "-" + name)).string();
}

std::string MemoFolder::owner_of_solutions(const Programs& programs) const {
  return common_ + "\n" + support::join(programs.resolved.facts.to_strings(), "\n");
}

std::string MemoFolder::owner_of_verdict(const std::vector<std::string>& digests) const {
  // The text of the report names the manifest as it was given.
  return common_ + "\n" + manifest_.path + "\n" + (options_.all_relations ? "all relations" : "") + "\n" +
         support::to_hex(support::sha256(support::source_text(manifest_.file))) + "\n" +
         support::join(digests, "\n");
}

std::optional<Verdict> MemoFolder::verdict() const {
  std::error_code ignored;
  if (whose_.empty() || !fs::exists(path("verdict"), ignored)) {
    return std::nullopt;
  }
  // One file may be that of several ranks.
  std::vector<std::string> of_graph{manifest_.path_of(manifest_.sequential.text)};
  for (std::size_t rank = 0; rank < manifest_.ranks; ++rank) {
    of_graph.push_back(manifest_.path_of(manifest_.file_of_rank(rank).text));
  }
  std::map<std::string, std::string> digest_of;
  for (const std::string& file : of_graph) {
    digest_of.emplace(file, "");
  }
  std::vector<std::pair<const std::string, std::string>*> files;
  for (auto& file : digest_of) {
    files.push_back(&file);
  }
  support::for_each_index(files.size(), [&](std::size_t k) {
    if (const auto text = support::read_file(files[k]->first)) {
      files[k]->second = support::to_hex(support::sha256(*text));
    }
  });
  std::vector<std::string> digests;
  for (const std::string& file : of_graph) {
    digests.push_back(digest_of.at(file));
    if (digests.back().empty()) {
      return std::nullopt;  // reading it again says what is wrong
    }
  }
  const auto kept = read_kept(path("verdict"), owner_of_verdict(digests));
  if (!kept) {
    warn(kept.error());
  }
  return kept && *kept ? verdict_from_bytes(**kept) : std::nullopt;
}

void MemoFolder::keep(const Verdict& verdict, const Programs& programs) const {
  const std::optional<std::string> bytes = whose_.empty() ? std::nullopt : to_bytes(verdict);
  if (!bytes) {
    return;
  }
  std::vector<support::FileId> files{programs.sequential_graph().file};
  for (const graph::Graph& graph : programs.ranks) {
    files.push_back(graph.file);
  }
  std::vector<std::string> digests(files.size());
  support::for_each_index(files.size(), [&](std::size_t k) {
    digests[k] = support::to_hex(support::sha256(support::source_text(files[k])));
  });
  if (const support::Status written = write_kept(path("verdict"), owner_of_verdict(digests), *bytes);
      !written) {
    warn(written.error());
  }
}

void MemoFolder::load(Memo& memo, const Programs& programs) const {
  if (whose_.empty()) {
    return;
  }
  const auto kept = read_kept(path("problems"), owner_of_solutions(programs));
  if (!kept) {
    warn(kept.error());
  } else if (*kept) {
    if (const auto solutions = solutions_from_bytes(**kept)) {
      memo.load(*solutions);
    }
  }
}

void MemoFolder::keep(const Memo& memo, const Programs& programs) const {
  const auto kept = whose_.empty() ? std::nullopt : memo.save();
  if (!kept) {
    return;
  }
  const support::Status written = write_kept(path("problems"), owner_of_solutions(programs), to_bytes(*kept));
  if (!written) {
    warn(written.error());
  }
}

void MemoFolder::warn(support::Diagnostic diagnostic) const {
  if (options_.warn) {
    diagnostic.severity = support::Severity::warning;
    options_.warn(diagnostic);
  }
}

}  // namespace entangle::infer
