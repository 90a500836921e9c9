"""`entangle prove`, as the user meets it."""
import json
import subprocess
import time

from case import BAD_INPUT, PROGRAM, REFINES, UNPROVED, VIOLATES, Case

# A library of two operators: every claim about every operator is proved, too.
SMALL = "op add_n(xs: tensor+): elementwise, commutative, clean { value i => sum(x[i] for x in xs); }\n" \
        "op scale(x: tensor; c: scalar): elementwise { value i => c * x[i]; linear x; }\n"
RIGHT = 'include "small.rules";\nlemma twice(x: tensor): add_n(x, x) => scale(x; 2);\n'
WRONG = 'include "small.rules";\nlemma once(x: tensor): add_n(x, x) => x;\nlemma twice(x: tensor): add_n(x, x) => scale(x; 2);\n'


class Prove(Case):
    def setUp(self):
        super().setUp()
        self.write("small.rules", SMALL)

    def prove(self, *arguments, code):
        return self.run_program("prove", *arguments, code=code)

    def test_right(self):
        self.write("right.rules", RIGHT)
        out = self.prove("right.rules", code=REFINES).stdout
        self.assertRegex(out, r"twice +proved +0,1,2,3,4 ")
        self.assertIn("1 lemma: 1 proved", out)

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
        self.write("never.rules", 'include "small.rules";\nlemma never(x: tensor): add_n(x) => x when rank(x) == 9;\n')
        self.assertIn("no instance was found", self.prove("never.rules", code=UNPROVED).stdout)

    def test_elements_that_do_not_exist_or_are_too_large(self):
        self.write("none.rules", "op glue(xs: tensor*; to: dtype): free { shape [2]; dtype to; value i => block(xs, 0, i); }\n"
                                 "op huge(; to: dtype): free { shape [2]; dtype to; value i => 9223372036854775807 * (i[0] + 2); }\n"
                                 "lemma glued(d: dtype): glue(; d) => glue(; d);\nlemma grown(d: dtype): huge(; d) => huge(; d);\n")
        for jobs in "1", "2":
            out = self.prove("none.rules", "--jobs", jobs, code=VIOLATES).stdout
            self.assertRegex(out, r"glued +unknown .*`block\(xs, 0, i\)` is undefined \(of glue, at \[0\]\)\n")
            self.assertRegex(out, r"glue: value +refuted ")
            self.assertRegex(out, r"grown +unknown .*a number that is too large\n")

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

    def test_own_lemmas_only(self):
        # What comes with the program is not tried; what the files include beside it is.
        self.write("parts.rules", 'include "core.rules";\nop third(x: tensor): elementwise { value i => x[i] / 3; linear x; }\n'
                                  'lemma twice(x: tensor): add_n(x, x) => scale(x; 2);\n')
        self.write("my.rules", 'include "parts.rules";\nlemma thrice(x: tensor): add_n(x, x, x) => scale(x; 3);\n')
        report = json.loads(self.prove("my.rules", "--own", "--json", "-", code=REFINES).stdout)
        self.assertEqual([one["name"] for one in report["lemmas"]], ["twice", "thrice"])
        self.assertLessEqual({"third: elementwise", "third: linear x"}, {one["name"] for one in report["claims"]})
        self.assertEqual({one["name"].split(":")[0] for one in report["claims"]}, {"third"})
        # A file of the library that is given is meant.
        library = json.loads(self.prove("core.rules", "--own", "--json", "-", code=REFINES).stdout)
        self.assertIn("cast: linear x", [one["name"] for one in library["claims"]])

    def test_the_ledger_is_written_as_it_goes(self):
        run = subprocess.Popen([PROGRAM[0], "prove", "aten.rules", "--cache", "kept"], cwd=self.folder, stdout=subprocess.DEVNULL)
        ledger = self.folder / "kept" / "ledger.json"
        try:
            until = time.monotonic() + 120
            while not ledger.exists() and run.poll() is None and time.monotonic() < until:
                time.sleep(0.1)
        finally:
            run.kill()
            run.wait()
        self.assertGreater(len(json.loads(ledger.read_text(encoding="utf-8"))["results"]), 0)

    def test_what_is_no_ledger(self):
        self.write("right.rules", RIGHT)
        for text, why in (("{}", "it has no `version` and `results`"), ("[1]", "it has no `version` and `results`"), ("{", "it is no JSON"),
                          ('{"version": 1, "results": {}}', "it is of another version"), ('{"version": 2, "results": []}', "its `results` are no object"),
                          ('{"version": 2, "results": {"a": {"name": 1}}}', "its entry `a` is malformed")):
            self.write("kept/ledger.json", text)
            run = self.prove("--cache", "kept", "right.rules", code=BAD_INPUT)
            self.assertIn("`kept/ledger.json` is no proof ledger: " + why + " [cli/ledger]", run.stderr)
            self.assertNotIn("json.exception", run.stderr)

    def test_claims(self):
        self.write("right.rules", RIGHT)
        run = self.prove("--lemma", "scale: linear x", "--lemma", "add_n: commutative", "--json", "p.json", "right.rules", code=REFINES)
        self.assertRegex(run.stdout, r"claim +verdict")
        self.assertIn("2 claims about operators: 2 proved", run.stdout)
        report = json.loads((self.folder / "p.json").read_text(encoding="utf-8"))
        self.assertEqual(report["lemmas"], [])
        self.assertEqual([(claim["name"], claim["verdict"]) for claim in report["claims"]],
                         [("add_n: commutative", "proved"), ("scale: linear x", "proved")])

    def test_nothing_to_prove(self):
        for text in ("", "// nothing\n", "op f(x: tensor);\n"):
            self.write("empty.rules", text)
            self.assertIn("the rules declare no lemma", self.prove("empty.rules", code=BAD_INPUT).stderr)

    def test_functions_that_nothing_says_more_of(self):
        self.write("wave.rules", 'include "small.rules";\nop wave(x: tensor): elementwise;\nlemma waves(x: tensor): wave(scale(x; -1)) => scale(wave(x); -1);\n')
        self.assertIn("\n  `wave` may be any function: no law says more of it\n", self.prove("wave.rules", "--lemma", "waves", code=VIOLATES).stdout)

    def test_values(self):
        # Each element but the first is read one place too far, the first outside.
        self.write("rev.rules", "op rev(x: tensor; d: axis(x)): rearranges { value i => x[i with [d] = x.shape[d] - i[d]]; }\n"
                                "lemma revrev(x: tensor, d: axis): rev(rev(x; d); d) => x;\n")
        out = self.prove("rev.rules", code=VIOLATES).stdout
        self.assertRegex(out, r"revrev +unknown .* no instance could be evaluated: an element outside of x: ")
        self.assertRegex(out, r"rev: value +refuted ")
        self.assertRegex(out, r"rev: rearranges +unknown ")
        self.assertIn("\n  fails with x = f32[1], d = 0\n  x : f32[1] = [0]\n  rev(x; 0) : f32[1]\n"
                      "  its `value` has no meaning: an element outside of x: [1] (of rev, at [0])\n", out)
        self.assertIn("2 claims about operators: 1 refuted, 1 unknown", out)

    def test_hard_arithmetic(self):
        # n^2 - n is even, n^3 - n is divisible by 3: true, and beyond the solver, which must end all the same.
        for power, divisor in (("i[0] * i[0]", 2), ("i[0] * i[0] * i[0]", 3)):
            self.write("hard.rules", f"op f(x: tensor) {{ require rank(x) == 1; value i => x[i] * (({power} - i[0]) mod {divisor} + 1); }}\n"
                                     "op same(x: tensor) { require rank(x) == 1; value i => x[i]; }\n"
                                     "lemma hard(x: tensor): f(x) => same(x);\n")
            self.assertRegex(self.prove("--lemma", "hard", "hard.rules", code=REFINES).stdout, r"hard +(tested|bounded) ")

    def test_time_limit(self):
        self.write("right.rules", RIGHT)
        run = self.prove("--time-limit", "1e-6", "--cache", "kept", "right.rules", code=REFINES)
        self.assertRegex(run.stdout, r"twice +tested .* gave up after 0 s\n")
        # What time decided is not kept.
        self.assertRegex(self.prove("--cache", "kept", "right.rules", code=REFINES).stdout, r"twice +proved ")
        self.prove("--time-limit", "3600", "--require", "proved", "right.rules", code=REFINES)
        for wrong in ("0", "-1", "nan"):
            self.assertIn("--time-limit needs a positive number of seconds",
                          self.prove("--time-limit", wrong, "right.rules", code=BAD_INPUT).stderr)

    def test_operators_of_a_generic_lemma(self):
        self.write("generic.rules", 'include "small.rules";\nlemma adds<f: linear>(x: tensor, y: tensor): '
                                    'f(.., add_n(x, y), ..) => add_n(f(.., x, ..), f(.., y, ..));\n')
        run = self.prove("--lemma", "adds", "--json", "p.json", "generic.rules", code=REFINES)
        operators = json.loads((self.folder / "p.json").read_text(encoding="utf-8"))["lemmas"][0]["operators"]
        self.assertEqual([one["name"] for one in operators], ["scale"])
        self.assertEqual({one["verdict"] for one in operators}, {"proved"})
        self.assertTrue(all(one["forms"] > 0 for one in operators))
        self.assertIn(f"1 of them is generic, with {len(operators)} pair{'s' if len(operators) > 1 else ''} of a lemma and an operator: {len(operators)} proved", run.stdout)

    def test_json_to_standard_output_only(self):
        self.write("right.rules", RIGHT)
        first = json.loads(self.prove("--json", "-", "right.rules", code=REFINES).stdout)
        second = json.loads(self.prove("--json", "-", "right.rules", code=REFINES).stdout)
        for report in (first, second):
            for one in report["lemmas"] + report["claims"]:
                del one["seconds"]
        self.assertEqual(first, second)
