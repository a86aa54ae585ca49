#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The cases that take minutes; t/vm/README.md
exec "${srcdir:-.}/t/vm/run" --long arm64
