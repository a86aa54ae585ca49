#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 0316-collect-budget.t with the BPF collector.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/0316-collect-budget.t"
