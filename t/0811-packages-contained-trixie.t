#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What t/0810 does, on Debian 13.
SUITE=trixie
. "$srcdir/t/0810-packages-contained.t"
