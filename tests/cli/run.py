#!/usr/bin/env python3
"""run.py PROGRAM [unittest arguments]: end-to-end tests of the program: arguments, bad input, exit codes, reports.

Every test writes its graphs, manifests and rules to a folder of its own and runs PROGRAM there."""
import json
import os
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
from case import BAD_INPUT, PROGRAM, REFINES, UNPROVED, VIOLATES, Case, graph, node, placeholder, ref  # noqa: E402
from promises import Promises  # noqa: E402,F401
from linting import Lint  # noqa: E402,F401
from proving import Prove  # noqa: E402,F401
from compiling import Compiling  # noqa: E402,F401
from limits import Limits  # noqa: E402,F401
from hlo import Hlo  # noqa: E402,F401
from grounds import Grounds  # noqa: E402,F401

def sequential_mlp():
    return graph([placeholder("x", [4, 8]), placeholder("w1", [8, 6]), placeholder("w2", [6, 8]),
                  node("h", "aten.mm.default", [4, 6], [ref("x"), ref("w1")], loc="model.py:11"),
                  node("a", "aten.relu.default", [4, 6], [ref("h")], loc="model.py:12"),
                  node("y", "aten.mm.default", [4, 8], [ref("a"), ref("w2")], loc="model.py:13")], ["x", "w1", "w2"], ["y"])


def rank_mlp(rank, all_reduce=True):
    nodes = [placeholder("x", [4, 8]), placeholder("w1", [8, 3]), placeholder("w2", [3, 8]),
             node("h", "aten.mm.default", [4, 3], [ref("x"), ref("w1")], loc="dist.py:21"),
             node("a", "aten.relu.default", [4, 3], [ref("h")], loc="dist.py:22"),
             node("p", "aten.mm.default", [4, 8], [ref("a"), ref("w2")], loc="dist.py:23")]
    if all_reduce:
        nodes.append(node("r", "_c10d_functional.all_reduce.default", [4, 8], [ref("p"), "sum", "tp"], loc="dist.py:24"))
        nodes.append(node("y", "_c10d_functional.wait_tensor.default", [4, 8], [ref("r")], loc="dist.py:24"))
    else:
        nodes[-1]["name"] = "y"
    return graph(nodes, ["x", "w1", "w2"], ["y"], rank, 2)


MLP = """sequential: seq.json
distributed: r{rank}.json
ranks: 2
inputs:
  x: Replicate
  w1: Shard(1)
  w2: Shard(0)
expect:
  y: Replicate
"""


class MlpCase(Case):
    def write_mlp(self, all_reduce=True, manifest=MLP):
        self.write("seq.json", sequential_mlp())
        for rank in range(2):
            self.write(f"r{rank}.json", rank_mlp(rank, all_reduce))
        return self.write("m.yaml", manifest)


class Arguments(Case):
    def usage_error(self, *arguments, says):
        run = self.run_program(*arguments, code=BAD_INPUT)
        self.assertEqual(run.stdout, "")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, run.stderr)

    def test_help(self):
        run = self.run_program("--help", code=0)
        self.assertIn("check", run.stdout)
        self.assertIn("Exit codes: 0 refines, 1 violates, 2 bad input, 3 unproved, 4 internal error.", run.stdout)
        run = self.run_program("check", "--help", code=0)
        for option in ("--rules", "--json", "--verbose", "--time-limit", "MANIFEST"):
            self.assertIn(option, run.stdout)

    def test_version(self):
        self.assertRegex(self.run_program("--version", code=0).stdout, r"^entangle \d+\.\d+\.\d+\n$")

    def test_no_command(self):
        self.usage_error(says="check")

    def test_unknown_command(self):
        self.usage_error("chek", "m.yaml", says=["there is no command `chek`", "did you mean `check`?"])
        self.usage_error("m.yaml", says=["there is no command `m.yaml`", "entangle check m.yaml"])

    def test_unknown_option(self):
        self.usage_error("check", "--rule", "x", "m.yaml", says=["there is no option `--rule`", "did you mean `--rules`?"])
        self.usage_error("check", "m.yaml", "--jsn=x", says=["there is no option `--jsn`", "did you mean `--json`?"])
        self.usage_error("--versoin", says=["there is no option `--versoin`", "did you mean `--version`?"])

    def test_missing_values(self):
        self.usage_error("check", says="no manifest is given")
        self.usage_error("check", "m.yaml", "--json", says="--json")
        self.usage_error("check", "m.yaml", "--time-limit", "soon", says="--time-limit")
        self.usage_error("check", "m.yaml", "--time-limit", "-1", says="positive")

    def test_options_without_their_name(self):
        for option in ("--json", "--rules", "--ledger", "--memo"):
            self.usage_error("check", option, "--verbose", "m.yaml", says=f"{option}: needs a name, but is followed by `--verbose`")
            self.usage_error("check", "m.yaml", option, "", says=f"{option}: a name must not be empty")
        self.usage_error("prove", "r.rules", "--lemma", "--seed", says="--lemma: needs a name, but is followed by `--seed`")
        self.usage_error("lint", "m.yaml", "--rules", "--implied", says="--rules: needs a name, but is followed by `--implied`")

    def test_standard_input(self):
        self.bad_input("-", says="a manifest cannot come from standard input")


class BadManifests(MlpCase):
    """Rows of bad input that concern the manifest and the files it names."""

    def changed(self, old, new):
        self.assertIn(old, MLP)
        return self.write_mlp(manifest=MLP.replace(old, new))

    def test_missing_file(self):
        self.bad_input("absent.yaml", says="cannot read absent.yaml: No such file or directory", identifier="relation/cannot-read")
        self.write("folder/x", "")
        self.bad_input("folder", says="cannot read folder")

    def test_what_does_not_end_or_does_not_begin(self):
        for name, says in (("/dev/zero", "it is neither a file nor a pipe"), ("silent", "nothing comes out of this pipe")):
            if name == "silent":
                os.mkfifo(self.folder / name)
            self.bad_input(name, says=f"cannot read {name}: {says}", identifier="relation/cannot-read")
            self.write_mlp(manifest=MLP.replace("seq.json", name))
            self.bad_input("m.yaml", says=f"{name}: {says}")

    def test_memo_folder(self):
        manifest = self.write_mlp()
        self.write("file", "")
        run = self.run_program("check", manifest, "--memo", "file", code=BAD_INPUT)
        self.assertIn("--memo: file is not a folder", run.stderr)

    def test_yaml_syntax(self):
        self.write("m.yaml", "sequential: seq.json\ninputs: {w: Shard(0)\nranks: 2\n")
        self.bad_input("m.yaml", says="not valid YAML", place=("m.yaml", 3, 6), identifier="relation/yaml-syntax")

    def test_unknown_key(self):
        self.changed("expect:", "expects:")
        self.bad_input("m.yaml", says=["manifests have no key `expects`", "did you mean `expect`?"], place=("m.yaml", 8, 1),
                       identifier="relation/unknown-key")

    def test_missing_key(self):
        self.changed("sequential: seq.json\n", "")
        self.bad_input("m.yaml", says="the manifest has no key `sequential`", place=("m.yaml", 0, 0))

    def test_sequential_file_missing(self):
        self.changed("seq.json", "sequence.json")
        self.bad_input("m.yaml", says="sequence.json")

    def test_rank_file_missing(self):
        self.write_mlp()
        (self.folder / "r1.json").unlink()
        self.bad_input("m.yaml", says=["r1.json", "No such file or directory"])

    def test_truncated_json(self):
        self.write_mlp()
        text = (self.folder / "r1.json").read_text(encoding="utf-8")
        self.write("r1.json", text[:len(text) // 2])
        self.assertEqual(self.bad_input("m.yaml", says="r1.json")["file"], "r1.json")

    def test_sequential_tensor_that_exists_nowhere(self):
        self.changed("w1:", "w3:")
        self.bad_input("m.yaml", says="the sequential graph has no tensor `w3`", place=("m.yaml", 6, 3),
                       identifier="relation/unknown-tensor")

    def test_distributed_tensor_that_exists_nowhere(self):
        self.changed("x: Replicate", "x: [r0.x, r1.xx]")
        self.bad_input("m.yaml", says=["rank 1 has no tensor `xx`", "did you mean `x`?"], place=("m.yaml", 5, 13),
                       identifier="relation/unknown-leaf")

    def test_glob_that_matches_nothing(self):
        self.changed("w1:", "'w.*':")
        self.bad_input("m.yaml", says="no input of the sequential graph matches `w.*`", place=("m.yaml", 6, 4),
                       identifier="relation/no-match")

    def test_unknown_output(self):
        self.changed("  y: Replicate", "  z: Replicate")
        self.bad_input("m.yaml", says="the sequential graph has no tensor `z`", place=("m.yaml", 9, 3),
                       identifier="relation/unknown-output")

    def test_input_relation_with_a_computed_tensor(self):
        self.changed("x: Replicate", "x: r0.y")
        self.bad_input("m.yaml", says=["uses r0.y, which is computed", "stands under `given`"], place=("m.yaml", 5, 6),
                       identifier="relation/computed-leaf")

    def test_input_relation_for_a_computed_tensor(self):
        self.changed("x: Replicate", "a: r0.x")
        self.bad_input("m.yaml", says=["`a` is no input of the sequential graph", "stands under `given`"],
                       identifier="relation/not-an-input")

    def test_one_element_twice(self):
        self.changed("w1: Shard(1)", "w1: \"concat(r0.w1, r0.w1; 1)\"")
        self.bad_input("m.yaml", says="the relation of `w1` uses elements of r0.w1 twice", place=("m.yaml", 6, 8),
                       identifier="relation/used-twice")

    def test_two_inputs_claim_the_same_elements(self):
        self.write("seq.json", graph([placeholder("a", [4]), placeholder("b", [4]), node("y", "aten.sub.Tensor", [4], [ref("a"), ref("b")])],
                                     ["a", "b"], ["y"]))
        self.write("r0.json", graph([placeholder("a", [4]), node("y", "aten.sub.Tensor", [4], [ref("a"), ref("a")])], ["a"], ["y"]))
        self.write("m.yaml", "sequential: seq.json\ndistributed: [r0.json]\ninputs:\n  a: r0.a\n  b: r0.a\n")
        self.bad_input("m.yaml", says=["`a` and `b` both claim elements of r0.a", 'assume: ["a == b"]'], identifier="relation/claimed-twice")

    def test_shape_mismatch(self):
        self.changed("w1: Shard(1)", "w1: Replicate")
        self.bad_input("m.yaml", says="`w1` is f32[8, 6], but `r0.w1` is f32[8, 3]", identifier="relation/shape-mismatch")

    def test_input_without_a_relation(self):
        self.changed("  w2: Shard(0)\n", "")
        self.bad_input("m.yaml", says="depend on the input `w2`", identifier="relation/missing-relation")

    def test_contradictory_sizes(self):
        self.changed("expect:", "assume: [\"x in [4, 3)\"]\nexpect:")
        self.bad_input("m.yaml", says="is empty", identifier="relation/bad-assumption")

    def test_rank_count(self):
        self.changed("distributed: r{rank}.json", "distributed: [r0.json, r1.json, r2.json]")
        self.bad_input("m.yaml", says="3 files are listed for 2 ranks", identifier="relation/rank-count")


class BadGraphs(MlpCase):
    def broken(self, change):
        self.write_mlp()
        content = sequential_mlp()
        change(content)
        self.write("seq.json", content)

    def test_reference_to_a_missing_node(self):
        self.broken(lambda g: g["nodes"][3]["args"].__setitem__(0, ref("xx")))
        self.assertEqual(self.bad_input("m.yaml", says=["`xx`", "seq.json"])["file"], "seq.json")

    def test_cycle(self):
        self.broken(lambda g: g["nodes"][3]["args"].__setitem__(0, ref("y")))
        self.assertEqual(self.bad_input("m.yaml", says="seq.json")["file"], "seq.json")

    def test_duplicate_name(self):
        self.broken(lambda g: g["nodes"][4].__setitem__("name", "h"))
        self.bad_input("m.yaml", says="`h`")

    def test_shape_that_contradicts_the_operator(self):
        self.broken(lambda g: g["nodes"][3].__setitem__("shape", [4, 7]))
        self.bad_input("m.yaml", says="`h`")


class BadRules(MlpCase):
    def test_missing_rule_file(self):
        self.write_mlp()
        self.bad_input("--rules", "atan.rules", "m.yaml", says=["there is no rule file atan.rules", "did you mean `aten.rules`"],
                       identifier="cli/no-such-rules")
        self.write("m.yaml", MLP + "rules: [mine.rules]\n")
        self.bad_input("m.yaml", says="there is no rule file mine.rules", place=("m.yaml", 10, 9), identifier="cli/no-such-rules")

    def test_syntax_type_and_arity(self):
        self.write_mlp()
        for text in ("lemma a(x: tensor: x => x;\n", "include \"core.rules\";\nlemma a(x: tensor): exp(x) => slice(x; true, 0, 1);\n",
                     "include \"core.rules\";\nlemma a(x: tensor): exp(x, x) => x;\n"):
            with self.subTest(text):
                self.write("mine.rules", text)
                error = self.bad_input("--rules", "mine.rules", "m.yaml", says="mine.rules")
                self.assertEqual(error["file"], "mine.rules")
                self.assertEqual(error["line"], text.count("\n"))

    def test_rules_beside_the_manifest_come_first(self):
        self.write_mlp(manifest=MLP + "rules: [aten.rules]\n")
        self.write("aten.rules", "lemma broken(\n")
        self.assertEqual(self.bad_input("m.yaml", says="aten.rules")["file"], "aten.rules")


    def test_errors_of_shared_rules_are_printed_once(self):
        self.write_mlp(manifest=MLP + "rules: [mine.rules]\n")
        self.write("n.yaml", MLP + "rules: [mine.rules]\n")
        self.write("mine.rules", "lemma broken(\n")
        run = self.check("m.yaml", "n.yaml", code=BAD_INPUT)
        self.assertEqual(run.stderr.count("[rules/syntax]"), 1, run.stderr)
        self.assertIn("n.yaml: its rules do not load", run.stderr)


class Verdicts(MlpCase):
    def test_refines(self):
        self.write_mlp()
        run = self.check("m.yaml", "--json", "report.json", code=REFINES)
        self.assertEqual(run.stderr, "")
        self.assertTrue(run.stdout.startswith("refines: m.yaml (2 ranks)\n"))
        self.assertIn("y = r0.y", run.stdout)
        (result,) = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))["results"]
        self.assertEqual(result["verdict"], "refines")
        self.assertEqual(result["manifest"], "m.yaml")
        self.assertIsNone(result["failing"])
        (output,) = result["outputs"]
        self.assertEqual((output["tensor"], output["ok"]), ("y", True))
        self.assertEqual([e["holds"] for e in output["expect"]], [True, True])
        for key in ("assumptions", "lemmas", "limits", "times"):
            self.assertIn(key, result)

    def test_unproved(self):
        self.write_mlp(all_reduce=False)
        run = self.check("m.yaml", "--json", "report.json", code=UNPROVED)
        self.assertTrue(run.stdout.startswith("unproved: m.yaml (2 ranks)\n"))
        self.assertIn("is an all-reduce missing?", run.stdout)
        (result,) = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))["results"]
        self.assertEqual(result["verdict"], "unproved")
        self.assertEqual(result["failing"]["tensor"], "y")
        self.assertEqual(result["failing"]["op"], "aten.mm.default")
        self.assertEqual(result["failing"]["loc"], "model.py:13")

    def test_violates(self):
        self.write_mlp()
        content = rank_mlp(1)
        content["nodes"][6]["op"] = "_c10d_functional.all_gather_into_tensor.default"
        content["nodes"][6]["args"] = [ref("p"), 2, "tp"]
        content["nodes"][6]["shape"] = content["nodes"][7]["shape"] = [8, 8]
        self.write("r1.json", content)
        run = self.check("m.yaml", "--json", "report.json", code=VIOLATES)
        self.assertTrue(run.stdout.startswith("violates: m.yaml (2 ranks)\n"))
        (result,) = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))["results"]
        self.assertEqual(result["verdict"], "violates")
        self.assertEqual({place["rank"] for place in result["mismatch"]["places"]}, {0, 1})

    def test_unknown_operator_is_opaque(self):
        self.write_mlp()
        for name in ("seq.json", "r0.json", "r1.json"):
            content = json.loads((self.folder / name).read_text(encoding="utf-8"))
            content["nodes"].append(node("o", "my.own.op", [4, 8], [ref("y")]))
            content["outputs"] = ["o"]
            self.write(name, content)
        self.write("m.yaml", MLP.replace("  y: Replicate", "  o: Replicate"))
        self.assertIn("my.own.op", self.check("m.yaml", code=REFINES).stdout)

    def test_same_bytes_but_for_times(self):
        self.write_mlp()
        texts = {self.check("m.yaml", code=REFINES).stdout for _ in range(2)}
        self.assertEqual(len(texts), 1)
        reports = []
        for _ in range(2):
            report = json.loads(self.check("m.yaml", "--json", "-", code=REFINES).stdout)
            del report["results"][0]["times"]
            reports.append(report)
        self.assertEqual(reports[0], reports[1])

    def test_verbose(self):
        self.write_mlp()
        run = self.check("m.yaml", "--verbose", code=REFINES)
        for text in ("lemmas, by how often they were applied", "statistics", "times: read", "relations of all tensors"):
            self.assertIn(text, run.stdout)

    def test_json_to_standard_output_only(self):
        self.write_mlp()
        run = self.check("m.yaml", "--json", "-", code=REFINES)
        self.assertEqual(json.loads(run.stdout)["results"][0]["verdict"], "refines")

    def test_json_that_cannot_be_written(self):
        self.write_mlp()
        run = self.check("m.yaml", "--json", "no/such/folder.json", code=BAD_INPUT)
        self.assertIn("cannot write no/such/folder.json: No such file or directory", run.stderr)
        self.assertEqual(run.stdout, "")
        # A device is written, not replaced; no temporary file stays behind.
        self.check("m.yaml", "--json", "/dev/null", code=REFINES)
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())
        self.check("m.yaml", "--json", "report.json", code=REFINES)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["m.yaml", "r0.json", "r1.json", "report.json", "seq.json"])

    def test_several_manifests(self):
        self.write_mlp()
        self.write("other/seq.json", sequential_mlp())
        for rank in range(2):
            self.write(f"other/r{rank}.json", rank_mlp(rank, all_reduce=False))
        self.write("other/m.yaml", MLP)
        run = self.check("m.yaml", "other/m.yaml", "--json", "report.json", code=UNPROVED)
        self.assertIn("2 manifests: 1 refines, 1 unproved", run.stdout)
        results = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))["results"]
        self.assertEqual([r["verdict"] for r in results], ["refines", "unproved"])
        run = self.check("other/m.yaml", "absent.yaml", "m.yaml", "--json", "report.json", code=BAD_INPUT)
        report = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
        self.assertEqual([r.get("verdict") for r in report["results"]], ["unproved", None, "refines"])
        self.assertEqual(report["results"][1]["error"], report["error"])

    def test_rules_written_at_run_time(self):
        """A new operator, its lowering and one lemma; without the lemma there is no proof."""
        self.write("seq.json", graph([placeholder("x", [6, 4]), placeholder("w", [4]),
                                      node("y", "mine.fold.default", [6], [ref("x"), ref("w")], loc="model.py:1")], ["x", "w"], ["y"]))
        for rank in range(2):
            self.write(f"r{rank}.json", graph([placeholder("x", [3, 4]), placeholder("w", [4]),
                                               node("y", "mine.fold.default", [3], [ref("x"), ref("w")])], ["x", "w"], ["y"], rank, 2))
        self.write("m.yaml", "sequential: seq.json\ndistributed: r{rank}.json\nranks: 2\ninputs:\n  x: Shard(0)\n  w: Replicate\n"
                             "expect:\n  y: Shard(0)\n")
        rules = ('include "aten.rules";\nop fold_rows(x: tensor, w: tensor) {\n  shape [x.shape[0]];\n}\n'
                 "lower mine.fold.default(x: tensor, w: tensor): fold_rows(x, w);\n")
        lemma = ("lemma fold_of_blocks(xs: tensor+, w: tensor):\n"
                 "  fold_rows(concat(xs; 0), w) => concat([fold_rows(x, w) for x in xs]; 0);\n")
        self.write("mine.rules", rules)
        self.check("--rules", "mine.rules", "m.yaml", code=UNPROVED)
        self.write("mine.rules", rules + lemma)
        run = self.check("--rules", "mine.rules", "m.yaml", "--verbose", code=REFINES)
        self.assertIn("fold_of_blocks", run.stdout)
        # The same by the manifest, with the rules beside it.
        self.write("m.yaml", (self.folder / "m.yaml").read_text(encoding="utf-8") + "rules: [mine.rules]\n")
        self.check("m.yaml", code=REFINES)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM[0] = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
