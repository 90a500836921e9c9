"""What a verdict rests on: axioms, and rules of one's own that are not proved."""
import json
import os
import pathlib
import shutil

from case import BAD_INPUT, REFINES, UNPROVED, VIOLATES, Case, graph, node, placeholder, ref

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The sum of a tensor with itself is twice the tensor, by a lemma of this file.
RULES = 'include "core.rules";\nlemma {}(x: tensor): add_n(x, x) => scale(x; 2);\nlower my.sum(x: tensor, y: tensor): add_n(x, y);\n' \
        'lower my.twice(x: tensor): scale(x; 2);\n'
MANIFEST = "sequential: seq.json\ndistributed: r{rank}.json\nranks: 1\ninputs:\n  x: r0.x\nexpect:\n  y: r0.y\n"


class Grounds(Case):
    def setUp(self):
        super().setUp()
        self.write_programs("my.sum", [ref("x"), ref("x")])
        self.write("m.yaml", MANIFEST)
        self.write("my.rules", RULES.format("twice"))

    def write_programs(self, op, args):
        self.write("seq.json", graph([placeholder("x", [4]), node("y", "my.twice", [4], [ref("x")])], ["x"], ["y"]))
        self.write("r0.json", graph([placeholder("x", [4]), node("y", op, [4], args)], ["x"], ["y"]))

    def verdict(self, *arguments, code=REFINES, environment=None):
        """The text of a check with my.rules, and its JSON."""
        run = self.run_program("check", "m.yaml", "--rules", "my.rules", "--json", "v.json", *arguments, code=code, environment=environment)
        (result,) = json.loads((self.folder / "v.json").read_text(encoding="utf-8"))["results"]
        return run.stdout, result

    def test_lemmas_of_ones_own_are_named(self):
        text, result = self.verdict()
        self.assertEqual(result["unproved"], [{"kind": "lemma", "name": "twice", "file": "my.rules", "line": 2, "verdict": "not proved"}])
        self.assertIn("assumptions\n  lemma `twice` (my.rules:2): not proved\n", text)
        self.assertIn("`entangle prove my.rules --own --cache .proofs`", text)

    def test_lemmas_that_normalise_are_named(self):
        self.write("my.rules", RULES.format("twice").replace("lemma twice", "normalise lemma twice"))
        self.assertEqual([one["name"] for one in self.verdict()[1]["unproved"]], ["twice"])

    def test_what_is_not_applied_is_not_named(self):
        self.write("my.rules", RULES.format("twice") + "lemma thrice(x: tensor): add_n(x, x, x) => scale(x; 3);\n"
                   "op third(x: tensor): elementwise { value i => x[i] / 3; }\n")
        self.assertEqual([one["name"] for one in self.verdict()[1]["unproved"]], ["twice"])

    def test_a_verdict_from_the_memo_names_them_too(self):
        texts = [self.verdict("--memo", "memo") for _ in range(2)]
        self.assertEqual(texts[0][0], texts[1][0])
        self.assertEqual(texts[0][1]["unproved"], texts[1][1]["unproved"])
        self.assertEqual(len(texts[1][1]["unproved"]), 1)

    def test_equal_problems_count_each(self):
        # The second of two equal problems is answered by the memo; with a verdict that is not kept it is solved from the folder.
        self.verdict("--memo", "memo")
        for kept in (self.folder / "memo").glob("verdict-*"):
            kept.unlink()
        text, result = self.verdict("--memo", "memo")
        self.assertEqual([one["name"] for one in result["unproved"]], ["twice"])

    def test_the_ledger_knows_what_is_proved(self):
        self.run_program("prove", "my.rules", "--own", "--cache", "kept", code=REFINES)
        self.assertEqual(len(json.loads((self.folder / "kept" / "ledger.json").read_text(encoding="utf-8"))["results"]), 1)
        missing = self.run_program("check", "m.yaml", "--rules", "my.rules", "--ledger", "kept/none.json", code=BAD_INPUT)
        self.assertIn("cannot read kept/none.json", missing.stderr)
        ledger = ["--ledger", "kept/ledger.json"]
        text, result = self.verdict(*ledger, "--strict")
        self.assertEqual(result["unproved"], [])
        self.assertNotIn("assumptions", text)
        # Less than a proof is named as what it is.
        path = self.folder / "kept" / "ledger.json"
        path.write_text(path.read_text(encoding="utf-8").replace('"verdict": "proved"', '"verdict": "tested"'), encoding="utf-8")
        text, result = self.verdict(*ledger)
        self.assertEqual([one["verdict"] for one in result["unproved"]], ["tested"])
        self.assertIn("lemma `twice` (my.rules:2): tested\n", text)
        self.assertNotIn("entangle prove", text)
        # Another text is another lemma.
        self.write("my.rules", RULES.format("doubled"))
        text, result = self.verdict(*ledger)
        self.assertEqual([(one["name"], one["verdict"]) for one in result["unproved"]], [("doubled", "not in the ledger")])

    def test_refuted_rules_are_an_error(self):
        ledger = ["--rules", "my.rules", "--ledger", "kept/ledger.json"]
        self.write("my.rules", RULES.format("twice") + "lemma once(x: tensor): add_n(x, x) => x;\n")
        self.run_program("prove", "--own", "--cache", "kept", "my.rules", code=VIOLATES)
        run = self.check("m.yaml", *ledger, code=BAD_INPUT)
        self.assertIn("the lemma `once` is refuted by the proof ledger", run.stderr)
        # So is a false claim about an operator.
        self.write("my.rules", RULES.format("twice") + "op minus(x: tensor, y: tensor): elementwise, commutative { value i => x[i] - y[i]; }\n"
                                                       "op less(x: tensor, y: tensor): elementwise, commutative { value i => x[i] - 2 * y[i]; }\n")
        run = self.run_program("prove", "--own", "--cache", "kept", "my.rules", code=VIOLATES)
        self.assertRegex(run.stdout, r"minus: commutative +refuted ")
        run = self.check("m.yaml", *ledger, "--json", "v.json", code=BAD_INPUT)
        self.assertIn("the claim `minus: commutative` is refuted by the proof ledger", run.stderr)
        report = json.loads((self.folder / "v.json").read_text(encoding="utf-8"))
        self.assertEqual(report["error"]["id"], "cli/refuted-claim")
        self.assertEqual([note["message"] for note in report["error"]["notes"]], ["the claim `less: commutative` is refuted by the proof ledger"])
        self.assertEqual(report["results"], [{"manifest": "m.yaml", "error": report["error"]}])

    def test_strict(self):
        text, result = self.verdict("--strict", code=UNPROVED)
        self.assertEqual(result["verdict"], "unproved")
        self.assertEqual(result["obligations"], ["lemma `twice` (my.rules:2): not proved (--strict)"])
        self.assertTrue(text.startswith("unproved: m.yaml"), text)
        # Of the library nothing is to be proved.
        self.write("my.rules", 'include "core.rules";\nlower my.sum(x: tensor, y: tensor): scale(x; 2);\nlower my.twice(x: tensor): scale(x; 2);\n')
        self.assertEqual(self.verdict("--strict")[1]["obligations"], [])

    def test_claims_about_operators_of_ones_own(self):
        # That the operator works on blocks is used by lemmas of the library.
        self.write("my.rules", 'include "core.rules";\ninclude "traits.rules";\nop third(x: tensor): elementwise { value i => x[i] / 3; }\n'
                               "lower my.third(x: tensor): third(x);\n")
        self.write("seq.json", graph([placeholder("x", [4]), node("y", "my.third", [4], [ref("x")])], ["x"], ["y"]))
        for rank in range(2):
            self.write(f"r{rank}.json", graph([placeholder("x", [2]), node("y", "my.third", [2], [ref("x")])], ["x"], ["y"], rank, 2))
        self.write("m.yaml", "sequential: seq.json\ndistributed: r{rank}.json\nranks: 2\ninputs:\n  x: Shard(0)\nexpect:\n  y: Shard(0)\n")
        text, result = self.verdict()
        self.assertIn({"kind": "claim", "name": "third: elementwise", "file": "my.rules", "line": 3, "verdict": "not proved"}, result["unproved"])
        self.assertEqual({one["kind"] for one in result["unproved"]}, {"claim"})
        self.verdict("--strict", code=UNPROVED)
        self.run_program("prove", "my.rules", "--own", "--cache", "kept", code=REFINES)
        self.assertEqual(self.verdict("--ledger", "kept/ledger.json", "--strict")[1]["unproved"], [])

    def test_axioms_are_assumptions(self):
        self.write("my.rules", RULES.format("twice").replace("lemma twice", "axiom twice").replace("scale(x; 2);\nlower my.sum", 'scale(x; 2) because "so it is";\nlower my.sum', 1))
        text, result = self.verdict("--strict")
        self.assertEqual(result["assumptions"], ["axiom `twice` (my.rules:2): so it is"])
        self.assertEqual(result["unproved"], [])
        self.assertIn("  axiom `twice` (my.rules:2): so it is\n", text)

    def test_axioms_about_operators_are_assumptions(self):
        self.write("my.rules", 'include "core.rules";\nop twice(x: tensor): elementwise { because "so it is"; }\nlower my.sum(x: tensor, y: tensor): twice(x);\n'
                               "lower my.twice(x: tensor): twice(x);\n")
        self.assertEqual(self.verdict("--strict")[1]["assumptions"], ["axiom about `twice` (my.rules:2): so it is"])

    def test_a_copy_of_the_library_is_the_library(self):
        shutil.copytree(ROOT / "rules", self.folder / "copy")
        environment = {"ENTANGLE_RULES": str(self.folder / "copy")}
        self.write("my.rules", 'include "aten.rules";\n')
        self.write("seq.json", graph([placeholder("x", [4]), node("y", "aten.exp.default", [4], [ref("x")])], ["x"], ["y"]))
        for rank in range(2):
            self.write(f"r{rank}.json", graph([placeholder("x", [2]), node("y", "aten.exp.default", [2], [ref("x")])], ["x"], ["y"], rank, 2))
        self.write("m.yaml", "sequential: seq.json\ndistributed: r{rank}.json\nranks: 2\ninputs:\n  x: Shard(0)\nexpect:\n  y: Shard(0)\n")
        self.assertEqual(self.verdict("--strict", environment=environment)[1]["unproved"], [])
        # What was edited is not.
        for path in (self.folder / "copy").glob("*.rules"):
            path.write_text(path.read_text(encoding="utf-8") + "// edited\n", encoding="utf-8")
        unproved = self.verdict(environment=environment)[1]["unproved"]
        self.assertIn("maps_concat", [one["name"] for one in unproved])
        self.assertEqual({os.path.dirname(one["file"]) for one in unproved}, {str(self.folder / "copy")})
