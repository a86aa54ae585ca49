#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 0312-collect-outcomes.t with the BPF collector.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/0312-collect-outcomes.t"
