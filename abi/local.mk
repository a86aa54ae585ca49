# SPDX-License-Identifier: GPL-2.0-or-later
noinst_HEADERS = abi/entry.h abi/bpf.h abi/branch.h abi/control.h abi/kmod.h
