/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_tip.c - how wrong each kind of profiler is about a pipeline trace (MICRO'21)
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/trace/tip.h"
#include "base/err.h"
#include "base/log.h"
#include "tools/commands.h"
#include "tools/input/tip_records.h"
#include "tools/input/tracefile.h"
#include "tools/ui/json.h"
#include "tools/ui/out.h"
#include "tools/ui/table.h"
#include "tools/write/tip_svg.h"

#define DEFAULT_ROWS 20
#define FORMAT_SVG   (OUT_CSV + 1)

struct options {
	struct out_options out;
	uint64_t interval, seed; /* in cycles */
	bool random;
	const char *records;
};

/* Whether the trace has what the policy needs. */
static bool knows(const struct tip_result *r, int policy)
{
	return r->has_entries ||
	       (policy != TIP_BY_DISPATCH && policy != TIP_BY_SOFTWARE);
}

static double share(const struct tip_result *r, const struct tip_row *row, int policy)
{
	const double all = policy == TIP_BY_ORACLE ? r->cycles : r->samples;

	return all > 0 ? row->weight[policy] / all : 0;
}

static void json_share(struct json *j, const char *key, double v)
{
	if (isnan(v))
		json_null(j, key);
	else
		json_real(j, key, v, 12);
}

static const char *row_key(int policy)
{
	static const char *const keys[] = { "oracle",   "tip",      "tip_ilp",
					    "nci",      "nci_ilp",  "lci",
					    "lci_last", "dispatch", "software" };

	return keys[policy];
}

static void print_json(const char *trace, const struct tip_result *r,
		       const struct tip_sampling *sampling)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "trace", trace);
	json_number(&j, "cycles", r->cycles);
	json_number(&j, "commits", r->commits);
	json_object(&j, "states");
	for (int i = 0; i < TIP_NR_STATES; i++)
		json_share(&j, tip_state_str(i), r->state[i] / r->cycles);
	json_end(&j);
	json_number(&j, "interval", sampling->interval);
	json_bool(&j, "random", sampling->random);
	json_number(&j, "samples", r->samples);
	json_object(&j, "errors");
	for (int level = 0; level < TIP_NR_LEVELS; level++) {
		json_object(&j, tip_level_str(level));
		for (int i = TIP_BY_TIP; i < TIP_NR_POLICIES; i++)
			json_share(&j, tip_policy_str(i), r->error[level][i]);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "profile");
	for (size_t i = 0; i < r->nr_rows; i++) {
		json_object(&j, NULL);
		json_hex(&j, "pc", r->row[i].pc);
		for (int k = 0; k < TIP_NR_POLICIES; k++)
			json_share(&j, row_key(k),
				   knows(r, k) ? share(r, &r->row[i], k) : NAN);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

/* Prints the rows: all in CSV, the hottest in text. */
static int print_rows(int format, const struct tip_result *r,
		      const struct tip_row *const *row, size_t nr)
{
	struct column columns[1 + TIP_NR_POLICIES] = { { "pc", "pc", COLUMN_NUMBER,
							 COLUMN_EVERYWHERE } };
	const bool text = format == OUT_TEXT;
	struct table *t;
	int err;

	for (int i = 0; i < TIP_NR_POLICIES; i++)
		columns[1 + i] = (struct column){ tip_policy_str(i), row_key(i),
						  COLUMN_NUMBER, COLUMN_EVERYWHERE };
	t = table_new(columns, 1 + TIP_NR_POLICIES);
	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		table_hex(t, row[i]->pc);
		for (int k = 0; k < TIP_NR_POLICIES; k++) {
			if (!knows(r, k))
				table_empty(t);
			else if (text)
				table_percent(t, 100 * share(r, row[i], k));
			else
				table_real(t, share(r, row[i], k), 12);
		}
	}
	err = table_print(t, format, "profile", false);
	table_free(t);
	return err;
}

static int print_errors(const struct tip_result *r)
{
	struct column columns[1 + TIP_NR_POLICIES] = {
		{ "error of", "level", COLUMN_TEXT, COLUMN_EVERYWHERE }
	};
	struct table *t;
	int err;

	for (int i = TIP_BY_TIP; i < TIP_NR_POLICIES; i++)
		columns[i] = (struct column){ tip_policy_str(i), tip_policy_str(i),
					      COLUMN_NUMBER, COLUMN_EVERYWHERE };
	t = table_new(columns, TIP_NR_POLICIES);
	if (!t)
		return -ENOMEM;
	for (int level = 0; level < TIP_NR_LEVELS; level++) {
		table_text(t, tip_level_str(level));
		for (int i = TIP_BY_TIP; i < TIP_NR_POLICIES; i++) {
			if (isnan(r->error[level][i]))
				table_empty(t);
			else
				table_percent(t, 100 * r->error[level][i]);
		}
	}
	err = table_print_text(t, false, true);
	table_free(t);
	return err;
}

static int by_oracle(const void *va, const void *vb)
{
	const struct tip_row *a = *(const struct tip_row *const *)va;
	const struct tip_row *b = *(const struct tip_row *const *)vb;
	const double wa = a->weight[TIP_BY_ORACLE], wb = b->weight[TIP_BY_ORACLE];

	return wa != wb ? (wa < wb) - (wa > wb) : (a->pc > b->pc) - (a->pc < b->pc);
}

static int print_summary(const char *trace, const struct tip_result *r)
{
	int err;

	out_line("%s: %" PRIu64 " cycles, %" PRIu64
		 " instructions committed (%.3f each "
		 "cycle), %" PRIu64 " samples",
		 trace, r->cycles, r->commits, (double)r->commits / r->cycles,
		 r->samples);
	for (int i = 0; i < TIP_NR_STATES; i++)
		out_line("%7.2f%%  %s", 100 * r->state[i] / r->cycles,
			 tip_state_str(i));
	out_line("%s", "");
	err = print_errors(r);
	if (!err && !r->has_blocks)
		out_line("(this trace does not tell where blocks and functions begin)");
	out_line("%s", "");
	return err;
}

static int print_tables(const char *trace, const struct out_options *out,
			const struct tip_result *r)
{
	const bool all = out->format == OUT_CSV;
	const size_t limit = out->limit ? out->limit : DEFAULT_ROWS;
	const size_t nr = all || r->nr_rows < limit ? r->nr_rows : limit;
	const struct tip_row **row = calloc(r->nr_rows + 1, sizeof(*row));
	int err = row ? 0 : -ENOMEM;

	for (size_t i = 0; i < r->nr_rows && !err; i++)
		row[i] = &r->row[i];
	if (!err && !all)
		qsort(row, r->nr_rows, sizeof(*row), by_oracle);
	if (!err && out->format == OUT_TEXT)
		err = print_summary(trace, r);
	if (!err)
		err = out->format == FORMAT_SVG ? tip_print_svg(trace, r, row, nr)
						: print_rows(out->format, r, row, nr);
	free(row);
	return err;
}

static int run_tip(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const char *trace = ctx->args[0];
	const struct tip_sampling sampling = {
		.interval = o->interval ? o->interval : 1,
		.random = o->random,
		.seed = o->seed,
	};
	struct tip_records *records = NULL;
	struct tip_result result;
	struct tip *t = tip_new(&sampling);
	int err = t ? 0 : -ENOMEM;

	if (!err && o->records)
		err = tip_records_begin(o->records, trace, t, &sampling, &records);
	if (!err)
		err = trace_file_read(trace, t, NULL);
	if (!err) {
		err = tip_end(t, &result);
		if (err)
			log_err("%s: %s", trace,
				err == -CPI_EEMPTY ? "no instruction commits in it"
						   : err_str(err));
	}
	if (err)
		tip_records_abandon(records);
	else if (records)
		err = tip_records_end(records, &result);
	if (!err && o->out.format == OUT_JSON)
		print_json(trace, &result, &sampling);
	else if (!err)
		err = print_tables(trace, &o->out, &result);
	tip_free(t);
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPT("interval", 'i', "CYCLES", "cycles between two samples (default: 1)",
	    OPT_COUNT, interval),
	OPT("random", 0, NULL, "sample at a random cycle of each interval", OPT_FLAG,
	    random),
	OPT("seed", 0, "N", "seed of --random", OPT_COUNT, seed),
	OPT("records", 0, "FILE",
	    "write the samples to this file, for cpi record --replay", OPT_STRING,
	    records),
	OPT_LIMIT,
	OPT_FORMAT_OF("text|json|csv|svg"),
	OPT_END,
};

const struct cmd cmd_tip = {
	.name = "tip",
	.args = "TRACE",
	.summary = "The error of each kind of profiler on a pipeline trace",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_tip,
};
