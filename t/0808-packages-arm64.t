#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What t/0803 does, on Debian 12 for arm64, whose packages are cross-built. The machine is
# emulated, so this takes half an hour. Its root file system is made by programs of arm64, which
# have to run here: t/packages/README.md.
MACHINE=arm64
. "$srcdir/t/0803-packages-booted.t"
