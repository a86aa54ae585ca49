/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log.c - formats a line and writes it with one write()
 *
 * One write() keeps the lines of several threads and timed children. The message, but
 * not its prefix, is made safe to show, because it may name files of any process.
 */
#include "config.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log_repeats.h"
#include "base/text.h"

#define LINE_MAX_BYTES 1024

static struct {
	enum log_level level;
	const char *name;
	int fd;         /* 0: stderr */
	uint64_t once;  /* the hash of the last line of log_info_once() */
	bool has_error; /* only ever set, by any thread */
} the_log = { .level = LOG_LEVEL_INFO };

void log_set_level(enum log_level level)
{
	the_log.level = level;
}

void log_set_name(const char *name)
{
	the_log.name = name;
}

int log_open(const char *path)
{
	int fd = 0;

	if (path) {
		fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
			  0640);
		if (fd < 0)
			return -errno;
	}
	if (fd && the_log.fd) {
		/*
		 * Keeps the descriptor's number, because another thread may be about to
		 * write to it.
		 */
		dup3(fd, the_log.fd, O_CLOEXEC);
		close(fd);
		return 0;
	}
	if (the_log.fd)
		close(the_log.fd);
	the_log.fd = fd;
	return 0;
}

/* Whether stderr is the stream of systemd's journal, and not one that replaced it. */
static bool is_journal(void)
{
	const char *text = getenv("JOURNAL_STREAM"); /* "DEVICE:INODE" */
	unsigned long long device, inode;
	struct stat st;

	return text && sscanf(text, "%llu:%llu", &device, &inode) == 2 &&
	       !fstat(STDERR_FILENO, &st) && st.st_dev == device && st.st_ino == inode;
}

/* Writes the prefix of a message; returns its length. */
static int put_prefix(char *line, size_t size, enum log_level level)
{
	static const char *const word[] = { "error: ", "warning: ", "", "debug: " };
	static const int syslog_priority[] = { 3, 4, 6, 7 };
	char stamp[32] = "";
	char journal[8] = "";
	struct tm tm;
	time_t now;

	if (the_log.fd) {
		now = time(NULL);
		gmtime_r(&now, &tm);
		strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ ", &tm);
	} else if (is_journal()) {
		snprintf(journal, sizeof(journal), "<%d>", syslog_priority[level]);
	}
	return snprintf(line, size, "%s%s%s%s%s", journal, stamp,
			the_log.name ? the_log.name : "", the_log.name ? ": " : "",
			word[level]);
}

void log_line(enum log_level level, const char *fmt, ...)
{
	char line[LINE_MAX_BYTES];
	int saved = errno;
	va_list ap;
	uint64_t nr = 0;
	int n, start;

	if (level == LOG_LEVEL_ERROR)
		__atomic_store_n(&the_log.has_error, true, __ATOMIC_RELAXED);
	if (level > the_log.level)
		return;
	start = put_prefix(line, sizeof(line), level);
	errno = saved; /* for %m */
	va_start(ap, fmt);
	n = vsnprintf(line + start, sizeof(line) - 1 - start, fmt, ap);
	va_end(ap);
	n = n < 0 ? start : start + n;
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	if (level <= LOG_LEVEL_WARN &&
	    !log_repeats_pass(line + start, n - start, &nr)) {
		errno = saved;
		return;
	}
	if (nr)
		n += snprintf(line + n, sizeof(line) - n,
			      " (%llu more times until now)", (unsigned long long)nr);
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n] = '\0';
	text_clean(line + start);
	n = start + (int)strlen(line + start);
	line[n++] = '\n';
	n = write(the_log.fd ? the_log.fd : STDERR_FILENO, line, n);
	(void)n; /* a failure here cannot be reported */
	errno = saved;
}

void log_info_once(const char *fmt, ...)
{
	char text[LINE_MAX_BYTES];
	uint64_t hash;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	hash = hash_bytes(0, text, strlen(text));
	if (hash == the_log.once)
		return;
	the_log.once = hash;
	log_info("%s", text);
}

bool log_has_error(void)
{
	return __atomic_load_n(&the_log.has_error, __ATOMIC_RELAXED);
}
