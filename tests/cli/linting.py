"""`entangle lint`, as the user meets it."""
import pathlib
import re

from case import BAD_INPUT, REFINES, Case, graph, node, placeholder, ref

RULES = """include "core.rules";
normalise lemma add_of_one(x: tensor): add_n(x) => x;
lemma twice(x: tensor): add_n(x, x) => scale(x; 2);
lemma thrice(x: tensor): add_n(x, x, x) => scale(x; 3);
lemma again(y: tensor): add_n(y, y) => scale(y; 2);
lemma maps_concat<f: maps a -> r>(xs: tensor+):
  f(.., concat(xs; a), ..) => concat([f(.., x, .. | y @ b => slice(y; b, o, o + x.shape[a])) for x, o in zip(xs, offsets(xs, a))]; r);
lemma concat_of_copies(x: tensor, d: axis): exp(concat(x, x; d)) => concat(exp(x), exp(x); d);
lower t.exp(x: tensor): exp(x);
lower t.relu(x: tensor): max_n(x, full_like(0, x));
lower t.one(x: tensor): add_n([x]);
"""

MANIFEST = "sequential: seq.json\ndistributed: r{rank}.json\nranks: 2\nrules: [lint.rules]\ninputs:\n  x: Shard(0)\nexpect:\n  y: Shard(0)\n"


class Lint(Case):
    def lint(self, *arguments, code=REFINES):
        return self.run_program("lint", *arguments, code=code)

    def write_program(self):
        self.write("lint.rules", RULES)

        def program(rows, *rank):
            return graph([placeholder("x", [rows, 3]), node("s", "t.one", [rows, 3], [ref("x")]), node("y", "t.exp", [rows, 3], [ref("s")])],
                         ["x"], ["y"], *rank)
        self.write("seq.json", program(4))
        for rank in range(2):
            self.write(f"r{rank}.json", program(2, rank, 2))
        return self.write("m.yaml", MANIFEST)

    def test_counts(self):
        self.write("lint.rules", RULES)
        out = self.lint("--rules", "lint.rules").stdout
        self.assertIn("6 lemmas: 1 about every operator with a trait, 1 that normalise, 0 axioms\n3 lowerings of 3 framework operators\n2 files, ", out)
        self.assertNotIn("fire", out)

    def test_rules_are_no_manifest(self):
        self.write("lint.rules", RULES)
        for command in ("lint", "check"):
            shown = self.run_program(command, "lint.rules", code=BAD_INPUT).stderr
            self.assertIn("lint.rules is a file of rules, no manifest: use `--rules lint.rules`", shown)

    def test_never_fires(self):
        manifest = self.write_program()
        out = self.lint("--rules", "lint.rules", manifest).stdout
        self.assertIn("4 lemmas fire on none of 1 manifest\n  twice  lint.rules:3\n  thrice  lint.rules:4\n  again  lint.rules:5\n"
                      "  concat_of_copies  lint.rules:8\n", out)

    def test_implied(self):
        self.write("lint.rules", RULES)
        out = self.lint("--rules", "lint.rules", "--implied").stdout
        found = out[out.index("lemmas that the others find"):].splitlines()[1:]
        self.assertEqual(found, ["  twice  lint.rules:3", "  again  lint.rules:5", "  concat_of_copies  lint.rules:8",
                                 "3 of 6 lemmas"])

    def test_the_library(self):
        self.assertRegex(self.lint().stdout, r"^\d+ operators, \d+ of them with claims taken on trust\n\d+ lemmas: ")

    def test_nothing_is_implied_but_what_the_documentation_explains(self):
        out = self.lint("--implied").stdout
        found = [line.split()[0] for line in out[out.index("lemmas that the others find"):].splitlines()[1:-1]]
        text = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "library.md").read_text(encoding="utf-8")
        table = text[text.index("| lemma | what it is there for |"):].split("\n\n")[0].splitlines()[2:]
        self.assertEqual(sorted(found), sorted(name for row in table for name in re.findall(r"`(\w+)`", row.split("|")[1])))

    def test_the_documentation_counts_like_it(self):
        out = self.lint().stdout
        counted = [int(re.search(pattern, out).group(1)) for pattern in
                   (r"(\d+) operators,", r"(\d+) lemmas:", r"(\d+) about every operator", r"(\d+) lowerings", r"of (\d+) framework operators", r"(\d+) lines")]
        text = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "library.md").read_text(encoding="utf-8").replace(",", "")
        said = [int(re.search(pattern, text).group(1)) for pattern in
                (r"\| operators of the tensor algebra \| (\d+)", r"\| lemmas \| (\d+)", r"of which (\d+) speak of every operator",
                 r"\| lowerings \| (\d+) declarations", r"declarations of (\d+) operators", r"\| lines of rules \| (\d+)")]
        for there, here in zip(said, counted):
            self.assertAlmostEqual(there, here, delta=0.1 * here)  # they are rounded there

    def test_bad_manifests_say_nothing_of_lemmas(self):
        self.write("lint.rules", RULES)
        self.assertNotIn("fire", self.lint("--rules", "lint.rules", "nowhere.yaml", code=BAD_INPUT).stdout)

    def test_bad_input(self):
        self.write("lint.rules", RULES)
        self.assertIn("nowhere.yaml", self.lint("--rules", "lint.rules", "nowhere.yaml", code=BAD_INPUT).stderr)
        self.assertIn("there is no rule file", self.lint("--rules", "nowhere.rules", code=BAD_INPUT).stderr)
        self.assertIn("there is no option", self.lint("--implid", code=BAD_INPUT).stderr)
