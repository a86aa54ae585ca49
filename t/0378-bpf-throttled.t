#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 0317-collect-throttled.t with the BPF collector.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/0317-collect-throttled.t"
