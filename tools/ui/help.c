/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * help.c - prints the help and the completion script from the command records
 */
#include "config.h"

#include "tools/ui/help.h"

#include <stdio.h>
#include <string.h>

#define HELP_COLUMN 27

static void print_aliases(void)
{
	const char *before = "\nAs in perf: ";

	for (const struct cmd *const *c = cmd_table; *c; c++) {
		if (!(*c)->alias)
			continue;
		printf("%s'cpi %s' is 'cpi %s'", before, (*c)->alias, (*c)->name);
		before = ", ";
	}
	puts(".");
}

static void print_group_before(const struct cmd *cmd)
{
	for (const struct cmd_group *g = cmd_groups; g->title; g++) {
		if (g->first == cmd)
			printf("\n%s:\n", g->title);
	}
}

void help_print_overview(void)
{
	puts("usage: cpi COMMAND [OPTION...] [ARGUMENT...]\n"
	     "       cpi --version | --help\n\n"
	     "Where has the machine's time gone? cpid collects all the time;\n"
	     "these commands look at what it found.");
	for (const struct cmd *const *c = cmd_table; *c; c++) {
		print_group_before(*c);
		printf("  %-8s %s\n", (*c)->name, (*c)->summary);
	}
	print_aliases();
	puts("'cpi COMMAND --help' lists a command's options, cpi(1) says more.");
}

/* Writes "=HZ" for a value, "[=off|fp]" for an optional word, "" for a flag. */
static void format_value(const struct opt *o, char *out, size_t size)
{
	const bool may_miss = o->kind == OPT_WORD;

	out[0] = '\0';
	if (o->arg)
		snprintf(out, size, "%s=%s%s", may_miss ? "[" : "", o->arg,
			 may_miss ? "]" : "");
}

static void print_option(const struct opt *o)
{
	char value[160], left[256];

	format_value(o, value, sizeof(value));
	snprintf(left, sizeof(left), "%c%c%s --%s%s", o->letter ? '-' : ' ',
		 o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name, value);
	if (strlen(left) >= HELP_COLUMN)
		printf("  %s\n  %-*s %s\n", left, HELP_COLUMN, "", o->help);
	else
		printf("  %-*s %s\n", HELP_COLUMN, left, o->help);
}

void help_print_command(const struct cmd *cmd)
{
	printf("usage: cpi %s [OPTION...]%s%s\n\n%s.\n\n", cmd->name,
	       *cmd->args ? " " : "", cmd->args, cmd->summary);
	for (const struct opt *o = cmd->opts; o->name; o++)
		print_option(o);
	if (cmd->alias)
		printf("\n'cpi %s' is the same.", cmd->alias);
	printf("\nMore: man cpi-%s\n", cmd->name);
}

/* Writes "a|b|c" as a list of words for compgen. */
static void print_words(const char *words)
{
	for (; *words; words++)
		putchar(*words == '|' ? ' ' : *words);
}

static void print_command_names(void)
{
	for (const struct cmd *const *c = cmd_table; *c; c++)
		printf("%s%s%s%s", c == cmd_table ? "" : " ", (*c)->name,
		       (*c)->alias ? " " : "", (*c)->alias ? (*c)->alias : "");
}

/* Replaces an alias by the name of its command. */
static void print_completion_aliases(void)
{
	for (const struct cmd *const *c = cmd_table; *c; c++) {
		if ((*c)->alias)
			printf("\t[[ $command == %s ]] && command=%s\n", (*c)->alias,
			       (*c)->name);
	}
}

/*
 * The word of cpi help --values that lists the stored values of an option, or NULL.
 */
static const char *stored_values(const struct opt *o)
{
	if (!strcmp(o->name, "epoch") || !strcmp(o->name, "history"))
		return "epochs";
	if (!strcmp(o->name, "image"))
		return "images";
	return strcmp(o->name, "procedure") ? NULL : "procedures";
}

static const char *stored_arguments(const struct cmd *cmd)
{
	if (strstr(cmd->args, "EPOCH") || strstr(cmd->args, "A B"))
		return "epochs";
	return strstr(cmd->args, "PROC") ? "procedures" : "";
}

static void print_completion_of(const struct cmd *cmd)
{
	printf("\t%s)\n\t\topts='", cmd->name);
	for (const struct opt *o = cmd->opts; o->name; o++)
		printf("%s--%s%s", o == cmd->opts ? "" : " ", o->name,
		       o->arg ? "=" : "");
	printf("'\n\t\twords='");
	if (!strcmp(cmd->name, "help"))
		print_command_names();
	else if (cmd->words)
		print_words(cmd->words);
	printf("'\n\t\targs='%s'\n\t\trest=%d\n", stored_arguments(cmd),
	       cmd->max_args == CMD_REST);
	printf("\t\tcase $prev in\n");
	for (const struct opt *o = cmd->opts; o->name; o++) {
		if (!o->arg)
			continue;
		if (o->kind == OPT_CHOICE || o->kind == OPT_WORD ||
		    o->kind == OPT_WORDS) {
			printf("\t\t--%s) values='", o->name);
			print_words(o->arg);
			puts("' ;;");
		} else if (!strcmp(o->arg, "FILE") || !strcmp(o->arg, "PATH")) {
			printf("\t\t--%s) files=1 ;;\n", o->name);
		} else if (stored_values(o)) {
			printf("\t\t--%s) stored=%s ;;\n", o->name, stored_values(o));
		} else {
			printf("\t\t--%s) none=1 ;;\n", o->name);
		}
	}
	puts("\t\tesac\n\t\t;;");
}

/* Prints the function that adds names from the database; --db may name another one. */
static void print_completion_of_stored(void)
{
	puts("# bash completion for cpi, made by 'cpi help --completion'\n"
	     "_cpi_stored()\n"
	     "{\n"
	     "\tlocal value db= i\n"
	     "\tfor ((i = 2; i + 1 < COMP_CWORD; i++)); do\n"
	     "\t\t[[ ${COMP_WORDS[i]} == --db ]] || continue\n"
	     "\t\tdb=${COMP_WORDS[i+1]}\n"
	     "\t\t[[ $db == = ]] && db=${COMP_WORDS[i+2]}\n"
	     "\tdone\n"
	     "\twhile IFS= read -r value; do\n"
	     "\t\t[[ $value == \"$2\"* ]] &&\n"
	     "\t\t\tCOMPREPLY+=(\"$(printf %q \"$value\")\")\n"
	     "\tdone < <(timeout 1 cpi help --values=\"$1\" ${db:+--db=\"$db\"} "
	     "2>/dev/null)\n"
	     "}");
}

void help_print_completion(void)
{
	print_completion_of_stored();
	puts("_cpi()\n"
	     "{\n"
	     "\tlocal cur prev opts= words= values= files= none= stored= args= rest=0\n"
	     "\tlocal command=${COMP_WORDS[1]-}\n"
	     "\tcur=${COMP_WORDS[COMP_CWORD]}\n"
	     "\tprev=${COMP_WORDS[COMP_CWORD-1]}\n"
	     "\t[[ $cur == = ]] && cur=\n"
	     "\t[[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
	     "\tif ((COMP_CWORD == 1)); then");
	printf("\t\tCOMPREPLY=($(compgen -W '");
	print_command_names();
	puts(" --version --help' -- \"$cur\"))\n"
	     "\t\treturn\n"
	     "\tfi");
	print_completion_aliases();
	puts("\tcase $command in");
	for (const struct cmd *const *c = cmd_table; *c; c++)
		print_completion_of(*c);
	puts("\tesac\n"
	     "\tif [[ $none ]]; then\n"
	     "\t\tCOMPREPLY=()\n"
	     "\telif [[ $stored ]]; then\n"
	     "\t\tCOMPREPLY=()\n"
	     "\t\t_cpi_stored $stored \"$cur\"\n"
	     "\telif [[ $values ]]; then\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$values\" -- \"$cur\"))\n"
	     "\telif [[ $files ]]; then\n"
	     "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
	     "\telif [[ $cur == -* ]]; then\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$opts\" -- \"$cur\"))\n"
	     "\t\t[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
	     "\telif ((rest)); then\n"
	     "\t\tCOMPREPLY=($(compgen -c -- \"$cur\"))\n"
	     "\telse\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	     "\t\t[[ -z $args || ( $words && COMP_CWORD -eq 2 ) ]] ||\n"
	     "\t\t\t_cpi_stored $args \"$cur\"\n"
	     "\tfi\n"
	     "}\n"
	     "complete -F _cpi cpi");
}
