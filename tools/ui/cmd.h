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

/* Exit statuses; what cpi record runs adds its own. */
enum { EXIT_OK = 0, EXIT_FAIL = 1, EXIT_USAGE = 2 };

/* The options of commands that have rows to show: the first member of theirs. */
struct out_options {
	int format; /* enum out_format */
	int color;  /* enum out_color */
	uint64_t limit;
	const char *sort;
};

enum opt_kind {
	OPT_FLAG,   /* bool */
	OPT_STRING, /* const char * */
	OPT_COUNT,  /* uint64_t, decimal */
	OPT_REAL,   /* double above 0 */
	OPT_CHOICE, /* int: which of arg's words, "text|json|csv" */
	OPT_WORD,   /* the same; without one it is the last, and may be argv's next */
	OPT_WORDS,  /* unsigned int: 1 << which of arg's words, for each of "a,b" */
	OPT_LIST,   /* struct text_list: may be given again */
	OPT_LOCAL,  /* no value: the program's times are local (time_use_local()) */
	OPT_HELP,   /* prints the help */
};

struct opt {
	const char *name; /* NULL ends the table */
	char letter;      /* 0 for none */
	const char *arg;  /* what the value is called; NULL for flags */
	const char *help;
	enum opt_kind kind;
	size_t offset; /* in the command's options */
};

/* Options are a member of a type; in the file of a command, of its struct options. */
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
	const char *alias; /* what perf calls it; or NULL */
	const char *args;  /* as in the synopsis, behind the options */
	const char *summary;
	int min_args;
	int max_args;      /* CMD_REST: the first argument ends the options */
	const char *words; /* what the first argument may be, "list|new"; or NULL */
	const struct opt *opts;
	size_t opt_size; /* of its options */
	/* Whether they go together: 0, or EXIT_USAGE after saying why not; or NULL. */
	int (*check)(const struct cmd_context *ctx);
	int (*run)(struct cmd_context *ctx); /* the exit status */
};

#define CMD_REST (-1)

struct cmd_context {
	const struct cmd *cmd;
	void *opt;   /* its options; zero where one was not given */
	char **args; /* nr_args of them, then NULL */
	int nr_args;
};

/* Every command, group by group as in the help; NULL ends it. The program has it. */
extern const struct cmd *const cmd_table[];

/* What the help puts above the commands from first on; a NULL title ends the list. */
struct cmd_group {
	const char *title;
	const struct cmd *first;
};

extern const struct cmd_group cmd_groups[];

/* The command of that name; NULL after a message with the nearest name. */
const struct cmd *cmd_find_or_suggest(const char *name);

/* Parses argv[1..argc) (argv[0] is the command) and runs it. The exit status. */
int cmd_run(const struct cmd *cmd, int argc, char **argv);

/* Says what is wrong with the command line; returns EXIT_USAGE. */
int cmd_usage_error(const struct cmd *cmd, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Of a command that logs all errors but -ENOMEM, which is logged: the exit status. */
int cmd_exit_status(const struct cmd *cmd, int err);

#endif
