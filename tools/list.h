/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list.h - one procedure, instruction by instruction, with its samples
 *
 * I1  Σ over the lines = the samples of the procedure: one inside an
 *     instruction counts for it.
 */
#ifndef CPI_TOOLS_LIST_H
#define CPI_TOOLS_LIST_H

#include "analysis/explain.h"
#include "base/buf.h"
#include "tools/events.h"
#include "tools/imagecache.h"
#include "tools/inlined.h"
#include "tools/prof.h"
#include "tools/select.h"
#include "tools/source.h"
#include "tools/table.h"
#include "tools/timesource.h"

/* A count of one stream at one offset. */
struct list_sample {
	uint64_t offset;
	size_t event;
	double weight;                /* of all n together */
	uint64_t n, taken, not_taken; /* 0 where weights are that time */
};

/* What a place's offsets have in common, beside its range. */
enum place_kind {
	PLACE_PROCEDURE, /* the symbol that begins at start (others may nest in it) */
	PLACE_RANGE,     /* nothing */
	PLACE_UNNAMED,   /* no symbol */
};

/* A procedure that has the wanted name, or what was wanted instead of one. */
struct list_place {
	struct query_image image; /* name owned by the place */
	uint64_t start, end;      /* image offsets */
	char *name;
	enum place_kind kind;
	struct buf samples; /* struct list_sample, ascending once it is chosen */
	double weight;      /* of the event that orders, to choose by */
	struct list_place *next;
};

/* An instruction, or an offset with samples where there is no code. */
struct list_insn {
	uint64_t offset, size, address;
	char *text; /* NULL without code */
	struct line line;
	struct inlined_chain inlined; /* with --inlines */
	uint64_t taken, not_taken;
};

struct listing {
	const struct cmd_context *ctx;
	struct selection sel;
	struct events ev;
	struct time_source source;
	struct image_cache *images;
	struct list_place *places; /* all that were found */
	struct list_place *place;  /* the chosen one */
	struct image *image;       /* NULL when it cannot be opened */
	bool weighed;              /* some time is that of weights */
	struct sources *sources;
	struct list_insn *insn;
	size_t nr_insns;
	struct tally *tally; /* nr_insns rows of ev.nr */
	struct tally total[EVENTS_MAX];
	const char *no_code; /* why the code is missing; NULL when it is there */
	const struct explained *explained; /* NULL when it cannot be, or was not */
	bool has_outcomes;                 /* a conditional jump's outcome is known */
};

/* Makes an opened selection's listing ready for what follows. Errors as below. */
int list_prepare(struct listing *l);

/* Finds the procedure and its samples. Errors are logged. 0 or negative. */
int list_find(struct listing *l, const char *proc);

/* Decodes it, and puts its samples where they belong. 0 or -ENOMEM. */
int list_decode(struct listing *l);

/* Print what the options ask for. 0 or -ENOMEM. */
int list_print_assembly(struct listing *l, bool with_source);
int list_print_source(struct listing *l);

/*
 * Appends " <name+0x12>" for the code that an instruction jumps to, when its image
 * knows it; bias is address - offset.
 */
void list_put_target(struct image *im, uint64_t bias, const struct insn *insn,
		     struct buf *out);

/* A line of source between the rows, when it is another than the one before. */
void list_put_line(struct table *t, struct sources *sources, const struct line *line,
		   const struct line *before);

/* Columns and cells of the events, which both forms begin with. */
size_t list_event_columns(const struct listing *l, struct column *out, char **keys);
void list_event_cells(const struct listing *l, struct table *t,
		      const struct tally *tally);

/* The share of the procedure's samples, in percent of the first event. */
double list_percent(const struct listing *l, const struct tally *tally, size_t event);

/* Text: the header. JSON: the members that describe the procedure. */
void list_print_header(const struct listing *l);
void list_json_header(struct json *j, const struct listing *l);

void list_fini(struct listing *l);

#endif
