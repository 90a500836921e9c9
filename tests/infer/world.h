// Small programs, written down as text and checked: what the tests of this folder have in common.
//
// A program is one tensor a line:
//
//   in x: f32[4, 8]
//   h = aten.mm.default(%x, %w; beta=2): f32[4, 6]            // model.py:3
//   s = aten.split.Tensor(%x, 2): (f32[2, 8], f32[2, 8])
//   m = mylib.update.default(; x=%x): (f32[4], f32[4]) | "mutates": ["x"]
//   out h, s
//
// `%x` is a reference, everything else JSON; what follows a bar is added to the node as it is.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "entangle/infer/check.h"

namespace entangle::infer::test {

struct Case {
  std::string sequential;
  std::vector<std::string> ranks;
  std::string manifest;  // without the paths and the number of ranks
  std::string rules;     // the text of a rule file; "": aten.rules
  std::string groups;    // JSON; "": one group `tp` of all ranks
};

// The graph of a program as JSON.
std::string graph_json(const std::string& program, std::size_t rank, std::size_t ranks,
                       const std::string& groups = "");

// Writes the files to a folder of their own and checks the manifest.
support::Result<Verdict> run(const Case& test, const CheckOptions& options = {});
// The same where bad input would be a failure of the test.
Verdict verdict(const Case& test, const CheckOptions& options = {});
// `refines`, `violates`, `unproved`, or the id of the error.
std::string outcome(const Case& test);

std::string to_string(VerdictKind kind);
// The one output in question.
const OutputReport& only_output(const Verdict& verdict);
bool has(const std::vector<std::string>& texts, const std::string& text);

// Both sides run the same program on the same x.
Case same(const std::string& program, std::size_t ranks = 2);
// The same, where r is computed by `call`, and y from it.
Case uses(const std::string& call);

// The program of every one of `count` ranks.
std::vector<std::string> each(std::size_t count, const std::function<std::string(std::size_t)>& program);
std::vector<std::string> copies(std::size_t count, const std::string& program);
// The text with every `from` replaced.
std::string replaced(std::string text, const std::string& from, const std::string& to);

}  // namespace entangle::infer::test
