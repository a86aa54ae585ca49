/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd.c - finds a command, parses its options, runs it
 *
 * getopt_long does the parsing; its two tables are made from the record. A
 * long option's value is 256 and its row, so that letters never collide.
 */
#include "config.h"

#include "tools/cmd.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tools/help.h"
#include "tools/nearest.h"

#define MAX_OPTS   32
#define LONG_VALUE 256

const struct cmd *const cmd_table[] = {
	&cmd_record, &cmd_prof,  &cmd_list,    &cmd_calc,  &cmd_sum,     &cmd_stalls,
	&cmd_hot,    &cmd_paths, &cmd_records, &cmd_tree,  &cmd_callers, &cmd_callees,
	&cmd_flame,  &cmd_top,   &cmd_cfg,     &cmd_stats, &cmd_diff,    &cmd_export,
	&cmd_import, &cmd_epoch, &cmd_flush,   &cmd_label, &cmd_rate,    &cmd_register,
	&cmd_status, &cmd_cat,   &cmd_tip,     &cmd_pairs, &cmd_help,    NULL,
};

static const struct cmd *find(const char *name)
{
	for (const struct cmd *const *c = cmd_table; *c; c++) {
		if (!strcmp((*c)->name, name))
			return *c;
	}
	return NULL;
}

const struct cmd *cmd_find_or_suggest(const char *name)
{
	const struct cmd *cmd = find(name);
	struct nearest near = nearest_init(name);

	if (cmd)
		return cmd;
	for (const struct cmd *const *c = cmd_table; *c; c++)
		nearest_try(&near, (*c)->name);
	if (near.best)
		log_err("there is no command '%s': did you mean '%s'?", name,
			near.best);
	else
		log_err("there is no command '%s': see 'cpi help'", name);
	return NULL;
}

int cmd_usage_error(const struct cmd *cmd, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log_err("%s: %s (see 'cpi %s --help')", cmd->name, text, cmd->name);
	return EXIT_USAGE;
}

/* The row that getopt's value names, or NULL for '?'. */
static const struct opt *opt_of(const struct cmd *cmd, int value)
{
	if (value >= LONG_VALUE)
		return &cmd->opts[value - LONG_VALUE];
	for (const struct opt *o = cmd->opts; value != '?' && o->name; o++) {
		if (o->letter == value)
			return o;
	}
	return NULL;
}

/* Which of an option's words it is; -1: none. */
static int find_choice(const struct opt *o, const char *value)
{
	const char *word = o->arg;

	for (int i = 0; *word; i++) {
		size_t len = strcspn(word, "|");

		if (strlen(value) == len && !memcmp(word, value, len))
			return i;
		word += len + (word[len] == '|');
	}
	return -1;
}

static int set_choice(const struct cmd *cmd, const struct opt *o, const char *value,
		      int *out)
{
	const int choice = find_choice(o, value);

	if (choice >= 0) {
		*out = choice;
		return 0;
	}
	return cmd_usage_error(cmd, "--%s=%s: say one of %s", o->name, value, o->arg);
}

static int set_count(const struct cmd *cmd, const struct opt *o, const char *value,
		     uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno)
		return cmd_usage_error(cmd, "--%s=%s: not a number", o->name, value);
	return 0;
}

static int set_real(const struct cmd *cmd, const struct opt *o, const char *value,
		    double *out)
{
	char *end;

	*out = strtod(value, &end);
	if (end == value || *end || !(*out > 0) || *out > 1e9)
		return cmd_usage_error(cmd, "--%s=%s: not a number above 0", o->name,
				       value);
	return 0;
}

static int set_list(const struct cmd *cmd, const struct opt *o, const char *value,
		    struct cmd_list *out)
{
	if (out->nr == CMD_LIST_MAX)
		return cmd_usage_error(cmd, "--%s: more than %d", o->name,
				       CMD_LIST_MAX);
	out->item[out->nr++] = value;
	return 0;
}

static int set_option(struct cmd_context *ctx, const struct opt *o, const char *value)
{
	void *field = (char *)&ctx->opt + o->offset;

	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)field = true;
		return 0;
	case OPT_STRING:
		*(const char **)field = value;
		return 0;
	case OPT_COUNT:
		return set_count(ctx->cmd, o, value, field);
	case OPT_REAL:
		return set_real(ctx->cmd, o, value, field);
	case OPT_CHOICE:
	case OPT_WORD:
		return set_choice(ctx->cmd, o, value, field);
	case OPT_LIST:
		return set_list(ctx->cmd, o, value, field);
	case OPT_HELP:
		break;
	}
	return 0;
}

/* getopt said '?': the option at argv[at] is not known, or ambiguous. */
static int bad_option(const struct cmd *cmd, const char *given)
{
	struct nearest near;
	char name[64];

	if (optopt && optopt < LONG_VALUE && strncmp(given, "--", 2))
		return cmd_usage_error(cmd, "there is no option -%c", optopt);
	if (optopt >= LONG_VALUE)
		return cmd_usage_error(cmd, "--%s takes no value",
				       cmd->opts[optopt - LONG_VALUE].name);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(given + 2, "="), given + 2);
	near = nearest_init(name);
	for (const struct opt *o = cmd->opts; o->name; o++)
		nearest_try(&near, o->name);
	if (near.best)
		return cmd_usage_error(cmd,
				       "there is no option --%s: did you mean --%s?",
				       name, near.best);
	return cmd_usage_error(cmd, "there is no option --%s", name);
}

static int missing_value(const struct cmd *cmd)
{
	const struct opt *o = opt_of(cmd, optopt);

	return cmd_usage_error(cmd, "--%s needs a value: %s", o->name, o->arg);
}

/* Fills both of getopt_long's tables from the record. */
static void make_tables(const struct cmd *cmd, struct option *longs, char *shorts)
{
	const struct opt *o;

	if (cmd->max_args == CMD_REST)
		*shorts++ = '+';
	*shorts++ = ':';
	for (o = cmd->opts; o->name && o - cmd->opts < MAX_OPTS; o++) {
		*longs++ = (struct option){ o->name,
					    o->kind == OPT_WORD ? optional_argument
					    : o->arg            ? required_argument
								: no_argument,
					    NULL, LONG_VALUE + (int)(o - cmd->opts) };
		if (!o->letter)
			continue;
		*shorts++ = o->letter;
		if (o->arg)
			*shorts++ = ':';
		if (o->kind == OPT_WORD)
			*shorts++ = ':';
	}
	*longs = (struct option){ 0 };
	*shorts = '\0';
}

/* The value of an option that was given none: the next argument, if it is one. */
static char *take_word(const struct opt *o, char **argv)
{
	const char *last = strrchr(o->arg, '|');

	if (argv[optind] && find_choice(o, argv[optind]) >= 0)
		return argv[optind++];
	return (char *)(last ? last + 1 : o->arg);
}

static int check_args(const struct cmd_context *ctx)
{
	const struct cmd *cmd = ctx->cmd;

	if (ctx->nr_args < cmd->min_args)
		return cmd_usage_error(cmd, "needs %s", cmd->args);
	if (cmd->max_args != CMD_REST && ctx->nr_args > cmd->max_args)
		return cmd_usage_error(cmd, "'%s' is one argument too many",
				       ctx->args[cmd->max_args]);
	return 0;
}

int cmd_nr_contexts(const struct cmd_options *o)
{
	int nr = 0;

	for (int kind = 0; kind < NR_CONTEXT_KINDS; kind++)
		nr += o->context[kind] != NULL;
	return nr;
}

/* Profiles are kept by one kind of context each: there is none of two together. */
static int check_contexts(const struct cmd_context *ctx)
{
	if (cmd_nr_contexts(&ctx->opt) > 1)
		return cmd_usage_error(ctx->cmd, "choose one of --comm, --cgroup, "
						 "--label and --process: profiles are "
						 "kept by each alone");
	return 0;
}

int cmd_run(const struct cmd *cmd, int argc, char **argv)
{
	struct cmd_context ctx = { .cmd = cmd };
	struct option longs[MAX_OPTS + 1];
	char shorts[3 * MAX_OPTS + 3];
	int value, status;

	make_tables(cmd, longs, shorts);
	opterr = 0;
	optind = 0; /* begins anew: a command may run another */
	while ((value = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct opt *o = value == ':' ? NULL : opt_of(cmd, value);

		if (value == ':')
			return missing_value(cmd);
		if (!o)
			return bad_option(cmd, argv[optind - 1]);
		if (o->kind == OPT_HELP) {
			help_print_command(cmd);
			return out_finish(EXIT_OK);
		}
		if (o->kind == OPT_WORD && !optarg)
			optarg = take_word(o, argv);
		status = set_option(&ctx, o, optarg);
		if (status)
			return status;
	}
	ctx.args = argv + optind;
	ctx.nr_args = argc - optind;
	status = check_args(&ctx);
	if (!status)
		status = check_contexts(&ctx);
	return status ? status : out_finish(cmd->run(&ctx));
}
