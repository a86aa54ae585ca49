# SPDX-License-Identifier: GPL-2.0-or-later
"""The program of caused.c, for the scripts that run it."""

import os
import subprocess

HERE = os.path.dirname(os.path.realpath(__file__))


def build(folder):
    """Returns its path; builds it unless the folder has it."""
    program = os.path.join(folder, "caused")
    if not os.path.exists(program):
        subprocess.run([os.environ.get("CC", "gcc"), "-g", "-O2", "-fno-tree-vectorize",
                        "-fno-unroll-loops", "-static", "-pthread", "-o", program,
                        os.path.join(HERE, "caused.c")], check=True)
    return program
