# SPDX-License-Identifier: GPL-2.0-or-later
noinst_HEADERS += kmod/table.h kmod/window.h kmod/window_alu.h \
	kmod/cpi_window_arm64.h kmod/cpi_window_x86.h \
	kmod/window_memory.h kmod/cpi_window_registers.h kmod/cpi_window_sample.h \
	kmod/window_vector.h kmod/seal.h kmod/cpi_bpf_kernel.h kmod/cpi_pair.h

# The module is built by the kernel's own makefiles, against the headers in KDIR, on
# a copy: they write beside the sources. Nothing here is part of make, or of check.
KMOD_FILES = kmod/Kbuild kmod/Makefile kmod/cpi.h kmod/cpi_buffer.c kmod/cpi_compat.h \
	kmod/cpi_config.c kmod/cpi_counter.c kmod/cpi_flush.c kmod/cpi_handler.c \
	kmod/cpi_follow.c kmod/cpi_main.c kmod/cpi_window.c kmod/seal.h kmod/table.h \
	kmod/cpi_window_registers.h kmod/cpi_window_sample.h kmod/cpi_window_x86.h \
	kmod/window.h kmod/window_alu.h kmod/window_memory.h kmod/window_vector.h \
	abi/branch.h abi/branch_arm64.h \
	abi/branch_x86_64.h abi/entry.h abi/form.h abi/kmod.h abi/uop.h abi/window.h abi/window_bpf.h
EXTRA_DIST += kmod/Kbuild kmod/Makefile kmod/cpi.h kmod/cpi_buffer.c kmod/cpi_compat.h \
	kmod/cpi_config.c kmod/cpi_counter.c kmod/cpi_flush.c kmod/cpi_handler.c \
	kmod/cpi_follow.c kmod/cpi_main.c kmod/cpi_window.c kmod/.checkpatch.conf \
	kmod/dkms.conf kmod/60-cpi.rules kmod/cpi.conf
KDIR = /lib/modules/$$(uname -r)/build

# Copies them to the directory $$dir, laid out as here.
copy_kmod = for f in $(KMOD_FILES); do \
		$(MKDIR_P) "$$dir/$$(dirname "$$f")" && \
		cp -p "$(srcdir)/$$f" "$$dir/$$f" || exit 1; \
	done

.PHONY: kmod
kmod:
	@dir=kmod/build; $(copy_kmod)
	$(MAKE) -C kmod/build/kmod KDIR=$(KDIR)
	cp kmod/build/kmod/cpi.ko kmod/

# What dkms(8) takes: /usr/src/cpi-VERSION.
.PHONY: install-dkms
install-dkms:
	dir='$(DESTDIR)/usr/src/cpi-$(VERSION)'; $(copy_kmod); \
	sed 's/^PACKAGE_VERSION=.*/PACKAGE_VERSION="$(VERSION)"/' \
		'$(srcdir)/kmod/dkms.conf' >"$$dir/dkms.conf"

clean-local: clean-kmod clean-deb
clean-kmod:
	rm -rf kmod/build kmod/cpi.ko
EXTRA_DIST += kmod/README.md
