#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The BPF collector, and processes that hold up a reader, on the oldest kernel that Debian
# has a package of: Linux 5.10.
exec "${srcdir:-.}/t/vm/run" --kernel 5.10 x86_64 boot bpf-cpid bpf-flips bpf-nodes \
	hostile
