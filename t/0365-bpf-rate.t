#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 0305-collect-rate.t with the BPF collector.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/0305-collect-rate.t"
