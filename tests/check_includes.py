#!/usr/bin/env python3
"""Checks the direction of every #include in include/entangle/ and src/.

The order of the modules is that of the entangle_module(…) lines in CMakeLists.txt, with `cli` last; a module may include itself and
those before it. Headers in src/MODULE/ are private to MODULE, and a public header
includes no private one. Some libraries are used by some modules only (LIBRARIES), so that the rest of the code does not depend on them.

    check_includes.py [ROOT]         prints FILE:LINE: what is wrong, exit status 1 if anything is
    check_includes.py --self-test    checks the checker on trees made for it
"""
import pathlib
import re
import sys
import tempfile


def module_order(root):
    text = (root / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.findall(r"^entangle_module\((\w+)", text, re.MULTILINE) + ["cli"]


# what is included (a regular expression over the text between the brackets or quotes) -> the modules that may
LIBRARIES = [
    (r"z3(\+\+|_.*)?\.h", "Z3", ["smt"]),
    (r"antlr4-.*", "ANTLR", ["rules", "graph"]),
    (r"(.*/)?Rules(Lexer|Parser)\.h", "the parser of rules", ["rules"]),
    (r"(.*/)?Hlo(Lexer|Parser)\.h", "the parser of HLO text", ["graph"]),
    (r"nlohmann/.*", "JSON", ["graph", "relation", "report", "cli"]),
    (r"yaml-cpp/.*", "YAML", ["graph", "relation", "report", "cli"]),
    (r"CLI/.*", "CLI11", ["cli"]),
    (r"doctest/.*|doctest\.h", "doctest", []),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")')


def sources(root):
    for top in (root / "include" / "entangle", root / "src"):
        for path in sorted(top.rglob("*")):
            if path.suffix in (".h", ".hpp", ".inc", ".cpp", ".cc", ".cxx") and path.is_file():
                yield path, path.relative_to(top).parts, top.name == "entangle"


def check(root, order):
    """All findings as strings, in the order of paths and lines."""
    root = pathlib.Path(root)
    findings = []
    for path, parts, public in sources(root):
        def report(line, text):
            findings.append(f"{path.relative_to(root)}:{line}: {text}")

        module = parts[0]
        if len(parts) < 2:
            report(1, "a source outside the module folders")
            continue
        if module not in order:
            report(1, f"`{module}` is not a module; the modules are {', '.join(order)}")
            continue
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(text)
            if not match:
                continue
            target = match.group(1) or match.group(2)
            for pattern, name, users in LIBRARIES:
                if re.fullmatch(pattern, target) and module not in users:
                    report(number, f"`{module}` includes {name} (<{target}>); only {', '.join(users) or 'tests'} may")
            pieces = target.split("/")
            if ".." in pieces:
                report(number, f'"{target}": write the path from the top (entangle/MODULE/... or MODULE/...)')
            elif pieces[0] == "entangle":
                if len(pieces) < 3 or pieces[1] not in order:
                    report(number, f"<{target}> belongs to no module")
                elif order.index(pieces[1]) > order.index(module):
                    report(number, f"`{module}` includes <{target}>, but `{pieces[1]}` comes after it in the module order")
            elif len(pieces) > 1 and pieces[0] in order:
                if public:
                    report(number, f'a public header includes the private header "{target}"')
                elif pieces[0] != module:
                    report(number, f'`{module}` includes "{target}", a private header of `{pieces[0]}`')
            elif public and match.group(2) and len(pieces) == 1:
                report(number, f'"{target}": a public header names other headers in full (entangle/MODULE/...)')
    return findings


# file, its text, what must be found in the one finding (None: nothing is to be found)
SELF_TEST = [
    ("src/infer/walk.cpp", '#include "entangle/egraph/graph.h"\n#include "infer/local.h"\n#include "local.h"\n#include <vector>\n', None),
    ("src/smt/term.cpp", "#include <z3++.h>\n", None),
    ("src/rules/parse.cpp", '#include "antlr4-runtime.h"\n#include "RulesParser.h"\n', None),
    ("src/cli/main.cpp", "#include <CLI/CLI.hpp>\n#include <nlohmann/json.hpp>\n", None),
    ("include/entangle/sym/int.h", '#include "entangle/support/check.h"\n', None),
    ("src/sym/int.cpp", '#include "entangle/infer/walk.h"\n', "src/sym/int.cpp:1: `sym` includes <entangle/infer/walk.h>"),
    ("include/entangle/support/a.h", "#pragma once\n  #  include <entangle/sym/int.h>\n", "include/entangle/support/a.h:2: "),
    ("src/infer/walk.cpp", "#include <z3++.h>\n", "only smt may"),
    ("src/sym/int.cpp", "#include <z3.h>\n", "only smt may"),
    ("src/graph/hlo.cpp", "#include <antlr4-runtime.h>\n#include <HloParser.h>\n", None),
    ("src/term/x.cpp", "#include <antlr4-runtime.h>\n", "only rules, graph may"),
    ("src/rules/x.cpp", "#include <HloParser.h>\n", "only graph may"),
    ("src/egraph/x.cpp", '#include "entangle/graph/graph.h"\n', "`graph` comes after it"),
    ("src/term/x.cpp", "#include <RulesParser.h>\n", "only rules may"),
    ("src/infer/json.cpp", "#include <nlohmann/json.hpp>\n", "only graph, relation, report, cli may"),
    ("src/eval/json.cpp", "#include <nlohmann/json.hpp>\n", "only graph, relation, report, cli may"),
    ("src/egraph/y.cpp", "#include <yaml-cpp/yaml.h>\n", "only graph, relation, report, cli may"),
    ("src/report/text.cpp", '#include "graph/reader.h"\n', "a private header of `graph`"),
    ("include/entangle/graph/graph.h", '#include "graph/reader.h"\n', "a public header includes the private header"),
    ("include/entangle/graph/graph.h", '#include "reader.h"\n', "in full"),
    ("src/graph/graph.cpp", '#include "../sym/secret.h"\n', "from the top"),
    ("src/engine/a.cpp", "\n", "is not a module"),
    ("src/a.cpp", "\n", "outside the module folders"),
    ("src/sym/a.cpp", '#include "entangle/engine/a.h"\n', "belongs to no module"),
    ("src/infer/walk.cpp", "#include <doctest/doctest.h>\n", "only tests may"),
]


def self_test():
    failures = 0
    order = "support sym smt tensor rules term egraph graph eval relation infer report cli".split()
    for name, text, expected in SELF_TEST:
        with tempfile.TemporaryDirectory() as root:
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
            findings = check(root, order)
        if (findings != []) if expected is None else (len(findings) != 1 or expected not in findings[0]):
            print(f"{name} with {text!r}: expected {expected!r}, found {findings}")
            failures += 1
    print(f"{len(SELF_TEST) - failures} passed, {failures} failed")
    return 1 if failures else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    if not (root / "src").is_dir():
        print(f"{root}: no src/ below it", file=sys.stderr)
        return 2
    findings = check(root, module_order(root))
    print("\n".join(findings) if findings else f"{sum(1 for _ in sources(root))} sources: every include follows the module order")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
