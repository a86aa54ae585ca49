#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What t/0803 does, on Debian 13.
SUITE=trixie
. "$srcdir/t/0803-packages-booted.t"
