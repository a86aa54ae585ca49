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
	 * Takes a value, which has to stay, and is "yes" without one. 0, 1 to end after
	 * having printed something, or -EINVAL.
	 */
	int (*set)(void *options, const char *text);
	/* For an option that may be repeated: what set() adds to. Else NULL. */
	struct text_list *(*list)(void *options);
	bool on_line; /* of the command line only */
};

/* Every service has these of the command line, besides its own. */
#define SERVICE_OPTION_CONFIG                                                 \
	{                                                                     \
		"config", "FILE", "read options from FILE and FILE.d/*.conf", \
			service_set_config, NULL, true                        \
	}
#define SERVICE_OPTION_HELP                                      \
	{                                                        \
		"help", NULL, "show this help", NULL, NULL, true \
	}
#define SERVICE_OPTION_VERSION                                        \
	{                                                             \
		"version", NULL, "show the version", NULL, NULL, true \
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
 * Calls the options' set(): for the files, which are those of service/unitfile.h, then
 * for the command line, whose values replace those of files. Returns 0; -EINVAL after
 * saying what is wrong; 1 after having printed help or version. *values is due to
 * service_values_free() in each case.
 */
int service_options_read(const struct service_program *p, int argc, char **argv,
			 void *options, struct service_value **values);
void service_values_free(struct service_value *values); /* accepts NULL */

/* For set(): "yes" or "no". 0 or -EINVAL. */
int service_set_flag(const char *text, bool *out);

/* For set(): a text that may be empty in a file, which means the default, NULL. 0. */
int service_set_text(const char *text, const char **out);

/* The set() of SERVICE_OPTION_CONFIG: the files are read before. */
int service_set_config(void *options, const char *text);

#endif
