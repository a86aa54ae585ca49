/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explain.h - writers of the reports on procedures and instructions (calc, list,
 * sum, hot, stalls, paths, values, records), as text, CSV and JSON
 *
 * Functions that return an int return 0 or -ENOMEM.
 */
#ifndef CPI_TOOLS_WRITE_EXPLAIN_H
#define CPI_TOOLS_WRITE_EXPLAIN_H

#include "report/explain/cyclestack.h"
#include "report/explain/explainer.h"
#include "report/explain/list.h"
#include "report/explain/paths.h"
#include "report/explain/ranking.h"
#include "report/explain/records.h"
#include "report/explain/summary.h"
#include "report/explain/values.h"
#include "tools/ui/cmd.h"
#include "tools/ui/json.h"
#include "tools/ui/table.h"

/*
 * What the numbers are made of, as lines of text or members of JSON. corrected says
 * where samples were moved to the slow instruction, such as "in the column blamed".
 * Without -v the text says only that, and nothing if corrected is NULL.
 */
void explainer_print_unit(const struct explainer *x, const char *corrected);
void explainer_json_unit(const struct explainer *x, struct json *j);

/* The source of frequencies, if it is not samples of time. */
void explained_print_source(const struct explained *e);
void explained_json_source(const struct explained *e, struct json *j);

/* Text; members of an open object; CSV with titles. */
void summary_print_text(const struct summary *s);
void summary_json(struct json *j, const struct summary *s);
int summary_print_csv(const struct summary *s);

/* Text: a table of its own. JSON: a member "cycle_stack". */
int cyclestack_print(const struct cyclestack *s);
void cyclestack_json(struct json *j, const struct cyclestack *s);

/* A procedure that has weights but no code. */
int cyclestack_print_list(const struct explainer *x, const struct explanation *ex,
			  const char *name, const struct cyclestack_list *list,
			  const struct out_options *out);
void cyclestack_json_list(const struct explainer *x, const struct explanation *ex,
			  const struct cyclestack_list *list, bool one_line);

/* Whether source stands between the instructions. */
enum calc_source { CALC_SOURCE_AT_HAND, CALC_SOURCE_ALWAYS, CALC_SOURCE_NEVER };

/*
 * Prints a procedure block by block: as text (of all blocks or only the hot ones) or
 * CSV, or as an object of JSON, on one line if one_line is set.
 */
int calc_print_table(const struct explainer *x, const struct explanation *ex,
		     enum calc_source source, bool all, const struct out_options *out);
void calc_print_json(struct explainer *x, const struct explanation *ex, bool one_line);

/* A listing, by instructions or by lines of source. */
int list_print_assembly(const struct list *l, bool with_source,
			const struct out_options *out);
int list_print_source(const struct list *l, const struct out_options *out);

/* Text: the header. JSON: the members that describe the procedure. */
void list_print_header(const struct list *l, bool assembly);
void list_json_header(struct json *j, const struct list *l);

/* Columns and cells of the events, which both forms begin with. */
size_t list_event_columns(const struct list *l, struct column *out, char **keys);
void list_event_cells(const struct list *l, struct table *t,
		      const struct event_sum *tally, bool text);

/* Appends to nr columns those that both forms end with. Returns how many there are. */
size_t list_last_columns(const struct list *l, struct column *c, size_t nr);

/* A line of source between the rows, when it is another than the one before. */
void list_put_line(struct table *t, struct sources *sources, const struct line *line,
		   const struct line *before);

/* A line that says how many rows are not shown, and how much of the time they have. */
void list_put_left_out(struct table *t, size_t nr, const char *what, double percent);

/* The share of the rows [from, to) of tallies, in percent. */
double list_percent_between(const struct list *l, const struct event_sum *tally,
			    size_t from, size_t to);

/* The instructions that cost the most, and the stalls that did. */
int ranking_print_hot(const struct explainer *x, struct ranking *r,
		      const struct out_options *out);
int ranking_print_stalls(const struct explainer *x, struct ranking *r,
			 const struct out_options *out);

/* Columns of a ranked instruction's place: the last of a table. */
#define RANKED_INSN_COLUMNS                                                \
	{ "address", "address", COLUMN_NUMBER, COLUMN_EVERYWHERE },        \
		{ "", "offset", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },       \
		{ "", "procedure", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },      \
		{ "procedure", "", COLUMN_TEXT, COLUMN_ONLY_IN_TEXT },     \
		{ "instruction", "text", COLUMN_TEXT, COLUMN_EVERYWHERE }, \
		{ "image", "image", COLUMN_TEXT, COLUMN_EVERYWHERE },      \
		{ "", "build_id", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },       \
		{ "source", "source", COLUMN_TEXT, COLUMN_ONLY_IN_TEXT },  \
		{ "", "file", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },           \
	{                                                                  \
		"", "line", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT              \
	}

void ranked_insn_put_place(const struct ranked_insn *ranked,
			   struct table *t); /* fills these */

/* The paths through a procedure. */
int paths_print(const struct paths_report *r, const struct out_options *out);

/* Values of instructions. */
int values_print(const struct values_report *r, const struct out_options *out);

/* The member "operands" of calc's JSON, if windows saw any of the procedure. */
void values_json_operands(struct json *j, struct explainer *x,
			  const struct explanation *ex);

/* What hardware recorded. */
int records_print_text(struct records_report *r, const struct out_options *out);
int records_print_csv(struct records_report *r);
int records_print_json(struct records_report *r);

/*
 * A number with a 90 % interval, as text shows it. If the interval is too wide
 * for a value to be stated (freq_interval_known()), the text has the bound that
 * is known: an upper bound for executions (from the best case), and a lower bound
 * for the cycles of one execution. Every view uses these, so that all say the
 * same.
 */
#define INTERVAL_TEXT_SIZE 48

/* "1.51e+10"; "≤1.5e+10"; "unknown". Returns out. */
char *interval_text_count(const struct freq_interval *i, char out[INTERVAL_TEXT_SIZE]);

/* The same of cycles, to so many decimals: "0.2"; "≥0.2"; "unknown". */
char *interval_text_cycles(const struct freq_interval *i, int decimals,
			   char out[INTERVAL_TEXT_SIZE]);

/* What is said where the actual CPI is below the best-case one. */
#define FASTER_THAN_BEST \
	"faster than the timing model's best case: read it as the best case"

/* The same of cycles of a block that is so: "0.2*". */
char *interval_text_marked(const struct freq_interval *i, int decimals, bool too_fast,
			   char out[INTERVAL_TEXT_SIZE]);

/* Writes an object with low, likely and high, all times by; null: no bound there. */
void json_interval(struct json *j, const char *name, struct freq_interval r, double by,
		   int decimals);

#endif
