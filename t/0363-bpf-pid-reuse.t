#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 0303-collect-pid-reuse.t with the BPF collector.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/0303-collect-pid-reuse.t"
