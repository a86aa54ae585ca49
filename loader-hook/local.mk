# SPDX-License-Identifier: GPL-2.0-or-later
# No C library and no sanitizers. -z defs refuses undefined symbols, which would end each
# program that loads this. Two segments are half the work for the dynamic linker.
hookdir = $(libdir)/cpi
hook_PROGRAMS = loader-hook/libcpi-audit.so
loader_hook_libcpi_audit_so_SOURCES = loader-hook/audit.c loader-hook/object.c \
	loader-hook/object.h loader-hook/send.c loader-hook/send.h loader-hook/sys.h
loader_hook_libcpi_audit_so_CFLAGS = $(WARN_CFLAGS) -O2 -fPIC -ffreestanding \
	-fno-builtin -fno-stack-protector
loader_hook_libcpi_audit_so_LDFLAGS = -shared -nostdlib -Wl,-z,defs -Wl,-z,now \
	-Wl,-z,noseparate-code -Wl,-z,norelro \
	-Wl,-soname,libcpi-audit.so \
	-Wl,--version-script=$(srcdir)/loader-hook/audit.map
loader_hook_libcpi_audit_so_LDADD =
loader_hook_libcpi_audit_so_DEPENDENCIES = $(srcdir)/loader-hook/audit.map
EXTRA_DIST += loader-hook/audit.map

# A distribution's flags may need the C library, or make a third segment. The flags above
# come last, so they win.
$(loader_hook_libcpi_audit_so_OBJECTS): CFLAGS += -fno-stack-protector
loader_hook_libcpi_audit_so_LINK = $(CCLD) $(CFLAGS) $(LDFLAGS) \
	$(loader_hook_libcpi_audit_so_CFLAGS) $(loader_hook_libcpi_audit_so_LDFLAGS) -o $@
EXTRA_DIST += loader-hook/README.md
