# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of caused.c and fresh.c, for the scripts that run them."""

import os
import subprocess

HERE = os.path.dirname(os.path.realpath(__file__))


def build(folder, name="caused"):
    """Returns its path; builds it unless the folder has it."""
    program = os.path.join(folder, name)
    if not os.path.exists(program):
        subprocess.run([os.environ.get("CC", "gcc"), "-g", "-O2", "-fno-tree-vectorize",
                        "-fno-unroll-loops", "-static", "-pthread", "-o", program,
                        os.path.join(HERE, name + ".c")], check=True)
    return program
