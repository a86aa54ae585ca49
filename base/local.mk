# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += base/libbase.a
base_libbase_a_SOURCES = \
	base/arena.c base/arena.h \
	base/buf.c base/buf.h \
	base/err.c base/err.h \
	base/file.c base/file.h base/file_open.c base/newfile.c base/newfile.h \
	base/grow.h \
	base/hash.h \
	base/hmap.c base/hmap.h \
	base/jsontext.c base/jsontext.h \
	base/log.c base/log.h base/log_repeats.c base/log_repeats.h \
	base/loglin.h \
	base/mapping.c base/mapping.h \
	base/did_you_mean.c base/did_you_mean.h \
	base/number.c base/number.h \
	base/fdpass.c base/fdpass.h \
	base/path.h \
	base/progress.c base/progress.h \
	base/rangemap.c base/rangemap.h \
	base/search.h \
	base/syscallfilter.c base/syscallfilter.h \
	base/text.c base/text.h base/textlist.h \
	base/times.c base/times.h \
	base/varint.c base/varint.h
EXTRA_DIST += base/README.md
