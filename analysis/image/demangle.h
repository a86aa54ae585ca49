/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demangle.h - C++ and Rust names as their programmers wrote them
 */
#ifndef CPI_ANALYSIS_DEMANGLE_H
#define CPI_ANALYSIS_DEMANGLE_H

/*
 * A new string that the caller frees: the demangled name, or NULL when raw is
 * not mangled (or out of memory: the raw name serves then).
 */
char *demangle(const char *raw);

#endif
