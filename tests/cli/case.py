"""What the end-to-end tests share: graphs as Python values, and a folder of its own for every test, in which the program runs."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = [""]  # set by run.py
REFINES, VIOLATES, BAD_INPUT, UNPROVED, INTERNAL_ERROR = 0, 1, 2, 3, 4


def ref(name):
    return {"ref": name}


def node(name, op, shape, args=(), dtype="f32", **more):
    return {"name": name, "op": op, "args": list(args), "kwargs": {}, "shape": shape, "dtype": dtype, **more}


def placeholder(name, shape, dtype="f32"):
    return {"name": name, "op": "placeholder", "shape": shape, "dtype": dtype}


def graph(nodes, inputs, outputs, rank=0, world_size=1, **more):
    return {"format": "entangle-graph", "version": 1, "name": "test", "rank": rank, "world_size": world_size, "source": "pytorch",
            "groups": {"tp": list(range(world_size))}, "inputs": inputs, "outputs": outputs, "nodes": nodes, **more}


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
        return name

    def run_program(self, *arguments, code, environment=None):
        run = subprocess.run([PROGRAM[0], *arguments], cwd=self.folder, capture_output=True, text=True, timeout=300,
                             env={**os.environ, **(environment or {})})
        self.assertEqual(run.returncode, code, f"{arguments}\n{run.stdout}{run.stderr}")
        return run

    def check(self, *arguments, code):
        return self.run_program("check", *arguments, code=code)

    def bad_input(self, *arguments, says, place=None, identifier=None):
        """The program must report one clear error with its place, and the same as JSON."""
        run = self.check(*arguments, "--json", "report.json", code=BAD_INPUT)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, run.stderr)
        self.assertEqual(run.stdout, "")
        report = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
        self.assertEqual(report["schema"], 1)
        error = report["error"]
        self.assertTrue(error["message"])
        if place is not None:
            file, line, column = place
            self.assertEqual((error["file"], error["line"], error["column"]), (file, line, column), run.stderr)
            self.assertTrue(run.stderr.startswith(f"{file}:{line}:{column}: error: " if line else f"{file}: error: "), run.stderr)
        if identifier is not None:
            self.assertEqual(error["id"], identifier)
            self.assertIn(f"[{identifier}]", run.stderr)
        return error
