#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 0304-collect-exec-chain.t with the BPF collector.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/0304-collect-exec-chain.t"
