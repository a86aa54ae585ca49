/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - options of a service: from its config files, then from the command line
 *
 * One record per option: getopt's table, the names in files and the help are made from
 * them, so that they cannot disagree.
 */
#ifndef CPI_SERVICE_OPTIONS_H
#define CPI_SERVICE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/textlist.h"

struct service_option {
	const char *name;
	const char *arg; /* NULL: takes none; in a file yes or no */
	const char *help;
	/*
	 * Takes a value, which has to stay, and is "yes" without one, into a member of
	 * the options. 0 or -EINVAL. NULL: prints a text, and ends.
	 */
	int (*set)(void *member, const char *text);
	size_t at;    /* the member's offset in the options */
	bool on_line; /* of the command line only */
};

/* Every service has these of the command line, besides its own. */
#define SERVICE_OPTION_CONFIG                                                 \
	{                                                                     \
		"config", "FILE", "read options from FILE and FILE.d/*.conf", \
			service_set_config, 0, true                           \
	}
#define SERVICE_OPTION_HELP                                   \
	{                                                     \
		"help", NULL, "show this help", NULL, 0, true \
	}
#define SERVICE_OPTION_VERSION                                     \
	{                                                          \
		"version", NULL, "show the version", NULL, 0, true \
	}

struct service_program {
	const char *name;  /* also of the files' section */
	const char *about; /* what it does, for the help */
	const char *file;  /* its config file, which may be missing */
	const char *env;   /* the variable that names another one */
	const struct service_option *options;
	size_t nr;
};

/* Values of files, which live as long as the options do. */
struct service_value;

/*
 * Calls the options' set: for the files, which are those of service/unitfile.h, then
 * for the command line, whose values replace those of files. Returns 0; -EINVAL after
 * saying what is wrong; 1 after having printed help or version. *values is due to
 * service_values_free() in each case.
 */
int service_options_read(const struct service_program *p, int argc, char **argv,
			 void *options, struct service_value **values);
void service_values_free(struct service_value *values); /* accepts NULL */

/* For set, by the type of the member: */
int service_set_flag(void *member, const char *text);  /* bool: "yes" or "no" */
int service_set_given(void *member, const char *text); /* const char *, not empty */
int service_set_text(void *member, const char *text);  /* const char *; empty: NULL */

/*
 * struct text_list: one more text, not empty. What the line has replaces what files
 * have, and an empty value of a file removes what was there.
 */
int service_add_text(void *member, const char *text);

/* For SERVICE_OPTION_CONFIG: the files are read before. */
int service_set_config(void *member, const char *text);

#endif
