#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 0301-collect-accounting.t with the BPF collector.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/0301-collect-accounting.t"
