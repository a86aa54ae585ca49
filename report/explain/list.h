/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list.h - one procedure, instruction by instruction, with its samples
 *
 * I1  Σ over the lines = the samples of the procedure; a sample inside an instruction
 *     counts for that instruction.
 */
#ifndef CPI_REPORT_LIST_H
#define CPI_REPORT_LIST_H

#include "analysis/explain/explain.h"
#include "report/calls/inlined.h"
#include "report/explain/hotspots.h"
#include "report/explain/place.h"
#include "report/select/source.h"

/* An instruction, or an offset with samples where there is no code. */
struct list_insn {
	uint64_t offset, size, address;
	char *text; /* NULL without code */
	struct line line;
	struct inlined_chain inlined; /* set if inlines are wanted */
	uint64_t taken, not_taken;
};

/* The caller sets the members up to by_stream; the others start as 0. */
struct list {
	struct scope *scope;
	const struct found_place *place;
	bool has_weights;                  /* some time comes from weights (TIP) */
	const struct explained *explained; /* NULL if there is no explanation */
	const char *not_analysed; /* why it cannot be explained; NULL: it was, or no
				     event measures time */
	bool inlines;             /* say what was inlined */
	bool all;                 /* text shows all rows, not only hot spots */
	bool by_stream;           /* text shows ticks in a column of their own */
	struct image *image;      /* NULL when it cannot be opened */
	struct sources *sources;
	struct list_insn *insn;
	size_t nr_insns;
	struct event_sum *tally; /* nr_insns rows of ev.nr */
	struct event_sum total[EVENTS_MAX];
	const char *no_code;     /* why the code is missing; NULL if it is not */
	bool has_outcomes;       /* a conditional jump's outcome is known */
	bool has_ticks;          /* ticks and random samples both measure time */
	struct evidence_use use; /* how samples count here */
};

/*
 * Decodes the place, and adds its samples to the instructions. 0 or -ENOMEM; l must be
 * freed in any case.
 */
int list_decode(struct list *l);
void list_fini(struct list *l);

/* Whether the text of any source line can be read. */
bool list_has_source(const struct list *l);

/* The share of the procedure's samples, in percent of the event's. */
double list_percent(const struct list *l, const struct event_sum *tally, size_t event);

/*
 * The time of a tally, by random samples and ticks together (procedure_evidence.h), in
 * samples of the first stream; and its share of the procedure's time, in percent.
 */
double list_time(const struct list *l, const struct event_sum *tally);
double list_time_percent(const struct list *l, const struct event_sum *tally);

/*
 * Chooses which of the nr rows of tally to show; all of them if l->all. 0 or
 * -ENOMEM; out is to be freed after 0.
 */
int list_find_hotspots(const struct list *l, const struct event_sum *tally, size_t nr,
		       struct hotspots *out);

/* A line with code. */
struct list_line {
	const char *file; /* NULL for code without a line */
	int line;
	struct inlined_chain inlined; /* set if inlines are wanted */
	size_t first; /* the first instruction of its file, for the order of files */
	size_t index; /* of its tallies */
};

/*
 * The procedure's lines by file, its own file first, code without a line last.
 */
struct list_lines {
	struct list_line *line;
	size_t nr;
	struct event_sum *tally; /* nr rows of ev.nr */
};

int list_find_lines(const struct list *l, struct list_lines *out); /* or -ENOMEM */
void list_lines_fini(struct list_lines *lines);

/* Whether two lines are of one file. */
bool list_same_file(const struct list_line *a, const struct list_line *b);

/*
 * Appends " <name+0x12>" for the target of a jump, if a symbol of the image covers it;
 * bias is address - offset.
 */
void list_put_target(struct image *im, uint64_t bias, const struct insn *insn,
		     struct buf *out);

#endif
