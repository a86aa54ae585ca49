/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options_publish.h - writes the current options to a file for 'cpi config'
 *
 * The file is "options" in the folder that the service manager made for the service
 * ($RUNTIME_DIRECTORY), with the lines of service_options_describe() and one more, "pid
 * NUMBER". Without such a folder no file is written.
 */
#ifndef CPI_SERVICE_OPTIONS_PUBLISH_H
#define CPI_SERVICE_OPTIONS_PUBLISH_H

#include <limits.h>

#include "service/options.h"

#define SERVICE_OPTIONS_FILE "options"

struct service_published {
	int dir_fd;            /* -1: there is no folder */
	char folder[PATH_MAX]; /* or "" */
};

/* Opens the folder; a failure is logged. */
void service_publish_open(struct service_published *out);

/* Writes the file; a failure is logged. */
void service_publish(const struct service_published *to,
		     const struct service_program *p, const struct service_settings *s);

void service_publish_close(struct service_published *p); /* removes the file */

#endif
