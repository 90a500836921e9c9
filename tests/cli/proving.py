"""`entangle prove`, as the user meets it."""
import json

from case import BAD_INPUT, REFINES, UNPROVED, VIOLATES, Case, graph, node, placeholder, ref

RIGHT = 'include "core.rules";\nlemma twice(x: tensor): add_n(x, x) => scale(x; 2);\n'
WRONG = 'include "core.rules";\nlemma once(x: tensor): add_n(x, x) => x;\nlemma twice(x: tensor): add_n(x, x) => scale(x; 2);\n'


class Prove(Case):
    def prove(self, *arguments, code):
        return self.run_program("prove", *arguments, code=code)

    def test_right(self):
        self.write("right.rules", RIGHT)
        out = self.prove("right.rules", code=REFINES).stdout
        self.assertRegex(out, r"twice +proved +0,1,2,3,4 ")
        self.assertIn("1 lemmas: 1 proved", out)

    def test_wrong(self):
        self.write("wrong.rules", WRONG)
        run = self.prove("wrong.rules", "--json", "report.json", code=VIOLATES)
        self.assertRegex(run.stdout, r"once +refuted ")
        self.assertIn("first difference at []: 2 against 1", run.stdout)
        self.assertIn("left:  add_n(x, x) : f32[] = 2\n", run.stdout)
        lemmas = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))["lemmas"]
        self.assertEqual([(lemma["name"], lemma["verdict"]) for lemma in lemmas], [("once", "refuted"), ("twice", "proved")])
        self.assertIn("first difference", lemmas[0]["counterexample"])
        self.assertIsNone(lemmas[1]["counterexample"])
        self.assertEqual((lemmas[0]["file"], lemmas[0]["line"]), ("wrong.rules", 2))

    def test_one_lemma(self):
        self.write("wrong.rules", WRONG)
        self.prove("--lemma", "twice", "wrong.rules", code=REFINES)
        self.prove("--lemma", "twice", "--lemma", "once", "wrong.rules", code=VIOLATES)
        self.assertIn("did you mean `twice`", self.prove("--lemma", "twics", "wrong.rules", code=BAD_INPUT).stderr)

    def test_requirement(self):
        self.write("right.rules", RIGHT)
        self.prove("--require", "proved", "right.rules", code=REFINES)
        self.write("accept.rules", RIGHT.replace("\n", "\naccept bounded;\n", 1))
        self.prove("accept.rules", code=REFINES)
        self.prove("--require", "tested", "accept.rules", code=REFINES)
        self.prove("--require", "nothing", "right.rules", code=BAD_INPUT)

    def test_never_applies(self):
        self.write("never.rules", 'include "core.rules";\nlemma never(x: tensor): add_n(x) => x when rank(x) == 9;\n')
        self.assertIn("no instance was found", self.prove("never.rules", code=UNPROVED).stdout)

    def test_bad_input(self):
        self.assertIn("no rule file is given", self.prove(code=BAD_INPUT).stderr)
        self.assertIn("there is no rule file", self.prove("nowhere.rules", code=BAD_INPUT).stderr)
        self.write("broken.rules", "lemma x(:\n")
        self.assertIn("broken.rules:1:", self.prove("broken.rules", code=BAD_INPUT).stderr)
        self.write("right.rules", RIGHT)
        self.assertIn("there is no option", self.prove("--lema", "twice", "right.rules", code=BAD_INPUT).stderr)

    def test_cache(self):
        self.write("wrong.rules", WRONG)
        first = self.prove("--cache", "kept", "--jobs", "2", "--json", "first.json", "wrong.rules", code=VIOLATES)
        second = self.prove("--cache", "kept", "--cache-only", "--json", "second.json", "wrong.rules", code=VIOLATES)
        self.assertIn("once", first.stdout)
        reports = []
        for name in ("first.json", "second.json"):
            lemmas = json.loads((self.folder / name).read_text(encoding="utf-8"))["lemmas"]
            for lemma in lemmas:
                del lemma["seconds"]
            reports.append(lemmas)
        self.assertEqual(reports[0], reports[1])
        # Another lemma, or another operator, is another question.
        self.write("wrong.rules", WRONG.replace("scale(x; 2)", "scale(x; 3)"))
        run = self.prove("--cache", "kept", "--cache-only", "wrong.rules", code=BAD_INPUT)
        self.assertIn("the lemma `twice` is not in the cache", run.stderr)
        (self.folder / "kept" / "ledger.json").write_text("{}", encoding="utf-8")
        self.assertIn("is no proof ledger", self.prove("--cache", "kept", "wrong.rules", code=BAD_INPUT).stderr)
        self.prove("--cache-only", "wrong.rules", code=BAD_INPUT)

    def test_check_reads_the_ledger(self):
        # The sum of two ranks is twice the input, by a lemma of its own rule file.
        rules = 'include "core.rules";\nlemma {}(x: tensor): add_n(x, x) => scale(x; 2);\nlower my.sum(x: tensor, y: tensor): add_n(x, y);\n' \
                'lower my.twice(x: tensor): scale(x; 2);\n'
        self.write("seq.json", graph([placeholder("x", [4]), node("y", "my.twice", [4], [ref("x")])], ["x"], ["y"]))
        self.write("r0.json", graph([placeholder("x", [4]), node("y", "my.sum", [4], [ref("x"), ref("x")])], ["x"], ["y"]))
        self.write("m.yaml", "sequential: seq.json\ndistributed: r{rank}.json\nranks: 1\ninputs:\n  x: r0.x\nexpect:\n  y: r0.y\n")
        self.write("my.rules", rules.format("twice"))
        self.prove("--cache", "kept", "my.rules", code=REFINES)
        ledger = ["--ledger", "kept/ledger.json"]
        self.assertIn("every lemma that was applied is proved", self.check("m.yaml", "--rules", "my.rules", *ledger, code=REFINES).stdout)
        self.write("my.rules", rules.format("doubled"))
        self.assertIn("doubled (not in the ledger)", self.check("m.yaml", "--rules", "my.rules", *ledger, code=REFINES).stdout)
        self.write("my.rules", rules.format("twice") + "lemma once(x: tensor): add_n(x, x) => x;\n")
        self.prove("--cache", "kept", "my.rules", code=VIOLATES)
        run = self.check("m.yaml", "--rules", "my.rules", *ledger, code=BAD_INPUT)
        self.assertIn("the lemma `once` is refuted by the proof ledger", run.stderr)

    def test_json_to_standard_output_only(self):
        self.write("right.rules", RIGHT)
        first = json.loads(self.prove("--json", "-", "right.rules", code=REFINES).stdout)
        second = json.loads(self.prove("--json", "-", "right.rules", code=REFINES).stdout)
        for report in (first, second):
            for lemma in report["lemmas"]:
                del lemma["seconds"]
        self.assertEqual(first, second)
