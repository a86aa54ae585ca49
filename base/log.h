/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log.h - messages for people: one line each, subject first
 *
 * "image: /lib/x.so: no symbol table". Lines go to stderr, or to the file that
 * log_open() names; in systemd's journal (JOURNAL_STREAM) they carry its priorities.
 * Names come from any user of the machine. So characters that control a terminal, and
 * bytes that are not UTF-8, are shown as '?' (text.h).
 */
#ifndef CPI_BASE_LOG_H
#define CPI_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Lines above this level are not written; LOG_LEVEL_INFO until set. */
void log_set_level(enum log_level level);

/* Prefix of each line, for example "cpid"; the string must stay. */
void log_set_name(const char *name);

/*
 * Appends to path from now on, or to stderr with NULL; called again with the
 * same path it reopens the file (after rotation). Returns 0 or -errno; on
 * failure the log goes where it went before.
 */
int log_open(const char *path);

/*
 * From now on the same error or warning is written at most once in ns. When it is
 * written again, it says how many were left out. 0 writes all of them, which is the
 * default.
 */
void log_limit_repeats(uint64_t ns);

/* Forgets which lines were written. Returns how many were left out. */
uint64_t log_forget_repeats(void);

void log_line(enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * As log_info(), but writes a line only if it differs from the last line of this
 * function. For facts that are found out again and again. To be called from one thread.
 */
void log_info_once(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Whether this process has logged an error. */
bool log_has_error(void);

#define log_err(...)   log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...)  log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
