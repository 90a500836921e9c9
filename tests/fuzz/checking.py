"""What fuzz.py, draws.py and sizes.py share: their options, and what the program says of many pairs at once."""
import argparse
import json
import pathlib
import subprocess

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
