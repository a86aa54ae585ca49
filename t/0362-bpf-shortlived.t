#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 0302-collect-shortlived.t, with samples that the BPF program has counted.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/0302-collect-shortlived.t"
