"""The program where the system gives little: the same, byte for byte."""
import json
import os
import pathlib
import resource
import subprocess

from case import BAD_INPUT, PROGRAM, REFINES, Case

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
EXAMPLE = EXAMPLES / "mlp" / "tp2.yaml"


def one_core():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


class Limits(Case):
    def outcome(self, *arguments, restrict=None, **environment):
        process = subprocess.run([PROGRAM[0], *map(str, arguments)], capture_output=True, text=True, cwd=self.folder, preexec_fn=restrict,
                                 env={**os.environ, **environment})
        return process.returncode, process.stdout, process.stderr

    def test_few_addresses(self):
        """An allocator that reserves addresses ahead does without where it gets none."""
        few = 2 << 30
        usual = self.outcome("check", EXAMPLE)
        self.assertEqual(usual[0], REFINES, usual[2])
        found = self.outcome("check", EXAMPLE, restrict=lambda: resource.setrlimit(resource.RLIMIT_AS, (few, few)))
        if "AddressSanitizer" in found[2]:
            self.skipTest("a sanitizer needs more addresses than there are")
        self.assertEqual(found, usual)

    def test_one_core_reports_what_many_report(self):
        manifests = sorted(EXAMPLES.glob("*/tp*.yaml"))
        self.assertGreater(len(manifests), 2)
        reports = []
        for restrict in (None, one_core):
            self.outcome("check", *manifests, "--json", "report.json", restrict=restrict)
            report = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
            for result in report["results"]:
                del result["times"]
            reports.append(report)
        self.assertEqual(reports[0], reports[1])

    def test_one_core_compiles_what_many_compile(self):
        texts = []
        for restrict in (None, one_core):
            code, _, errors = self.outcome("compile", "rules.compiled", restrict=restrict, ENTANGLE_CACHE=str(self.folder / "cache"))
            self.assertEqual(code, REFINES, errors)
            texts.append((self.folder / "rules.compiled").read_bytes())
        self.assertEqual(texts[0], texts[1])

    def test_of_several_errors_the_same_is_reported(self):
        """All ranks are read at a time; the first one that is wrong counts."""
        sequential = {"format": "entangle-graph", "version": 1, "inputs": ["x"], "outputs": ["x"],
                      "nodes": [{"name": "x", "op": "placeholder", "args": [], "kwargs": {}, "shape": [4], "dtype": "f32"}]}
        self.write("seq.json", sequential)
        for rank in range(12):
            self.write(f"r{rank}.json", sequential if rank not in (5, 7, 11) else {**sequential, "version": rank})
        self.write("m.yaml", "sequential: seq.json\ndistributed: r{rank}.json\nranks: 12\ninputs:\n  x: Replicate\n")
        for restrict in (None, one_core):
            for _ in range(2):
                code, _, errors = self.outcome("check", "m.yaml", restrict=restrict)
                self.assertEqual(code, BAD_INPUT)
                self.assertIn("r5.json", errors)
                self.assertNotIn("r7.json", errors)
