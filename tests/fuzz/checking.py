"""What the program says of many pairs at once."""
import json
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
