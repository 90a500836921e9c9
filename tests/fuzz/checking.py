"""What fuzz.py, draws.py and sizes.py share: their options, and what the program says of many pairs at once."""
import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import tempfile

BATCH = 60  # manifests given to the program at once


def verdicts(program, rules, folders):
    """For each folder the verdict and, of bad input, the error; or None and why the program ended."""
    command = [program, "check", "--rules", rules, "--time-limit", "5", "--json", "-", *(str(f / "manifest.yaml") for f in folders)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    try:
        results = json.loads(done.stdout)["results"]
    except (json.JSONDecodeError, KeyError):
        return None, f"exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return ["bad input" if "error" in r else r["verdict"] for r in results], [r.get("error") for r in results]


def arguments(description, variants):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rules", default=str(pathlib.Path(__file__).resolve().parents[2] / "rules" / "aten.rules"))
    parser.add_argument("--count", type=int, default=100, help="sequential programs")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--variants", type=int, default=variants, help="mistakes for each")
    parser.add_argument("--keep", help="a folder for the programs that fail")
    return parser.parse_args()


class Pairs:
    """Pairs in folders of their own, given to the program many at once. complaint(state, verdict): what is wrong with it, "" if nothing is."""

    def __init__(self, options, complaint):
        self.options, self.complaint = options, complaint
        self.counts, self.failed, self.waiting = collections.Counter(), 0, []
        self.scratch = pathlib.Path(tempfile.mkdtemp())

    def add(self, folder, state, label, about=""):
        """A pair that was written to a folder in `scratch`; `label` is what it is counted under, `about` is said of it where it fails."""
        self.waiting.append((folder, state, label, about))
        if len(self.waiting) >= BATCH:
            self.flush()

    def flush(self):
        if not self.waiting:
            return
        found, why = verdicts(self.options.program, self.options.rules, [folder for folder, *_ in self.waiting])
        if found is None:
            print(f"the program ended: {why}", flush=True)
            found, why = ["-"] * len(self.waiting), [None] * len(self.waiting)
        for (folder, state, label, about), verdict, error in zip(self.waiting, found, why):
            self.counts[label, verdict] += 1
            if trouble := self.complaint(state, verdict):
                self.failed += 1
                print(f"FAIL {folder.name}{about}: {verdict}: {trouble} {error or ''}", flush=True)
                if self.options.keep:
                    shutil.copytree(folder, pathlib.Path(self.options.keep) / folder.name, dirs_exist_ok=True)
            shutil.rmtree(folder)
        self.waiting.clear()

    def end(self):
        """Prints the last line; the exit code."""
        self.flush()
        shutil.rmtree(self.scratch)
        found = ", ".join(f"{n} {label}: {verdict}" for (label, verdict), n in sorted(self.counts.items()))
        print(f"{sum(self.counts.values())} pairs: {found}; {self.failed} failed")
        return 1 if self.failed else 0
