#!/usr/bin/env python3
"""Makes the vectors: installs each framework into a virtual environment of
its own, and runs the module that asks it there.

    tests/conformance/generate.py [--venvs FOLDER] [--out FOLDER] [NAME...]

Needs Python 3.11 (the oldest Paddle has no wheel for later ones) and about
3 GB in FOLDER, ./venvs unless given. With the same frameworks the files come
out the same, byte for byte, on processors with the same vector instructions.
"""

import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

# folder: packages
PACKAGES = {
    "numpy": ["numpy==2.4.6"],
    "onnx": ["onnx==1.23.2", "numpy==2.4.6"],
    "pytorch": ["torch==2.13.0", "numpy==2.4.6"],
    "paddle-2": ["paddlepaddle==2.6.2", "numpy==1.26.4", "setuptools"],
    "paddle-3": ["paddlepaddle==3.3.1", "numpy==2.4.6"],
}
# file: (folder, module, function)
FILES = {
    "numpy": ("numpy", "with_numpy", "main"),
    "onnx": ("onnx", "with_onnx", "main"),
    "pytorch": ("pytorch", "with_torch", "main"),
    "pytorch-gradients": ("pytorch", "with_torch", "gradients"),
    "paddle-2": ("paddle-2", "with_paddle", "main"),
    "paddle-2-gradients": ("paddle-2", "with_paddle", "gradients"),
    "paddle-3": ("paddle-3", "with_paddle", "main"),
    "paddle-3-gradients": ("paddle-3", "with_paddle", "gradients"),
}


def install(folder, packages):
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        subprocess.check_call([sys.executable, "-m", "venv", folder])
        subprocess.check_call([python, "-m", "pip", "install", "-q",
                               "--disable-pip-version-check"] + packages)
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--venvs", default="venvs")
    parser.add_argument("--out", default=HERE)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    for name in options.names or FILES:
        folder, module, function = FILES[name]
        python = install(os.path.abspath(os.path.join(options.venvs, folder)),
                         PACKAGES[folder])
        path = os.path.abspath(os.path.join(options.out, name + ".txt"))
        program = (f"import sys, {module}; "
                   f"sys.exit({module}.{function}({path!r}) > 0)")
        print(name, flush=True)
        subprocess.check_call([python, "-B", "-c", program], cwd=HERE)


if __name__ == "__main__":
    main()
