/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_text.c - level, pattern and size of data that misses
 */
#include "config.h"

#include "report/explain/data_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define DEEPER 0.5  /* share of the first level's misses that miss a deeper one, too */
#define SOME   0.05 /* a smaller share of lines or accesses is not mentioned */

const char *data_level_name(enum data_level level)
{
	static const char *const name[] = { "l1", "l2", "l3", "tlb1", "tlb2" };

	return name[level];
}

/* The farthest level that more than half of the first level's misses miss, too. */
static enum data_level deepest(const struct data_insn *d, enum data_level first,
			       enum data_level last)
{
	enum data_level l = first;

	while (l < last && d->miss[l + 1].value > DEEPER * d->miss[first].value)
		l++;
	return l;
}

static void put_size(double bytes, struct buf *out)
{
	static const char *const unit[] = { "bytes", "KB", "MB", "GB" };
	int i = 0;

	for (; bytes >= 1000 && i < 3; i++)
		bytes /= 1024;
	buf_printf(out, bytes < 10 && i ? "%.1f %s" : "%.0f %s", bytes, unit[i]);
}

static void put_count(double n, const char *what, struct buf *out)
{
	if (n >= 1e6)
		buf_printf(out, "%.1f million %s", n / 1e6, what);
	else
		buf_printf(out, "%.0f %s", n, what);
}

/* If no line was touched again, only the low end of their number is known. */
static void put_distinct(const struct data_insn *d, enum accesses_granule g,
			 const char *what, struct buf *out)
{
	const struct data_estimate *n = &d->distinct[g];

	if (!isfinite(n->high))
		buf_puts(out, "at least ");
	if (what)
		put_count(isfinite(n->high) ? n->value : n->low, what, out);
	else
		put_size((isfinite(n->high) ? n->value : n->low) *
				 (g == ACCESSES_LINES ? 1 << ACCESSES_LINE_BITS
						      : 1 << ACCESSES_PAGE_BITS),
			 out);
}

static bool is_some(uint64_t n, const struct data_insn *d)
{
	return (double)n > SOME * (double)d->from->known;
}

/* Of caches; what is the surest first. */
static const char *cache_help(const struct data_insn *d, bool chases)
{
	const int line = 1 << ACCESSES_LINE_BITS;

	if (is_some(d->from->partial, d))
		return "store and load the same bytes";
	if (d->shared > SOME)
		return "lines of its own for each thread";
	if (chases)
		return "a denser layout of nodes, or several chains at a time";
	if (!data_has_stride(d))
		return "smaller data, sorted accesses, or a prefetch";
	return abs(d->from->stride[0].bytes) < line
		       ? "work in blocks that fit into a cache"
		       : "another order of loops or members";
}

const char *data_usual_help(const struct data_insn *d, bool tlb, bool chases)
{
	if (d->miss[tlb ? DATA_TLB1 : DATA_L1].value < SOME &&
	    (tlb || !is_some(d->from->partial, d)))
		return NULL;
	return tlb ? "huge pages, or fewer pages at a time" : cache_help(d, chases);
}

void data_put_text(const struct data_insn *d, bool tlb, bool chases, struct buf *out)
{
	static const char *const beyond[] = { "L1", "L2", "L3", "the first TLB",
					      "both TLBs" };
	const enum data_level first = tlb ? DATA_TLB1 : DATA_L1;
	const enum accesses_granule g = tlb ? ACCESSES_PAGES : ACCESSES_LINES;

	buf_printf(out, ", misses %.0f to %.0f %%, beyond %s, ",
		   100 * d->miss[first].low, 100 * d->miss[first].high,
		   beyond[deepest(d, first, tlb ? DATA_TLB2 : DATA_L3)]);
	if (chases) {
		buf_puts(out, "chases pointers over ");
		put_distinct(d, g, tlb ? "pages" : "lines", out);
	} else if (data_has_stride(d)) {
		buf_printf(out, "stride %" PRId32 " over ", d->from->stride[0].bytes);
		put_distinct(d, g, NULL, out);
	} else {
		buf_puts(out, "no stride, over ");
		put_distinct(d, g, NULL, out);
	}
	if (!tlb && d->shared > SOME)
		buf_puts(out, ", shared by threads");
	if (!tlb && is_some(d->from->splits, d))
		buf_puts(out, ", across two lines");
	if (!tlb && is_some(d->from->partial, d))
		buf_printf(out, ", waits in %.0f %% for a store of a part of its bytes",
			   100 * (double)d->from->partial / (double)d->from->known);
}
