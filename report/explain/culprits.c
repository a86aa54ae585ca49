/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * culprits.c - the suspects of a stall as letters, words or addresses
 *
 * A stall may have several suspects of one reason, or of one instruction. Each form
 * names a reason or an instruction once.
 */
#include "config.h"

#include "report/explain/culprits.h"

#include <inttypes.h>

#include "report/explain/data_text.h"

#define MAX_ADDRESSES 3 /* of one reason, in a legend */

/*
 * History predicts a jump in part if there are less than MOSTLY times as many
 * mispredicts as rarer outcomes. Else the outcome is random if at least BOTH_WAYS of
 * the executions have the rarer one, and the low end of the mispredicts is at least
 * SURELY times as many.
 */
#define BOTH_WAYS 0.2
#define SURELY    0.25
#define MOSTLY    0.6

static char letter_of(enum blame_reason reason)
{
	static const char letters[BLAME_NR_REASONS] = {
		[BLAME_ICACHE] = 'i',        [BLAME_ITLB] = 'I',
		[BLAME_DCACHE] = 'd',        [BLAME_DTLB] = 'D',
		[BLAME_STORE] = 'w',         [BLAME_ATOMIC] = 'a',
		[BLAME_MISPREDICT] = 'p',    [BLAME_DIVIDE] = 'v',
		[BLAME_UNIT] = 'u',          [BLAME_CHAIN] = 'c',
		[BLAME_FREQUENCY] = 'n',     [BLAME_UNEXPLAINED] = '?',
		[BLAME_FRONT_END] = 'f',     [BLAME_DEPENDENCY] = 'r',
		[BLAME_FUNCTION_UNIT] = 's',
	};

	return letters[reason];
}

/*
 * Whether an earlier culprit has the same reason as the i-th culprit of the k-th stall.
 */
static bool is_old_reason(const struct stall *s, int k, int i)
{
	const enum blame_reason reason = s[k].culprit[i].reason;

	for (int m = 0; m <= k; m++) {
		for (int n = 0; n < (m < k ? s[m].nr : i); n++) {
			if (s[m].culprit[n].reason == reason)
				return true;
		}
	}
	return false;
}

static bool is_old_insn(const struct stall *s, int k, int i)
{
	const int insn = s[k].culprit[i].insn;

	for (int m = 0; m <= k; m++) {
		for (int n = 0; n < (m < k ? s[m].nr : i); n++) {
			if (s[m].culprit[n].insn == insn)
				return true;
		}
	}
	return false;
}

void culprits_put_letters(const struct stall *s, struct buf *out)
{
	for (int i = 0; i < s->nr; i++) {
		if (!is_old_reason(s, 0, i))
			buf_putc(out, letter_of(s->culprit[i].reason));
	}
}

/* What windows show of its outcomes. */
static const char *pattern_of(const struct mispredicts *m)
{
	if (m->likely < MOSTLY * m->rarer)
		return " (history predicts it in part)";
	if (m->rarer >= BOTH_WAYS && m->low >= SURELY * m->rarer)
		return " (random outcome)";
	return "";
}

/* The likeliest instruction with a reason; NULL if none is known. */
static const struct culprit *likeliest(const struct stall *s, enum blame_reason reason)
{
	for (int i = 0; i < s->nr; i++) {
		if (s->culprit[i].reason == reason && s->culprit[i].insn >= 0)
			return &s->culprit[i];
	}
	return NULL;
}

/* What windows say of the likeliest jump. */
static void put_mispredicts(const struct explained *e, const struct stall *s,
			    struct buf *out)
{
	const struct culprit *c = likeliest(s, BLAME_MISPREDICT);
	const struct mispredicts *m =
		c && e->mispredicts ? &e->mispredicts[c->insn] : NULL;

	if (m && m->executions)
		buf_printf(out, ", mispredicts %.0f to %.0f %%%s", 100 * m->low,
			   100 * m->high, pattern_of(m));
}

const char *culprits_usual_help(const struct explained *e, const struct culprit *c)
{
	const bool tlb = c->reason == BLAME_DTLB;

	if ((!tlb && c->reason != BLAME_DCACHE) || c->insn < 0 || !e->data ||
	    !e->data[c->insn])
		return NULL;
	return data_usual_help(e->data[c->insn], tlb, c->chases);
}

/* What windows say of the likeliest load or store. */
static void put_data(const struct explained *e, const struct stall *s,
		     enum blame_reason reason, struct buf *out)
{
	const struct culprit *c = likeliest(s, reason);
	const char *help = c ? culprits_usual_help(e, c) : NULL;

	if (c && e->data && e->data[c->insn])
		data_put_text(e->data[c->insn], reason == BLAME_DTLB, c->chases, out);
	if (help)
		buf_printf(out, " (usually helps: %s)", help);
}

static void put_reason(const struct cfg *cfg, const struct stall *s,
		       enum blame_reason reason, struct buf *out)
{
	int nr = 0;

	buf_printf(out, "%c = %s", letter_of(reason), blame_text(reason));
	for (int i = 0; i < s->nr; i++) {
		if (s->culprit[i].reason != reason || s->culprit[i].insn < 0)
			continue;
		if (nr++ == MAX_ADDRESSES) {
			buf_puts(out, " ...");
			break;
		}
		buf_printf(out, " 0x%" PRIx64, cfg->insn[s->culprit[i].insn].address);
	}
}

void culprits_put_legend(const struct explained *e, const struct stall *s,
			 const char *between, struct buf *out)
{
	for (int i = 0; i < s->nr; i++) {
		if (is_old_reason(s, 0, i))
			continue;
		if (i)
			buf_puts(out, between);
		put_reason(e->cfg, s, s->culprit[i].reason, out);
		if (s->culprit[i].reason == BLAME_MISPREDICT)
			put_mispredicts(e, s, out);
		if (s->culprit[i].reason == BLAME_DCACHE ||
		    s->culprit[i].reason == BLAME_DTLB)
			put_data(e, s, s->culprit[i].reason, out);
	}
}

void culprits_put_reasons(const struct stall *s, int nr, bool text, struct buf *out)
{
	const size_t start = out->len;

	for (int k = 0; k < nr; k++) {
		for (int i = 0; i < s[k].nr; i++) {
			const enum blame_reason r = s[k].culprit[i].reason;

			if (is_old_reason(s, k, i))
				continue;
			if (out->len > start)
				buf_puts(out, text ? ", " : " ");
			buf_puts(out, text ? blame_text(r) : blame_name(r));
		}
	}
}

void culprits_put_addresses(const struct cfg *cfg, const struct stall *s, int nr,
			    struct buf *out)
{
	const size_t start = out->len;

	for (int k = 0; k < nr; k++) {
		for (int i = 0; i < s[k].nr; i++) {
			const int insn = s[k].culprit[i].insn;

			if (insn >= 0 && !is_old_insn(s, k, i))
				buf_printf(out, "%s0x%" PRIx64,
					   out->len > start ? " " : "",
					   cfg->insn[insn].address);
		}
	}
}
