"""`entangle compile`, as the user meets it."""
import os
import shutil
import subprocess

from case import BAD_INPUT, PROGRAM, REFINES, Case


class Compiling(Case):
    def run_in(self, *arguments, code=REFINES, **environment):
        process = subprocess.run([PROGRAM[0], *arguments], capture_output=True, text=True, cwd=self.folder,
                                 env={**os.environ, "ENTANGLE_CACHE": str(self.folder / "cache"), **environment})
        self.assertEqual(process.returncode, code, process.stdout + process.stderr)
        return process

    def test_writes_the_same_each_time(self):
        for name in ("one", "two"):
            self.assertEqual(self.run_in("compile", name).stdout, name + "\n")
        one = (self.folder / "one").read_bytes()
        self.assertTrue(one.startswith(b"entangle rules "))
        self.assertEqual(one, (self.folder / "two").read_bytes())

    def test_a_program_beside_its_rules_compiles_nothing_when_they_come_compiled(self):
        prefix = self.folder / "prefix"
        (prefix / "bin").mkdir(parents=True)
        program = shutil.copy(PROGRAM[0], prefix / "bin" / "entangle")
        library = prefix / "share" / "entangle"
        (library / "rules").mkdir(parents=True)
        (library / "frameworks").mkdir()
        rules = library / "rules" / "aten.rules"
        rules.write_text("op half(x: tensor): elementwise { value i => x[i] / 2; }\nlemma own(x: tensor): half(half(x)) => half(half(x));\n")
        saved, PROGRAM[0] = PROGRAM[0], program
        try:
            self.assertEqual(self.run_in("compile").stdout, f"{library}/rules.compiled\n")
            compiled = (library / "rules.compiled").read_bytes()
            self.assertIn("1 operator, ", self.run_in("lint").stdout)
            # However the file is named.
            for name in (rules, "prefix/share/entangle/rules/aten.rules", "./prefix/bin/../share/entangle/rules/aten.rules", "aten.rules"):
                self.assertIn("1 operator, ", self.run_in("lint", "--rules", str(name)).stdout)
            self.assertFalse((self.folder / "cache").exists())
            # Stale: the rules as they are now count.
            rules.write_text(rules.read_text().replace("own", "changed") + "function extra(a);\nop third(x: tensor): elementwise;\n")
            for _ in range(2):
                self.assertIn("2 operators", self.run_in("lint").stdout)
            self.assertTrue((self.folder / "cache").exists())
            self.assertEqual((library / "rules.compiled").read_bytes(), compiled)
            # Nothing is kept, and nothing that was kept is used.
            self.assertIn("2 operators", self.run_in("lint", ENTANGLE_CACHE="").stdout)
            rules.write_text("lemma broken(x: tensor): nothing(x) => x;\n")
            self.assertIn(f"{rules}:1:26: error", self.run_in("compile", code=BAD_INPUT).stderr)
            self.assertIn(f"{rules}:1:26: error", self.run_in("lint", code=BAD_INPUT).stderr)
            shutil.rmtree(library / "rules")
            shutil.rmtree(library / "frameworks")
        finally:
            PROGRAM[0] = saved

    def test_errors(self):
        self.assertIn("there is no option `--fast`", self.run_in("compile", "--fast", code=BAD_INPUT).stderr)
        self.assertIn("[support/cannot-write]", self.run_in("compile", "no-such-folder/file" + "x" * 300, code=BAD_INPUT).stderr)
        nothing = self.run_in("compile", "file", code=BAD_INPUT, ENTANGLE_RULES=str(self.folder))
        self.assertIn("[rules/not-of-library]", nothing.stderr)
        self.assertIn("[cli/no-library]", self.run_in("compile", code=BAD_INPUT, ENTANGLE_CACHE="").stderr)
