/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explanation_print.c - what reports say of explanations
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/select/facts.h"
#include "tools/ui/out.h"
#include "tools/write/explain.h"

static const char *source_of(const struct freq *f)
{
	if (f->counted)
		return "branch_stacks";
	if (f->windows)
		return "windows";
	return f->retired ? "instructions" : NULL;
}

void explained_print_source(const struct explained *e)
{
	if (e->freq->counted)
		out_line("Frequencies were counted, by branch stacks");
	else if (e->freq->windows)
		out_line("Frequencies are estimated from windows and samples");
	else if (e->freq->retired)
		out_line("Frequencies are estimated from samples of instructions");
}

void explained_json_source(const struct explained *e, struct json *j)
{
	if (source_of(e->freq))
		json_string(j, "frequency_source", source_of(e->freq));
}

/* Says on which instruction a sample lands, relative to the one that took the time. */
static void put_landing(enum landing landing, const char *corrected, struct buf *out)
{
	switch (landing) {
	case LANDING_HEAD:
		buf_puts(out, "the slow instruction");
		break;
	case LANDING_AFTER_GROUP:
		buf_printf(out, "the instruction after the slow one (corrected %s)",
			   corrected);
		break;
	case LANDING_PRECISE:
		buf_puts(out, "the instruction that the hardware recorded");
		break;
	}
}

/* All that the numbers are made of. */
static void print_unit(const struct explainer *x, const char *corrected)
{
	const struct scope *s = explainer_scope(x);
	const struct isa *isa = explainer_isa(x);
	const struct stream_desc *first = &scope_stream(s, s->first)->desc;
	char period[REPORT_PERIOD_SIZE];
	struct buf named = { 0 };

	put_landing(first->landing, corrected, &named);
	out_line("Each sample of %s stands for %s (%.0f cycles at %.4g GHz); it names "
		 "%s",
		 first->event, report_period(first, period), scope_period_cycles(s),
		 s->clock_hz / 1e9, buf_str(&named));
	if (s->evidence)
		out_line("Ticks are included, weighted by time, except in procedures "
			 "where they are biased");
	out_line("Best case: %s%s", isa ? "CPU model " : "no model for this CPU",
		 isa ? isa_cpu(isa) : "");
	buf_fini(&named);
}

void explainer_print_unit(const struct explainer *x, const char *corrected)
{
	const struct scope *s = explainer_scope(x);

	if (s->sel.verbose)
		print_unit(x, corrected ? corrected : "below");
	else if (corrected &&
		 scope_stream(s, s->first)->desc.landing == LANDING_AFTER_GROUP)
		out_line("Samples name the instruction after the slow one; it is "
			 "corrected %s",
			 corrected);
	if (explainer_lacks_pairs(x))
		out_line("Pairs of samples are not stored by command, container or "
			 "thread: executions are estimated without them");
}

void explainer_json_unit(const struct explainer *x, struct json *j)
{
	const struct scope *s = explainer_scope(x);
	const struct isa *isa = explainer_isa(x);

	json_string(j, "cpu", isa ? isa_cpu(isa) : NULL);
	json_real(j, "clock_hz", s->clock_hz, 0);
	json_real(j, "period_cycles", scope_period_cycles(s), 1);
	if (explainer_lacks_pairs(x))
		json_bool(j, "pairs_left_out", true);
}

/* A bound above this bounds nothing: a thousand CPUs take a week for so many. */
#define MOST_EXECUTIONS 1e19

char *interval_text_count(const struct freq_interval *i, char out[INTERVAL_TEXT_SIZE])
{
	if (!i->likely || freq_interval_known(i))
		snprintf(out, INTERVAL_TEXT_SIZE, "%.3g", i->likely);
	else if (i->high <= MOST_EXECUTIONS)
		snprintf(out, INTERVAL_TEXT_SIZE, "≤%.2g", i->high);
	else
		snprintf(out, INTERVAL_TEXT_SIZE, "unknown");
	return out;
}

char *interval_text_cycles(const struct freq_interval *i, int decimals,
			   char out[INTERVAL_TEXT_SIZE])
{
	if (!i->likely || freq_interval_known(i))
		snprintf(out, INTERVAL_TEXT_SIZE, "%.*f", decimals, i->likely);
	else if (i->low >= 0.5 * pow(10, -decimals))
		snprintf(out, INTERVAL_TEXT_SIZE, "≥%.*f", decimals, i->low);
	else
		snprintf(out, INTERVAL_TEXT_SIZE, "unknown");
	return out;
}

char *interval_text_marked(const struct freq_interval *i, int decimals, bool too_fast,
			   char out[INTERVAL_TEXT_SIZE])
{
	interval_text_cycles(i, decimals, out);
	if (too_fast && i->likely > 0 && strlen(out) + 1 < INTERVAL_TEXT_SIZE)
		strcat(out, "*");
	return out;
}

void json_interval(struct json *j, const char *name, struct freq_interval r, double by,
		   int decimals)
{
	json_object(j, name);
	json_real(j, "low", r.low * by, decimals);
	json_real(j, "likely", r.likely * by, decimals);
	json_real(j, "high", r.high * by, decimals);
	json_end(j);
}
