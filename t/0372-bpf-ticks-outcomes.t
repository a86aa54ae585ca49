#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 0312-collect-outcomes.t with samples at the scheduler's ticks.
CPI_TEST_COLLECTOR=bpf
CPI_TEST_EVENT=ticks
CPI_TEST_MS=12000
. "$srcdir/t/0312-collect-outcomes.t"
