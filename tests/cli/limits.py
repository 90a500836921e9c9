"""The program where the system gives little."""
import pathlib
import resource
import subprocess

from case import PROGRAM, REFINES, Case

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "mlp" / "tp2.yaml"


class Limits(Case):
    def test_few_addresses(self):
        """An allocator that reserves addresses ahead does without where it gets none."""
        few = 2 << 30
        process = subprocess.run([PROGRAM[0], "check", str(EXAMPLE)], capture_output=True, text=True, cwd=self.folder,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (few, few)))
        usual = subprocess.run([PROGRAM[0], "check", str(EXAMPLE)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual((process.returncode, process.stdout), (REFINES, usual.stdout), process.stderr)
