/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export.h - writes a selection in the format of a viewer or of a compiler
 *
 * Each function writes a whole file to stdout. It returns 0, -errno or -CPI_E…, and
 * logs nothing; errors of stdout show in its error flag. Names may be any bytes: bytes
 * that a format cannot hold are replaced by visible text.
 */
#ifndef CPI_TOOLS_EXPORT_H
#define CPI_TOOLS_EXPORT_H

#include "report/calls/export_samples.h"
#include "report/feedback/compiler_profile.h"

int export_pprof(struct export_samples *w);
int export_collapsed(struct export_samples *w);
int export_speedscope(struct export_samples *w);
int export_firefox(struct export_samples *w);
int export_callgrind(struct export_samples *w);

int export_llvm_sample(const struct compiler_profile *f);
int export_llvm_binary(const struct compiler_profile *f);
int export_llvm_unsymbolized(const struct compiler_profile *f);
int export_gcov(const struct compiler_profile *f);
int export_bolt(const struct compiler_profile *f);

#endif
