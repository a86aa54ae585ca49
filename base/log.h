/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log.h - messages for people: one line each, subject first
 *
 * "image: /lib/x.so: no symbol table". Lines go to stderr, or to the file that
 * log_open() names; under systemd (JOURNAL_STREAM) they carry its priorities.
 * Control characters in a message are shown as '?', for names come from
 * whoever runs a program.
 */
#ifndef CPI_BASE_LOG_H
#define CPI_BASE_LOG_H

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

void log_line(enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define log_err(...)   log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...)  log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
