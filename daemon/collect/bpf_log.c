/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_log.c - sends libbpf's messages to the log
 *
 * Only the first line of a message is logged, and libbpf's debug messages are not.
 */
#include "config.h"

#include "daemon/collect/bpf_log.h"

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

static int log_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
	char line[1024];
	int len = vsnprintf(line, sizeof(line), format, args);

	if (len > 0 && line[strcspn(line, "\n")])
		line[strcspn(line, "\n")] = 0;
	if (level != LIBBPF_DEBUG && len > 0)
		log_debug("%s", line);
	return len;
}

void bpf_log_begin(void)
{
	libbpf_set_print(log_libbpf);
}
