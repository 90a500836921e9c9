"""Finds a Python that has PyTorch."""
import importlib.util
import os
import subprocess
import sys

SKIP = 77
OTHER = "/usr/bin/python3"  # where Debian's package is


def elsewhere():
    """None where this Python has PyTorch. Else the exit code of this program in another Python that has, or of a test that is skipped."""
    if importlib.util.find_spec("torch") is not None:
        return None
    known = os.path.exists(OTHER) and os.path.realpath(OTHER) != os.path.realpath(sys.executable)
    if known and subprocess.run([OTHER, "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        return subprocess.run([OTHER, *sys.argv], check=False).returncode
    print("skipped: this Python has no PyTorch (./dev test-torch installs it)")
    return SKIP
