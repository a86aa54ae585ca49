/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd.h - one record per command; everything about its options derives from it
 *
 * getopt_long's tables, --help, cpi help, the bash completion and the test that
 * compares them with the man pages all read the same struct opt rows. To add a
 * command: write tools/cmd_NAME.c with its record, list it in tools/cmd.c, and
 * write man/cpi-NAME.1.
 */
#ifndef CPI_TOOLS_CMD_H
#define CPI_TOOLS_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/context.h"
#include "tools/out.h"

/* Exit statuses; what cpi record runs adds its own. */
enum { EXIT_OK = 0, EXIT_FAIL = 1, EXIT_USAGE = 2 };

#define CMD_LIST_MAX 32

/* What an option that may be given again was given. */
struct cmd_list {
	const char *item[CMD_LIST_MAX];
	int nr;
};

/* In the order of the options of cpi prof, diff and stats. */
enum prof_by {
	BY_PROCEDURE,
	BY_IMAGE,
	BY_COMM,
	BY_LINE,
	BY_CGROUP,
	BY_CONTAINER,
	BY_UNIT,
	BY_LABEL,
	BY_PROCESS,
	BY_CATEGORY /* of cpi stats */
};

/* The value of every option of every command; zero where it was not given. */
struct cmd_options {
	const char *debug_dir;
	bool debuginfod;
	struct cmd_list dbs;
	const char *epoch, *host, *platform, *event, *image;
	const char *context[NR_CONTEXT_KINDS]; /* at most one is given */
	bool merge_platforms;
	int format; /* enum out_format */
	int color;  /* enum out_color */
	uint64_t limit;
	const char *sort;
	const char *socket;
	/* prof */
	int by; /* enum prof_by */
	const char *procedure;
	bool over_time;
	const char *svg;
	bool idle, combine, inlines; /* inlines: list, too */
	/* list, calc */
	bool source, assembly, both;
	int attribution; /* enum attribution */
	/* calc and its kin */
	bool all;
	const char *cpu, *debug;
	/* export */
	int labels; /* which word of WEIGHING_BY */
	const char *to;
	/* stats, diff */
	int normalize;
	double fdr, threshold; /* which is in percent */
	const char *history;
	/* tree and its kin */
	bool inverted, commands, icicle, children;
	/* cat */
	bool intervals, call_stacks, edges, followed, check, weights;
	/* record */
	double hz, stacks_hz;
	const char *windows;
	const char *anchors;
	int stacks; /* 0: off */
	uint64_t stacks_copy;
	struct cmd_list events;
	const char *output, *label, *raw;
	const char *by_kinds, *by_process;
	const char *replay, *program;
	/* import */
	bool keep_partial;
	/* top */
	double interval;
	uint64_t looks;
	/* tip */
	uint64_t interval_cycles, seed;
	bool random;
	const char *records;
	/* register */
	const char *base, *size, *offset, *path;
	/* epoch */
	bool force;
	/* help */
	bool completion;
};

enum opt_kind {
	OPT_FLAG,   /* bool */
	OPT_STRING, /* const char * */
	OPT_COUNT,  /* uint64_t, decimal */
	OPT_REAL,   /* double above 0 */
	OPT_CHOICE, /* int: which of arg's words, "text|json|csv" */
	OPT_WORD,   /* the same; without one it is the last, and may be argv's next */
	OPT_LIST,   /* struct cmd_list: may be given again */
	OPT_HELP,   /* prints the help */
};

struct opt {
	const char *name; /* NULL ends the table */
	char letter;      /* 0 for none */
	const char *arg;  /* what the value is called; NULL for flags */
	const char *help;
	enum opt_kind kind;
	size_t offset; /* in struct cmd_options */
};

#define OPT(name, letter, arg, help, kind, field)                                  \
	{                                                                          \
		name, letter, arg, help, kind, offsetof(struct cmd_options, field) \
	}

#define OPT_DB OPT("db", 0, "FILE", "read this database", OPT_LIST, dbs)
#define OPT_EPOCH                                                              \
	OPT("epoch", 0, "SPEC", "last, all, an id, -N, a label, a time, A..B", \
	    OPT_STRING, epoch)
#define OPT_HOST \
	OPT("host", 0, "GLOB", "only epochs of these machines", OPT_STRING, host)
#define OPT_PLATFORM                                                              \
	OPT("platform", 0, "GLOB", "only of these, ARCH/CPU/RELEASE", OPT_STRING, \
	    platform)
#define OPT_MERGE_PLATFORMS                                                          \
	OPT("merge-platforms", 0, NULL, "add up epochs of different CPUs", OPT_FLAG, \
	    merge_platforms)
#define OPT_EVENT OPT("event", 0, "EVENT", "only this event", OPT_STRING, event)
#define OPT_IMAGE \
	OPT("image", 0, "GLOB", "only images of this path or name", OPT_STRING, image)
#define OPT_COMM \
	OPT("comm", 0, "GLOB", "only these commands", OPT_STRING, context[CONTEXT_COMM])
#define OPT_CGROUP                                                              \
	OPT("cgroup", 0, "GLOB", "only processes of these cgroups", OPT_STRING, \
	    context[CONTEXT_CGROUP])
#define OPT_LABEL                                                         \
	OPT("label", 0, "GLOB", "only what cpi label ran so", OPT_STRING, \
	    context[CONTEXT_LABEL])
#define OPT_PROCESS                                                             \
	OPT("process", 0, "GLOB", "only these processes, COMM:PID", OPT_STRING, \
	    context[CONTEXT_PROCESS])
#define OPT_LIMIT      OPT("limit", 0, "N", "show at most N rows", OPT_COUNT, limit)
#define OPT_SORT(keys) OPT("sort", 0, "KEY", "order by " keys, OPT_STRING, sort)
#define OPT_FORMAT \
	OPT("format", 0, "text|json|csv", "how to write the result", OPT_CHOICE, format)
#define OPT_COLOR                                                              \
	OPT("color", 0, "auto|always|never", "colour in text (default: auto)", \
	    OPT_CHOICE, color)
#define OPTS_DEBUG_FILES                                                              \
	OPT("debug-dir", 0, "DIR", "look for debug files here first", OPT_STRING,     \
	    debug_dir),                                                               \
		OPT("debuginfod", 0, NULL, "ask the servers of DEBUGINFOD_URLS, too", \
		    OPT_FLAG, debuginfod)
#define OPT_SOCKET OPT("socket", 0, "PATH", "cpid's control socket", OPT_STRING, socket)

#define OPTS_EPOCHS OPT_DB, OPT_EPOCH, OPT_HOST, OPT_PLATFORM
#define OPTS_SELECTION                                                                \
	OPTS_EPOCHS, OPT_MERGE_PLATFORMS, OPT_EVENT, OPT_IMAGE, OPT_COMM, OPT_CGROUP, \
		OPT_LABEL, OPT_PROCESS
#define OPT_END                                               \
	{ "help", 'h', NULL, "show this help", OPT_HELP, 0 }, \
	{                                                     \
		NULL, 0, NULL, NULL, OPT_FLAG, 0              \
	}

struct cmd_context;

struct cmd {
	const char *name;
	const char *args; /* as in the synopsis, behind the options */
	const char *summary;
	int min_args;
	int max_args;      /* CMD_REST: the first argument ends the options */
	const char *words; /* what the first argument may be, "list|new"; or NULL */
	const struct opt *opts;
	int (*run)(struct cmd_context *ctx); /* the exit status */
};

#define CMD_REST (-1)

struct cmd_context {
	const struct cmd *cmd;
	struct cmd_options opt;
	char **args; /* nr_args of them, then NULL */
	int nr_args;
};

extern const struct cmd cmd_record, cmd_prof, cmd_list, cmd_calc, cmd_sum, cmd_stalls,
	cmd_hot, cmd_paths, cmd_records, cmd_tree, cmd_callers, cmd_callees, cmd_flame,
	cmd_top, cmd_cfg, cmd_stats, cmd_diff, cmd_export, cmd_import, cmd_epoch,
	cmd_flush, cmd_label, cmd_rate, cmd_register, cmd_status, cmd_cat, cmd_tip,
	cmd_pairs, cmd_help;

/* Every command, in the order of the help; NULL ends it. */
extern const struct cmd *const cmd_table[];

/* The command of that name; NULL after a message with the nearest name. */
const struct cmd *cmd_find_or_suggest(const char *name);

/* Parses argv[1..argc) (argv[0] is the command) and runs it. */
int cmd_run(const struct cmd *cmd, int argc, char **argv);

/* How many kinds of context choose among the samples. */
int cmd_nr_contexts(const struct cmd_options *o);

/* Says what is wrong with the command line; returns EXIT_USAGE. */
int cmd_usage_error(const struct cmd *cmd, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
