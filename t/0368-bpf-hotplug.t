#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 0313-collect-hotplug.t with the BPF collector.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/0313-collect-hotplug.t"
