#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# CPI on a Debian kernel that QEMU emulates; t/vm/README.md
exec "${srcdir:-.}/t/vm/run" x86_64
