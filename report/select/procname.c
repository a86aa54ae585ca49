/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procname.c - splits and compares names of procedures
 *
 * A C++ name contains colons and parentheses. So only a single colon ends the
 * name of an image ("::" does not), and "(" ends a name that is compared only if
 * the name that the user typed ends there.
 */
#include "config.h"

#include "report/select/procname.h"

#include <string.h>

const char *procname_image_end(const char *proc)
{
	for (const char *p = proc; (p = strchr(p, ':')); p++) {
		if (p[1] == ':')
			p++;
		else if (p > proc && p[1])
			return p;
	}
	return NULL;
}

bool procname_is(const char *full, const char *name)
{
	const size_t len = strlen(name);

	return !strncmp(full, name, len) && (!full[len] || full[len] == '(');
}
