#!/usr/bin/env python3
"""Two-rank programs around one operator each: shared out over batch, channels, heads or lists they refine; broken ones do not.

    verdicts.py ENTANGLE [PATTERN] [--keep DIR]

A program is one tensor a line, `name = operator(arguments) : type`, as in tests/infer/world.h: `%x` is a tensor, everything else JSON;
`in x: type` is an input, `name, … = …` several results, and `changes ARGUMENT` at the end the argument that is changed in place.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

RANKS = 2


def type_of(text):
    dtype, sizes = re.fullmatch(r"\s*(\w+)\[(.*)\]\s*", text).groups()
    return dtype, [int(n) for n in sizes.split(",") if n.strip()]


def types_of(text):
    return [None if t.strip() == "none" else type_of(t) for t in re.findall(r"none|\w+\[[^\]]*\]", text)]


def arguments(text):
    """Positional arguments, then keywords behind a semicolon."""
    positional, _, named = text.partition(";")
    json_of = lambda part: re.sub(r"%(\w+)", r'{"ref": "\1"}', part)
    kwargs = {}
    for part in filter(None, (p.strip() for p in named.split(";"))):
        key, _, value = part.partition("=")
        kwargs[key.strip()] = json.loads(json_of(value))
    return json.loads("[" + json_of(positional) + "]"), kwargs


def graph(text, rank=None):
    nodes, inputs, outputs = [], [], []
    for number, line in enumerate(filter(None, (part.strip() for part in text.splitlines())), 1):
        if line.startswith("in "):
            name, of = line[3:].split(":")
            dtype, shape = type_of(of)
            inputs.append(name.strip())
            nodes.append({"name": name.strip(), "op": "placeholder", "shape": shape, "dtype": dtype})
        elif line.startswith("out "):
            outputs += [name.strip() for name in line[4:].split(",")]
        else:
            names, op, args, of, changes = re.fullmatch(r"([^=]+?) = ([\w.]+)\((.*)\) : (.*?)(?: changes (\w+))?", line).groups()
            names, found = [n.strip() for n in names.split(",")], types_of(of)
            positional, kwargs = arguments(args)
            several = len(names) > 1 or changes is not None
            node = {"name": names[0] if not several else f"n{number}", "op": op, "args": positional, "kwargs": kwargs, "loc": f"program:{number}"}
            shapes, dtypes = [t and t[1] for t in found], [t and t[0] for t in found]
            node.update(shape=shapes if several else shapes[0], dtype=dtypes if several else dtypes[0])
            if changes is not None:
                node["mutates"] = [changes]
            nodes.append(node)
            for place, name in enumerate(names if several else []):
                if name != "_":
                    nodes.append({"name": name, "op": "getitem", "args": [{"ref": node["name"]}, place], "shape": shapes[place],
                                  "dtype": dtypes[place]})
    where = {} if rank is None else {"rank": rank, "world_size": RANKS, "groups": {"tp": list(range(RANKS))}}
    return {"format": "entangle-graph", "version": 1, "name": "case", "source": "pytorch", "inputs": inputs, "outputs": outputs, "nodes": nodes, **where}


class Case:
    def __init__(self, name, sequential, ranks, inputs, expect, breaks=(), refines=True):
        """`ranks`: the text of all ranks, or one for each. `breaks`: {what: (from, to)} — or a list of such — in the ranks' text. `refines`: whether
        they are right without these."""
        self.name, self.sequential, self.inputs, self.expect, self.refines = name, sequential, inputs, expect, refines
        self.ranks = [ranks] * RANKS if isinstance(ranks, str) else ranks
        self.breaks = dict(breaks)

    def broken(self, what):
        changes = self.breaks[what]
        changes = changes if isinstance(changes, list) else [changes]
        ranks = self.ranks
        for old, new in changes:
            if not any(old in text for text in ranks):
                raise SystemExit(f"{self.name}, {what}: nothing to replace")
            ranks = [text.replace(old, new) for text in ranks]
        return ranks

    def write(self, folder, ranks):
        (folder / "sequential.json").write_text(json.dumps(graph(self.sequential)), encoding="utf-8")
        for rank, text in enumerate(ranks):
            (folder / f"r{rank}.json").write_text(json.dumps(graph(text, rank)), encoding="utf-8")
        section = lambda entries: "".join(f"  {k}: {json.dumps(v) if '(' in v and not v.startswith('Shard') else v}\n" for k, v in entries.items())
        (folder / "manifest.yaml").write_text(f"sequential: sequential.json\ndistributed: r{{rank}}.json\nranks: {RANKS}\n"
                                              f"inputs:\n{section(self.inputs)}expect:\n{section(self.expect)}", encoding="utf-8")


def check(entangle, case, ranks, folder):
    case.write(folder, ranks)
    run = subprocess.run([entangle, "check", str(folder / "manifest.yaml"), "--json", "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         check=False)
    answer = json.loads(run.stdout)
    result = answer["results"][0] if "results" in answer else answer
    if "verdict" not in result:
        return "error: " + json.dumps(result)[:600], result
    return result["verdict"], result


def main():
    import forms
    import programs
    pattern = sys.argv[2] if len(sys.argv) > 2 else ""
    keep = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for case in (*programs.cases(), *forms.cases()):
            if pattern not in case.name:
                continue
            for what in (None, *case.breaks):
                verdict, result = check(sys.argv[1], case, case.ranks if what is None else case.broken(what), folder)
                count += 1
                right = what is None and case.refines
                good = verdict == "refines" if right else verdict in ("unproved", "violates")
                line = f"{case.name}{'' if what is None else ', ' + what}: {verdict}"
                if right and (result.get("opaque") or result.get("obligations")):
                    good, line = False, line + f" {result.get('opaque')} {result.get('obligations')}"
                if not good:
                    wrong.append(line + "\n    " + json.dumps(result.get("failing"))[:1500])
                print(line[:200])
    print(f"{count} programs")
    for text in wrong:
        print("wrong: " + text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
