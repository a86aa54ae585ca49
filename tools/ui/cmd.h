/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd.h - one record per command; everything about its options derives from it
 *
 * getopt_long's tables, --help, cpi help, the bash completion and the options of the
 * manual pages all come from the same struct opt rows. To add a command: write
 * tools/cmd_NAME.c with its options and its record, list it in tools/commands.c and
 * man/local.mk, and write man/cpi-NAME.1.in; man/page.awk adds the options to it.
 */
#ifndef CPI_TOOLS_CMD_H
#define CPI_TOOLS_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/textlist.h"
#include "tools/ui/out.h"

/* Exit statuses. cpi record also returns those of its command. */
enum { EXIT_OK = 0, EXIT_FAIL = 1, EXIT_USAGE = 2 };

/* The options of commands that print rows; the first member of their struct options. */
struct out_options {
	int format; /* enum out_format */
	int color;  /* enum out_color */
	uint64_t limit;
	const char *sort;
	bool no_pager;
};

enum opt_kind {
	OPT_FLAG,   /* bool */
	OPT_STRING, /* const char * */
	OPT_COUNT,  /* uint64_t, decimal */
	OPT_REAL,   /* double above 0 */
	OPT_CHOICE, /* int: the index of one of arg's words, "text|json|csv" */
	OPT_WORD,  /* the same; the word may be argv's next, and the default is the last
		    */
	OPT_WORDS, /* unsigned int: a set of arg's words, 1 << index each; "a,b" */
	OPT_LIST,  /* struct text_list: the option may be repeated */
	OPT_LOCAL, /* no value: times are local from now on (time_use_local()) */
	OPT_HELP,  /* prints the help */
};

struct opt {
	const char *name; /* NULL ends the table */
	char letter;      /* 0 for none */
	const char *arg;  /* the name of the value; NULL for flags */
	const char *help;
	enum opt_kind kind;
	size_t offset; /* in the struct of the command's options */
};

/*
 * OPT_OF() makes the row of an option whose value is stored in a member of `type`; with
 * OPT() that is the command's own struct options.
 */
#define OPT_OF(type, name, letter, arg, help, kind, field)           \
	{                                                            \
		name, letter, arg, help, kind, offsetof(type, field) \
	}
#define OPT(name, letter, arg, help, kind, field) \
	OPT_OF(struct options, name, letter, arg, help, kind, field)

#define OPT_OUT(name, arg, help, kind, field) \
	OPT_OF(struct out_options, name, 0, arg, help, kind, field)
#define OPT_LIMIT      OPT_OUT("limit", "N", "show at most N rows", OPT_COUNT, limit)
#define OPT_SORT(keys) OPT_OUT("sort", "KEY", "order by " keys, OPT_STRING, sort)
#define OPT_FORMAT_OF(words) \
	OPT_OUT("format", words, "how to write the result", OPT_CHOICE, format)
#define OPT_FORMAT OPT_FORMAT_OF("text|json|csv")
#define OPT_NO_PAGER                                                               \
	OPT_OUT("no-pager", NULL, "do not show text on a terminal through $PAGER", \
		OPT_FLAG, no_pager)
#define OPT_COLOR                                                               \
	OPT_OUT("color", "auto|always|never", "colour in text (default: auto)", \
		OPT_CHOICE, color)
#define OPT_END                                               \
	{ "help", 'h', NULL, "show this help", OPT_HELP, 0 }, \
	{                                                     \
		NULL, 0, NULL, NULL, OPT_FLAG, 0              \
	}

struct cmd_context;

struct cmd {
	const char *name;
	const char *alias; /* perf's name for it, or NULL */
	const char *args;  /* the arguments as in the synopsis */
	const char *summary;
	int min_args;
	int max_args;      /* CMD_REST if the first argument ends the options */
	const char *words; /* the words allowed as the first argument, "list|new"; or
			      NULL */
	const struct opt *opts;
	size_t opt_size; /* of its options */
	/*
	 * Checks that options go together. Returns 0, or EXIT_USAGE after a message.
	 * May be NULL.
	 */
	int (*check)(const struct cmd_context *ctx);
	int (*run)(struct cmd_context *ctx); /* the exit status */
};

#define CMD_REST (-1)

struct cmd_context {
	const struct cmd *cmd;
	void *opt;   /* its options; zero if not given */
	char **args; /* nr_args of them, then NULL */
	int nr_args;
};

/*
 * Every command, in the groups of the help; NULL ends the list. Defined by the program.
 */
extern const struct cmd *const cmd_table[];

/* A title in the help, above the command `first`; a NULL title ends the list. */
struct cmd_group {
	const char *title;
	const struct cmd *first;
};

extern const struct cmd_group cmd_groups[];

/*
 * Finds a command by name. If there is none, prints a message that suggests a name, and
 * returns NULL.
 */
const struct cmd *cmd_find_or_suggest(const char *name);

/*
 * Parses argv[1..argc), where argv[0] is the command, and runs it. Returns the exit
 * status.
 */
int cmd_run(const struct cmd *cmd, int argc, char **argv);

/* Prints what is wrong with the command line; returns EXIT_USAGE. */
int cmd_usage_error(const struct cmd *cmd, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The exit status for the error of a command that has logged all errors except -ENOMEM,
 * which this logs.
 */
int cmd_exit_status(const struct cmd *cmd, int err);

#endif
