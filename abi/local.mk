# SPDX-License-Identifier: GPL-2.0-or-later
noinst_HEADERS = abi/bpf.h abi/entry.h abi/branch.h abi/branch_arm64.h \
	abi/branch_x86_64.h abi/announce.h abi/capture.h abi/control.h abi/form.h abi/kmod.h \
	abi/label.h abi/newprogram.h abi/pair.h abi/tip.h abi/translate.h abi/unwind.h abi/uop.h abi/window.h \
	abi/window_bpf.h
EXTRA_DIST += abi/README.md
