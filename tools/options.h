/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - options that several commands share
 *
 * The options of a command that reads a selection begin as struct view_options; those
 * of a command that analyses procedures begin as struct explain_options. A report's
 * request that begins with a struct select_request may take the place of that member.
 */
#ifndef CPI_TOOLS_OPTIONS_H
#define CPI_TOOLS_OPTIONS_H

#include "report/explain/explainer.h"
#include "report/select/select.h"
#include "tools/ui/cmd.h"

struct view_options {
	struct out_options out;
	struct select_request select;
};

struct explain_options {
	struct out_options out;
	struct explain_request explain;
};

#define OPT_SELECT(name, arg, help, kind, field) \
	OPT_OF(struct view_options, name, 0, arg, help, kind, select.field)
#define OPT_DB OPT_SELECT("db", "FILE", "read this database", OPT_LIST, dbs)
#define OPT_CPID \
	OPT_SELECT("socket", "PATH", "cpid's control socket", OPT_STRING, socket)
#define OPT_EPOCH                                                                 \
	OPT_SELECT("epoch", "SPEC",                                               \
		   "epochs: recent, last, all, an id, -N, a label, a time, A..B", \
		   OPT_STRING, epoch)
#define OPT_LOCAL_TIME                                                                 \
	{                                                                              \
		"local", 0, NULL, "times are of the local zone, not UTC", OPT_LOCAL, 0 \
	}
#define OPT_HOST \
	OPT_SELECT("host", "GLOB", "only epochs of these machines", OPT_STRING, host)
#define OPT_PLATFORM                                                               \
	OPT_SELECT("platform", "GLOB",                                             \
		   "only epochs of these platforms, ARCH/CPU/RELEASE", OPT_STRING, \
		   platform)
#define OPTS_ORIGIN                                                                   \
	OPT_SELECT("cluster", "GLOB", "of a store: only these clusters", OPT_STRING,  \
		   cluster),                                                          \
		OPT_SELECT("release", "GLOB", "of a store: only these releases",      \
			   OPT_STRING, release),                                      \
		OPT_SELECT("machine", "GLOB", "of a store: only these machine types", \
			   OPT_STRING, machine)
#define OPT_MERGE_PLATFORMS                                                    \
	OPT_SELECT("merge-platforms", NULL, "add up epochs of different CPUs", \
		   OPT_FLAG, merge_platforms)
#define OPT_EVENT OPT_SELECT("event", "EVENT", "only this event", OPT_STRING, event)
#define OPT_IMAGE                                                                   \
	OPT_SELECT("image", "GLOB", "only images of this path or name", OPT_STRING, \
		   image)
#define OPT_COMM                                                      \
	OPT_SELECT("comm", "GLOB", "only these commands", OPT_STRING, \
		   context[CONTEXT_COMM])
#define OPT_CGROUP                                                                  \
	OPT_SELECT("cgroup", "GLOB", "only processes of these cgroups", OPT_STRING, \
		   context[CONTEXT_CGROUP])
#define OPT_CONTAINER                                                                \
	OPT_SELECT("container", "GLOB", "only these containers or pods", OPT_STRING, \
		   container)
#define OPT_UNIT \
	OPT_SELECT("unit", "GLOB", "only these units of systemd", OPT_STRING, unit)
#define OPT_LABEL                                                                   \
	OPT_SELECT("label", "GLOB", "only commands that cpi label ran", OPT_STRING, \
		   context[CONTEXT_LABEL])
#define OPT_PROCESS                                                                 \
	OPT_SELECT("process", "GLOB", "only these processes, COMM:PID", OPT_STRING, \
		   context[CONTEXT_PROCESS])
#define OPT_THREAD                                                               \
	OPT_SELECT("thread", "GLOB", "only these threads, NAME:TID", OPT_STRING, \
		   context[CONTEXT_THREAD])
#define OPTS_DEBUG_FILES                                                              \
	OPT_SELECT("debug-dir", "DIR", "look for debug files here first", OPT_STRING, \
		   debug_dir),                                                        \
		OPT_SELECT("debuginfod", NULL,                                        \
			   "also ask the servers in DEBUGINFOD_URLS", OPT_FLAG,       \
			   debuginfod)
#define OPTS_EPOCHS \
	OPT_DB, OPT_EPOCH, OPT_LOCAL_TIME, OPT_HOST, OPT_PLATFORM, OPTS_ORIGIN
#define OPTS_CONTEXTS                                                          \
	OPT_COMM, OPT_CGROUP, OPT_CONTAINER, OPT_UNIT, OPT_LABEL, OPT_PROCESS, \
		OPT_THREAD
#define OPT_VERBOSE                                                           \
	OPT_OF(struct view_options, "verbose", 'v', NULL,                     \
	       "also show the machine, the streams and what was not sampled", \
	       OPT_FLAG, select.verbose)
#define OPTS_SELECTION \
	OPTS_EPOCHS, OPT_MERGE_PLATFORMS, OPT_EVENT, OPT_IMAGE, OPTS_CONTEXTS

#define OPTS_REPORT OPTS_SELECTION, OPT_VERBOSE

#define OPT_ATTRIBUTION_OF(type, field)                        \
	OPT_OF(type, "attribution", 0, "auto|tip|precise|raw", \
	       "how time is assigned to instructions", OPT_CHOICE, field)
#define OPT_ATTRIBUTION OPT_ATTRIBUTION_OF(struct explain_options, explain.attribution)

#define OPTS_EXPLAIN                                                                   \
	OPT_OF(struct explain_options, "cpu", 0, "NAME",                               \
	       "time instructions as on this CPU, znver4 …", OPT_STRING, explain.cpu), \
		OPT_OF(struct explain_options, "debug", 0, "PASSES",                   \
		       "trace these passes on stderr: cfg,freq,blame", OPT_STRING,     \
		       explain.debug)

/*
 * Runs a command whose options begin as struct explain_options: opens the selection and
 * calls fn. fn returns 0 or a negative error, which it has logged unless it is -ENOMEM.
 * Returns the exit status.
 */
int options_explain(struct cmd_context *ctx,
		    int (*fn)(struct cmd_context *ctx, struct explainer *x));

/* The same, and finds the procedures that the first argument names. */
int options_explain_place(struct cmd_context *ctx,
			  int (*fn)(struct cmd_context *ctx, struct explainer *x,
				    const struct found_places *found));

#endif
