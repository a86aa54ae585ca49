/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - options of a service: from its config files, and from the command line
 *
 * There is one record per option. getopt's table, the names in files, the help and the
 * list of current values are made from the records, so they cannot disagree.
 *
 * The files have the format of unitfile.h; a setting has the name of the long option.
 * FILE is read first, then FILE.d/NAME.conf in the order of their names. A later value
 * replaces an earlier one, and the command line replaces values of files. An empty
 * value is the default.
 */
#ifndef CPI_SERVICE_OPTIONS_H
#define CPI_SERVICE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/textlist.h"
#include "service/unitfile.h"

enum service_option_flags {
	SERVICE_LIST = 1, /* it may be given several times; in a file an empty value
			     removes the earlier ones */
	SERVICE_COMMAND_LINE = 2, /* only on the command line */
	SERVICE_RELOADS = 4,      /* can change while the service runs */
};

struct service_option {
	const char *name;
	char letter;     /* 0: none */
	const char *arg; /* NULL: the option takes no argument; on the command line it
			    means "yes" */
	const char *fallback; /* the text that means the default; NULL: there is none */
	unsigned int flags;
	/*
	 * Sets a member of the options from a text, which stays valid as long as the
	 * settings. Returns 0, -ENOMEM, -EINVAL or -ERANGE. NULL: the option prints the
	 * help or the version.
	 */
	int (*set)(void *member, const char *text);
	const char *help;
	size_t at; /* offset of the member in the options */
};

/* Options that every service has on the command line, besides its own. */
#define SERVICE_OPTION_CONFIG                                                   \
	{                                                                       \
		.name = "config", .arg = "FILE", .flags = SERVICE_COMMAND_LINE, \
		.set = service_set_config,                                      \
		.help = "read options from FILE and FILE.d/*.conf",             \
	}
#define SERVICE_OPTION_CHECK(offset)                                   \
	{                                                              \
		.name = "check-config", .flags = SERVICE_COMMAND_LINE, \
		.set = service_set_flag, .at = (offset),               \
		.help = "check the options, print them, and exit",     \
	}
#define SERVICE_OPTION_HELP                                                   \
	{                                                                     \
		.name = "help", .letter = 'h', .flags = SERVICE_COMMAND_LINE, \
		.help = "print this and exit",                                \
	}
#define SERVICE_OPTION_VERSION                                                   \
	{                                                                        \
		.name = "version", .letter = 'V', .flags = SERVICE_COMMAND_LINE, \
		.help = "print the version and exit",                            \
	}

struct service_program {
	const char *name;  /* also the name of the section in files */
	const char *about; /* a sentence on what it does, for the help */
	const char *more;  /* lines at the help's end, or NULL */
	const char *file;  /* the config file, which may be missing */
	const char *env;   /* environment variable that names another config file */
	const struct service_option *options;
	size_t nr;
	size_t size;                 /* of the options */
	void (*init)(void *options); /* sets the defaults */
	void (*fini)(void *options); /* frees the memory of set; or NULL */
	/*
	 * Offset of a struct buf in the options, in which set may explain why it
	 * refuses a value; 0: none.
	 */
	size_t why_at;
};

/* One value of an option, and where it was given. */
struct service_setting {
	size_t option; /* index of its record */
	char *value;
	char *file; /* NULL: the command line */
	struct unitfile_place at;
};

/* In the order of reading. */
struct service_settings {
	struct service_setting *list;
	size_t nr;
};

/*
 * Reads the command line, and the files that it or the variable names, into *s, and
 * sets the options. The caller has set the options to their defaults. Returns 0; 1
 * after it has printed the help or the version; or -EINVAL, -ENOMEM or another -errno,
 * after a message that says what is wrong and where. Call service_settings_fini() in
 * each case.
 */
int service_options_read(const struct service_program *p, int argc, char **argv,
			 void *options, struct service_settings *s);
void service_settings_fini(struct service_settings *s);

/*
 * Sets the options from the settings, as service_options_read() does. The caller has
 * set the options to their defaults.
 */
int service_options_set(const struct service_program *p,
			const struct service_settings *s, void *options);

/* from is "FILE:LINE", "command line" or "default"; all are valid during the call. */
typedef void (*service_options_fn)(void *ctx, const char *name, const char *value,
				   const char *from);

/* Calls fn for each option that has a value, in the order of the help. 0 or -ENOMEM. */
int service_options_each(const struct service_program *p,
			 const struct service_settings *s, service_options_fn fn,
			 void *ctx);

/* Prints that list on the standard output. 0 or -ENOMEM. */
int service_options_print(const struct service_program *p,
			  const struct service_settings *s);

/* Appends that list as lines "option_NAME VALUE" and "option_NAME_from WHERE". */
int service_options_describe(const struct service_program *p,
			     const struct service_settings *s, struct buf *out);

/* The names of options whose values differ, each after a space. */
struct service_changes {
	struct buf changed; /* can change while the service runs */
	struct buf left;    /* need a restart */
};

/* Appends the differences between s and now to *out. Returns 0 or -ENOMEM. */
int service_options_compare(const struct service_program *p,
			    const struct service_settings *s,
			    const struct service_settings *now,
			    struct service_changes *out);

/* Logs what has changed, if it was taken, and what needs a restart. Frees the members.
 */
void service_changes_end(struct service_changes *c, bool taken);

/*
 * Moves the values that can change while the service runs, with their places, from *now
 * to *s. The caller still frees *now. Returns 0; or -ENOMEM, and then *s has only some
 * of them.
 */
int service_options_take(const struct service_program *p, struct service_settings *s,
			 struct service_settings *now);

/* For set, by the type of the member: */
int service_set_flag(void *member,
		     const char *text); /* bool: "yes", "no" and the like */
int service_set_given(void *member, const char *text); /* const char *, not empty */
int service_set_text(void *member, const char *text);  /* const char *; empty: NULL */
int service_add_text(void *member, const char *text);  /* struct text_list; not empty */

/* For SERVICE_OPTION_CONFIG: does nothing, because the files were read before. */
int service_set_config(void *member, const char *text);

#endif
