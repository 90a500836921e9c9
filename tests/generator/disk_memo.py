#!/usr/bin/env python3
"""disk_memo.py PROGRAM: what `check --memo FOLDER` keeps changes nothing that is reported: nowhere, for the first time, again, damaged,
cut off, another's, used by two at once, after a change of the program. Ends with the line `N passed, N failed`."""
import hashlib
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
from generator.strategies import Case, Config, completed, places  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from numeric import SMALL  # noqa: E402

CONFIG = completed(Config(**{**SMALL, "strategy": "tp", "layers": 2, "seq": 3}))


class Reader:
    """Numbers of seven bits a byte, and texts behind their length, as the program writes them."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def text(self):
        size = self.number()
        self.at += size
        return self.data[self.at - size:self.at]


def number(value):
    result = b""
    while value >= 0x80:
        result += bytes([value & 0x7F | 0x80])
        value >>= 7
    return result + bytes([value])


def text(data):
    return number(len(data)) + data


def forged(whole, change):
    """The file with other solutions and the right digest; how many are others."""
    magic = whole[:whole.index(b"\n") + 1]
    outer = Reader(whole[len(magic):-32])
    owner, inner = outer.text(), Reader(outer.text())
    result = number(count := inner.number()) + b"".join(text(inner.text()) for _ in range(count))
    changed, entries = 0, inner.number()
    result += number(entries)
    for _ in range(entries):
        result += number(count := inner.number()) + b"".join(number(inner.number()) for _ in range(count))
        solution = inner.text()
        other = change(solution)
        changed += other != solution
        result += text(other)
    body = magic + text(owner) + text(result)
    return body + hashlib.sha256(body).digest(), changed


def far_equality(solution):
    """The first equality is about a class that no selection is large enough to have."""
    at = Reader(solution)
    if at.number() == 0:
        return solution
    begin = at.at
    at.number()
    return solution[:begin] + number(1 << 24) + solution[at.at:]


class Checks:
    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.memo = self.folder / "memo"
        self.passed = self.failed = 0

    def start(self, *options):
        return subprocess.Popen([self.program, "check", f"{self.folder}/manifest.yaml", *options], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def report(self, *options):
        """The report without times, the problems that were solved, and what stands on standard error."""
        out, err = self.start("--json", "-", *options).communicate()
        (result,) = json.loads(out)["results"]
        del result["times"]
        numbers = result["statistics"]
        solved = numbers["local_problems"] - numbers.pop("by_memo")
        del numbers["conditions"], numbers["conditions_by_solver"]
        return result, solved, err

    def file(self, kind):
        (file,) = self.memo.glob(f"{kind}-*")
        return file

    def expect(self, what, right):
        print(f"{'ok  ' if right else 'FAIL'} {what}", flush=True)
        self.passed, self.failed = self.passed + bool(right), self.failed + (not right)

    def spoil(self, name, kind, expected):
        """Damages a file in some ways: the check must say so, answer as if it were not there, and write it again."""
        file, dice = self.file(kind), random.Random(name + kind)
        whole = file.read_bytes()

        def check(what, spoilt, complaint, mode=0o644):
            if kind == "problems":
                self.file("verdict").unlink()
            file.write_bytes(spoilt)
            file.chmod(mode)
            report, solved, said = self.report("--memo", str(self.memo))
            right = (report, solved) == expected and f"{file} is not used: {complaint}" in said and file.read_bytes() == whole
            self.expect(f"{name}: {kind} {what}", right)

        for _ in range(2):
            at = dice.randrange(len(whole))
            check(f"damaged at {at}", whole[:at] + bytes([whole[at] ^ 1 << dice.randrange(8)]) + whole[at + 1:], "it is damaged")
            check(f"cut off at {at}", whole[:at], "it is damaged")
        check("open to all", whole, "others may have written it", 0o666)

    def run(self, name):
        plain, without, _ = self.report("--no-memo")
        text = self.start().communicate()
        cold = self.report("--memo", str(self.memo))
        self.expect(f"{name}: cold", cold[0] == plain and 0 < cold[1] < without and cold[2] == "" and len(list(self.memo.iterdir())) == 2)
        whole = self.file("problems").read_bytes()
        self.expect(f"{name}: verdict", self.report("--memo", str(self.memo)) == cold)
        self.expect(f"{name}: text", self.start("--memo", str(self.memo)).communicate() == text)
        self.file("verdict").unlink()
        self.expect(f"{name}: solutions", self.report("--memo", str(self.memo)) == (plain, 0, "") and self.file("problems").read_bytes() == whole)
        self.spoil(name, "verdict", (plain, 0))
        self.spoil(name, "problems", cold[:2])
        # What is whole but does not fit is not used either.
        for what, change in (("cut solutions", lambda s: s[:-1]), ("unknown places", far_equality)):
            self.file("verdict").unlink()
            other, changed = forged(whole, change)
            self.file("problems").write_bytes(other)
            report, solved, said = self.report("--memo", str(self.memo))
            self.expect(f"{name}: {what}", (report, said) == (plain, "") and 0 < changed <= solved and self.file("problems").read_bytes() == whole)
        for file in self.memo.iterdir():
            file.unlink()
        both = [self.start("--memo", str(self.memo)) for _ in range(2)]
        self.expect(f"{name}: two at once", all([process.communicate() == text for process in both]))
        self.file("verdict").unlink()
        self.expect(f"{name}: after them", self.report("--memo", str(self.memo)) == (plain, 0, "") and len(list(self.memo.iterdir())) == 2)
        return plain


def main(program):
    passed = failed = 0
    kind, _, label = places(CONFIG)[len(places(CONFIG)) // 2][:3]
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(program, folder)
        Case(CONFIG, None, None).write(pathlib.Path(folder), "")
        right = checks.run("right")
        # The program changes under the same manifest: what was kept must not hide it.
        Case(CONFIG, kind, label).write(pathlib.Path(folder), "")
        broken, _, _ = checks.report("--no-memo")
        after, solved, said = checks.report("--memo", str(checks.memo))
        checks.expect("changed", (after, said) == (broken, "") and solved > 0 and after["verdict"] != right["verdict"])
        for file in checks.memo.iterdir():
            file.unlink()
        checks.run("broken")
        # A folder that cannot be written: a warning, and the same answer.
        file = pathlib.Path(folder) / "file"
        file.write_text("")
        answer, _, said = checks.report("--memo", str(file / "below"))
        checks.expect("no folder", answer == broken and "cannot write" in said)
        passed, failed = checks.passed, checks.failed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
