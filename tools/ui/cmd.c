/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd.c - finds a command, parses its options, runs it
 *
 * getopt_long does the parsing; its two tables are made from the record. A long
 * option's value is 256 plus the index of its row, so it never equals a letter.
 */
#include "config.h"

#include "tools/ui/cmd.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/did_you_mean.h"
#include "base/err.h"
#include "base/log.h"
#include "base/number.h"
#include "base/times.h"
#include "tools/ui/help.h"

#define MAX_OPTS   48
#define LONG_VALUE 256
#define ARGUMENT   1 /* getopt()'s value of an argument, if "-" precedes the letters */

static const struct cmd *find_command(const char *name)
{
	for (const struct cmd *const *c = cmd_table; *c; c++) {
		if (!strcmp((*c)->name, name) ||
		    ((*c)->alias && !strcmp((*c)->alias, name)))
			return *c;
	}
	return NULL;
}

const struct cmd *cmd_find_or_suggest(const char *name)
{
	const struct cmd *cmd = find_command(name);
	struct did_you_mean guess = did_you_mean_init(name);

	if (cmd)
		return cmd;
	for (const struct cmd *const *c = cmd_table; *c; c++) {
		did_you_mean_try(&guess, (*c)->name);
		if ((*c)->alias)
			did_you_mean_try(&guess, (*c)->alias);
	}
	if (guess.best)
		log_err("there is no command '%s': did you mean '%s'?", name,
			guess.best);
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

/* The row of getopt's value, or NULL for '?'. */
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

/*
 * The index of the option's word that equals size bytes of text; -1 if there is none.
 */
static int find_word(const struct opt *o, const char *text, size_t size)
{
	const char *word = o->arg;

	for (int i = 0; *word; i++) {
		size_t len = strcspn(word, "|");

		if (size == len && !memcmp(word, text, len))
			return i;
		word += len + (word[len] == '|');
	}
	return -1;
}

static int find_choice(const struct opt *o, const char *value)
{
	return find_word(o, value, strlen(value));
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

static int set_words(const struct cmd *cmd, const struct opt *o, const char *value,
		     unsigned int *out)
{
	unsigned int set = 0;

	for (const char *at = value;; at++) {
		const size_t len = strcspn(at, ",");
		const int word = find_word(o, at, len);

		if (word < 0)
			return cmd_usage_error(cmd, "--%s=%s: say some of %s", o->name,
					       value, o->arg);
		set |= 1u << word;
		at += len;
		if (!*at)
			break;
	}
	*out = set;
	return 0;
}

#define LEAST_REAL 1e-9
#define MOST_REAL  1e9

static int set_count(const struct cmd *cmd, const struct opt *o, const char *value,
		     uint64_t *out)
{
	if (number_parse(value, 10, out))
		return cmd_usage_error(cmd, "--%s=%s: not a number", o->name, value);
	return 0;
}

static int set_real(const struct cmd *cmd, const struct opt *o, const char *value,
		    double *out)
{
	if (number_parse_real(value, "", LEAST_REAL, MOST_REAL, out))
		return cmd_usage_error(cmd, "--%s=%s: not a number from %g to %g",
				       o->name, value, LEAST_REAL, MOST_REAL);
	return 0;
}

static int set_list(const struct cmd *cmd, const struct opt *o, const char *value,
		    struct text_list *out)
{
	if (out->nr == TEXT_LIST_MAX)
		return cmd_usage_error(cmd, "--%s: more than %d", o->name,
				       TEXT_LIST_MAX);
	out->item[out->nr++] = value;
	return 0;
}

static int set_option(struct cmd_context *ctx, const struct opt *o, const char *value)
{
	void *field = (char *)ctx->opt + o->offset;

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
	case OPT_WORDS:
		return set_words(ctx->cmd, o, value, field);
	case OPT_LIST:
		return set_list(ctx->cmd, o, value, field);
	case OPT_LOCAL:
		time_use_local();
		return 0;
	case OPT_HELP:
		break;
	}
	return 0;
}

/* Explains getopt's '?' for the argument `given`: which option is wrong, and why. */
static int bad_option(const struct cmd *cmd, const char *given)
{
	struct did_you_mean guess;
	char name[64];

	if (optopt && optopt < LONG_VALUE)
		return cmd_usage_error(cmd, "there is no option -%c", optopt);
	if (optopt >= LONG_VALUE)
		return cmd_usage_error(cmd, "--%s takes no value",
				       cmd->opts[optopt - LONG_VALUE].name);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(given + 2, "="), given + 2);
	guess = did_you_mean_init(name);
	for (const struct opt *o = cmd->opts; o->name; o++)
		did_you_mean_try(&guess, o->name);
	if (guess.best)
		return cmd_usage_error(cmd,
				       "there is no option --%s: did you mean --%s?",
				       name, guess.best);
	return cmd_usage_error(cmd, "there is no option --%s", name);
}

static int missing_value(const struct cmd *cmd)
{
	const struct opt *o = opt_of(cmd, optopt);

	return cmd_usage_error(cmd, "--%s needs a value: %s", o->name, o->arg);
}

/* Fills both tables of getopt_long() from the record. */
static void make_tables(const struct cmd *cmd, struct option *longs, char *shorts)
{
	const struct opt *o;

	*shorts++ = cmd->max_args == CMD_REST ? '+' : '-'; /* in argv's order */
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

/*
 * The value of an option that came without one: the next argument, if that is one of
 * its words.
 */
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

/* "-2" is an epoch, the second before the last; no option has a digit as its letter. */
static bool is_negative_number(const char *arg)
{
	return arg[0] == '-' && arg[1] && !arg[1 + strspn(arg + 1, "0123456789")];
}

/* Resets getopt for another argv, because a command may run another command. */
static void begin_options(char **argv, const char *shorts, const struct option *longs)
{
	opterr = 0;
	optind = 0;
	getopt_long(1, argv, shorts, longs, NULL);
}

/* getopt_long() in argv's order; it treats a negative number as an argument. */
static int next_option(int argc, char **argv, const char *shorts,
		       const struct option *longs)
{
	if (*shorts == '-' && optind < argc && is_negative_number(argv[optind])) {
		optarg = argv[optind++];
		return ARGUMENT;
	}
	return getopt_long(argc, argv, shorts, longs, NULL);
}

/*
 * Applies what getopt has found. Returns 0, -1 after the help was printed, or the exit
 * status after an error.
 */
static int take_option(struct cmd_context *ctx, int value, char **argv)
{
	const struct cmd *cmd = ctx->cmd;
	const struct opt *o = value == ':' ? NULL : opt_of(cmd, value);

	if (value == ':')
		return missing_value(cmd);
	if (!o)
		return bad_option(cmd, argv[optind - 1]);
	if (o->kind == OPT_HELP) {
		help_print_command(cmd);
		return -1;
	}
	if (o->kind == OPT_WORD && !optarg)
		optarg = take_word(o, argv);
	return set_option(ctx, o, optarg);
}

/*
 * Parses the options. Returns -1 if the command should run, else the exit status.
 * Arguments move to the front of argv, over options that were read.
 */
static int parse(struct cmd_context *ctx, int argc, char **argv)
{
	const struct cmd *cmd = ctx->cmd;
	struct option longs[MAX_OPTS + 1];
	char shorts[3 * MAX_OPTS + 3];
	int value, status;

	make_tables(cmd, longs, shorts);
	begin_options(argv, shorts, longs);
	ctx->args = argv + 1;
	while ((value = next_option(argc, argv, shorts, longs)) != -1) {
		status = value == ARGUMENT ? 0 : take_option(ctx, value, argv);
		if (status)
			return status == -1 ? EXIT_OK : status;
		if (value == ARGUMENT)
			ctx->args[ctx->nr_args++] = optarg;
	}
	while (optind < argc)
		ctx->args[ctx->nr_args++] = argv[optind++];
	ctx->args[ctx->nr_args] = NULL;
	status = check_args(ctx);
	if (!status && cmd->check)
		status = cmd->check(ctx);
	return status ? status : -1;
}

int cmd_run(const struct cmd *cmd, int argc, char **argv)
{
	struct cmd_context ctx = { .cmd = cmd, .opt = calloc(1, cmd->opt_size + 1) };
	int status;

	if (!ctx.opt)
		return cmd_exit_status(cmd, -ENOMEM);
	status = parse(&ctx, argc, argv);
	if (status == -1)
		status = cmd->run(&ctx);
	free(ctx.opt);
	return out_finish(status);
}

int cmd_exit_status(const struct cmd *cmd, int err)
{
	if (err == -ENOMEM)
		log_err("%s: %s", cmd->name, err_str(err));
	return err ? EXIT_FAIL : EXIT_OK;
}
