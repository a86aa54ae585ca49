/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowsampler.c - attributes window records, and adds to the tables the processes and
 * code that windows needed
 *
 * I1  Records are attributed with the tables as they were when the records were made.
 *     So tables change, and memory is freed, only after all records of a round have
 *     been attributed.
 * I2  A window is attributed to an image only if the process map shows, at the time of
 *     the record, that image at that address. Code of pages was then the image's; code
 *     that forms interpreted may have been changed in place.
 * I3  Every sample of the windows' clock in user mode is counted: received = attributed
 *     windows + Σ losses. A sample that made no record is a loss.
 */
#include "config.h"

#include "daemon/windows/windowsampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/windows/walk.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/attribute/attribute_private.h"
#include "daemon/windows/startweights.h"
#include "daemon/windows/translate_child.h"
#include "daemon/windows/windowforms.h"
#include "daemon/windows/windowlate.h"
#include "daemon/windows/windowpages.h"
#include "daemon/windows/windowpairs.h"
#include "daemon/windows/windowprocs.h"
#include "daemon/windows/windowreplay.h"
#include "daemon/windows/windowsource.h"

#define NR_ENTRIES     (1u << 18) /* pages of all code that may be followed: 1 GiB */
#define LOOK_NS        (10 * NSEC_PER_SEC)
#define LEARN_NS       (250 * NSEC_PER_MSEC)
#define LEARN_SHARE    8    /* much is learnt: 1 in 8 windows lacked something */
#define LEARN_ROUNDS   64   /* rounds of LEARN_NS; then as many of twice that, ... */
#define LEARN_MOST     2    /* ... doubled at most twice while there is room */
#define LOOK_SLACK     4    /* a look is 1/4 sooner if the daemon is awake anyway */
#define ANSWER_MS      50   /* between two looks for translated pages */
#define FULL_ANSWER_MS 20   /* likewise, while no more pages can be asked for */
#define LATE_ANSWER_MS 1000 /* likewise, once rounds are longer than LEARN_NS */
#define ENTER_NS       (20 * NSEC_PER_MSEC) /* a record's process is not entered yet */

struct collector {
	struct windowsampler_config cfg;
	struct windowsource *source;
	struct translate_child *translator;
	struct windowforms *forms; /* NULL: the source has none */
	struct windowpages *pages;
	struct windowprocs *procs;
	struct windowpairs *pairs;
	int nr_cpus;                       /* online */
	struct windowreplay *replay;       /* NULL: no values of operands are noted */
	struct startweights *weights;      /* of them */
	struct cpi_window_record *record;  /* of a round */
	uint64_t **code;                   /* of each record, that forms interpreted */
	struct cpi_window_origin **origin; /* of each record; NULL: it has none */
	size_t nr_records, cap_records, cap_codes, cap_origins;
	bool has_unknown; /* a record is of a process that is not in the tables */
	uint64_t drained; /* records, ever */
	uint64_t unkept;  /* records for which there was no memory */
	uint64_t told[CPI_WINDOW_NR_DROPS];
	uint64_t nr_by_end[CPI_NR_WINDOW_ENDS], nr_instructions, nr_walked;
	uint64_t nr_accesses, nr_accesses_left_out; /* of windows that were walked */
	uint64_t nr_replayed, nr_differing, nr_operands, nr_operands_left_out;
	uint64_t cpu_ns;      /* of this thread and of the reader, for windows */
	uint64_t looked_ns;   /* when records were read last */
	uint64_t learnt_ns;   /* when much was learnt last */
	uint32_t nr_learning; /* rounds with only short breaks between them */
	bool stopped;
};

/* ---- opening ---- */

static struct windowsource_config source_config(const struct windowsampler_config *cfg)
{
	return (struct windowsource_config){
		.event = cfg->event,
		.period = cfg->period,
		.target = cfg->target,
		.device = cfg->device,
		.pairs_fd = cfg->pairs_fd,
		.epoll_fd = cfg->epoll_fd,
		.nr_entries = NR_ENTRIES,
		.max_bytes = cfg->max_bytes,
		.exclude = cfg->exclude,
		.nr_excluded = cfg->nr_excluded,
		.late = cfg->late,
		.is_patient = cfg->is_patient,
		.with_origins = cfg->with_values,
	};
}

/* The module's windows if samples come from the module and it has some; else BPF's. */
static int open_source(struct collector *ws, const struct cpus *cpus)
{
	static const struct windowsource_ops *const sources[] = { &windowsource_kmod,
								  &windowsource_bpf };
	const struct windowsource_config cfg = source_config(&ws->cfg);
	int err = -EOPNOTSUPP;

	if (cfg.late) {
		ws->source = windowlate_take(cfg.late);
		ws->source->cfg = cfg;
		return 0;
	}
	for (int i = 0; i < 2 && err == -EOPNOTSUPP; i++)
		err = sources[i]->open(&cfg, cpus, &ws->source);
	return err;
}

static int open_translation(struct collector *ws)
{
	int err;

	if (ws->cfg.late)
		ws->translator = windowlate_take_translator(ws->cfg.late);
	if (ws->translator)
		return 0;
	err = translate_child_open(-1, &ws->translator);
	if (err)
		log_warn("windows: not available: cpi-translate cannot be started: %s",
			 err_str(err));
	return err;
}

static int make_tables(struct collector *ws)
{
	const struct windowpages_config pages = {
		.source = ws->source,
		.codecache = ws->cfg.attribution->codecache,
		.jit = ws->cfg.attribution->jit,
		.translator = ws->translator,
		.forms = ws->forms,
	};
	struct windowprocs_config procs = {
		.process = ws->source->process,
		.attribution = ws->cfg.attribution,
		.exclude = ws->cfg.exclude,
		.nr_excluded = ws->cfg.nr_excluded,
	};
	int err = windowpages_new(&pages, &ws->pages);

	if (err)
		return err;
	procs.pages = ws->pages;
	ws->procs = windowprocs_new(&procs);
	ws->pairs = windowpairs_new();
	if (ws->cfg.with_values)
		ws->replay = windowreplay_new();
	ws->weights = startweights_new();
	return ws->procs && ws->pairs && ws->weights &&
			       (ws->replay || !ws->cfg.with_values)
		       ? 0
		       : -ENOMEM;
}

static int start_source(struct collector *ws, const struct cpus *cpus)
{
	const int err = ws->source->ops->start(ws->source, cpus);

	if (err)
		log_warn("windows: not available: %s: %s", ws->cfg.event->name,
			 err_str(err));
	return err;
}

static void see_sample(void *ctx, const struct known_image *image, uint64_t offset)
{
	const struct collector *ws = ctx;

	windowpages_sampled(ws->pages, image, offset);
}

/* Erases what windows loaded, and what was computed from it. */
static void forget_origins(struct collector *ws)
{
	if (ws->replay)
		windowreplay_forget(ws->replay);
	for (size_t i = 0; ws->origin && i < ws->nr_records; i++) {
		if (ws->origin[i])
			explicit_bzero(ws->origin[i],
				       cpi_window_origin_bytes(ws->origin[i]));
		free(ws->origin[i]);
		ws->origin[i] = NULL;
	}
}

static void forget_code(struct collector *ws)
{
	for (size_t i = 0; ws->code && i < ws->nr_records; i++)
		free(ws->code[i]);
}

static void close_all(struct collector *ws)
{
	if (!ws)
		return;
	ws->cfg.attribution->sampled = NULL;
	forget_origins(ws);
	free(ws->origin);
	forget_code(ws);
	free(ws->code);
	windowforms_free(ws->forms);
	windowreplay_free(ws->replay);
	startweights_free(ws->weights);
	windowpairs_free(ws->pairs);
	windowprocs_free(ws->procs);
	windowpages_free(ws->pages);
	translate_child_close(ws->translator);
	if (ws->source)
		ws->source->ops->close(ws->source);
	free(ws->record);
	free(ws);
}

int windowsampler_hold(const struct windowsampler_config *cfg, const struct cpus *cpus,
		       struct windowlate **out)
{
	const struct windowsource_config source = source_config(cfg);

	if (cfg->device >= 0 || cfg->nr_excluded)
		return -EOPNOTSUPP;
	return windowlate_new(&source, cpus, out);
}

int windowsampler_open(const struct windowsampler_config *cfg, const struct cpus *cpus,
		       struct collector **out)
{
	struct collector *ws = calloc(1, sizeof(*ws));
	int err;

	if (!ws)
		return -ENOMEM;
	ws->cfg = *cfg;
	ws->nr_cpus = cpus->nr;
	ws->looked_ns = time_mono_ns();
	ws->learnt_ns = ws->looked_ns;
	err = open_source(ws, cpus);
	if (!err)
		err = open_translation(ws);
	if (!err && ws->source->nr_forms) {
		ws->forms = windowforms_new(ws->source, ws->translator);
		err = ws->forms ? 0 : -ENOMEM;
	}
	if (!err)
		err = make_tables(ws);
	if (!err)
		err = start_source(ws, cpus);
	if (err) {
		close_all(ws);
		return err;
	}
	ws->cfg.attribution->sampled = see_sample;
	ws->cfg.attribution->sampled_ctx = ws;
	*out = ws;
	return 0;
}

/* ---- attribution ---- */

struct attributing {
	struct collector *ws;
	const struct cpi_window_record *record;
	const struct cpi_window_origin *origin; /* or NULL */
	const uint8_t *code;                    /* that forms interpreted, or NULL */
	uint32_t at;                            /* the next instruction of it */
	struct cpi_uop filled[CPI_FORM_UOPS];
	const struct cpi_window_process *process;
	struct place place; /* the last one */
	enum loss loss;
};

static int code_at(void *ctx, uint64_t address, struct walk_code *out)
{
	const struct attributing *a = ctx;
	uint32_t entry, offset;

	if (windowprocs_entry(a->process, address, &entry, &offset))
		return -ENOENT;
	return walk_find_in_packed(windowpages_code(a->ws->pages, entry), offset, out);
}

/* A walk_form_fn: the micro-ops are made of the code that the window itself has read.
 */
static int next_form(void *ctx, struct walk_code *out)
{
	struct attributing *a = ctx;
	uint8_t code[CPI_FORM_BYTES] = { 0 };
	const uint32_t left = a->record->window.nr_code - a->at;
	uint32_t nr;

	if (!a->code || a->at >= a->record->window.nr_code)
		return -ENOENT;
	memcpy(code, a->code + a->at, left < sizeof(code) ? left : sizeof(code));
	nr = windowforms_fill(a->ws->forms, code, a->filled);
	if (!nr)
		return -ENOENT;
	a->at += cpi_uop_length(&a->filled[0]);
	*out = (struct walk_code){ a->filled, nr, 0 };
	return 0;
}

static int walk_record(struct attributing *a, struct walk *out)
{
	a->at = 0;
	return walk_window(&a->record->window, code_at, a->ws->forms ? next_form : NULL,
			   a, out);
}

static void look_up(struct attributing *a, uint64_t pc)
{
	const struct cpi_window_record *r = a->record;

	if (a->place.loss == SAMPLE_KEPT && a->place.start <= pc && pc < a->place.end)
		return;
	a->place = attribute_user_place(
		a->ws->cfg.attribution, pc, r->window.tgid,
		PROCMAP_BY_EXEC_ID | (r->exec_id & CPI_MAX_GENERATION),
		(struct time_span){ r->window.time, r->window.time });
}

static struct tally_site site_of(const struct place *place, uint64_t pc)
{
	if (place->loss != SAMPLE_KEPT)
		return (struct tally_site){ 0 };
	return (struct tally_site){ place->image, pc + place->bias };
}

/* Of code that was interpreted (I2). Whether it is known. */
static bool find_followed(struct attributing *a, uint64_t pc, struct tally_site *site)
{
	look_up(a, pc);
	*site = site_of(&a->place, pc);
	if (!site->image)
		a->loss = a->place.loss;
	else if (!windowprocs_followed(a->ws->procs, a->process, pc,
				       a->record->window.time, site->image,
				       a->place.bias))
		a->loss = SAMPLE_STALE;
	else
		return true;
	return false;
}

static bool find_jumps(struct attributing *a, const struct walk *walk,
		       struct tally_jump *jump)
{
	const bool ends_there = a->record->window.end == CPI_WINDOW_NO_CODE ||
				a->record->window.end == CPI_WINDOW_CHANGED;

	for (uint32_t i = 0; i < walk->nr; i++) {
		const struct walk_jump *j = &walk->jump[i];

		if (!find_followed(a, j->from, &jump[i].from))
			return false;
		if (i + 1 == walk->nr && ends_there && j->from == walk->last) {
			look_up(a, j->to); /* where it was not followed to */
			jump[i].to = site_of(&a->place, j->to);
		} else if (!find_followed(a, j->to, &jump[i].to)) {
			return false;
		}
	}
	return true;
}

/* A straight line between jumps of a window; it is in one image. */
struct line {
	const struct walk *walk;
	const struct tally_window *tw;
	uint64_t from;
	struct tally_site site;
	uint32_t nr; /* of the jump that ends it */
};

static struct line first_line(const struct walk *walk, const struct tally_window *tw)
{
	return (struct line){ walk, tw, walk->start, tw->start, 0 };
}

/*
 * Goes on to the line of an instruction; calls are in the order of execution. If an
 * instruction comes again, it is looked for from the current line on. Whether it is
 * there.
 */
static bool find_line(struct line *l, uint64_t at, struct tally_site *out)
{
	const struct walk *walk = l->walk;

	while (at < l->from || (l->nr < walk->nr && at > walk->jump[l->nr].from)) {
		if (l->nr == walk->nr)
			return false;
		l->from = walk->jump[l->nr].to;
		l->site = l->tw->jump[l->nr++].to;
	}
	*out = (struct tally_site){ l->site.image, l->site.offset + (at - l->from) };
	return true;
}

/* The same of an instruction that may be before the current line, as a compare is. */
static bool find_line_again(struct line *l, uint64_t at, struct tally_site *out)
{
	struct line first = first_line(l->walk, l->tw);

	if (find_line(l, at, out))
		return true;
	*l = first;
	return find_line(l, at, out);
}

static uint32_t find_accesses(const struct walk *walk, const struct tally_window *tw,
			      struct tally_access *out)
{
	struct line line = first_line(walk, tw);
	uint32_t nr;

	for (nr = 0; nr < walk->nr_accesses; nr++) {
		const struct walk_access *a = &walk->access[nr];
		struct tally_site site;

		if (!find_line(&line, a->at, &site))
			return nr;
		out[nr] = (struct tally_access){
			.at = site,
			.address = a->data,
			.size = a->size,
			.nr = a->nr,
			.store = a->store,
			.writes = a->writes,
			.known = a->data != CPI_WINDOW_NO_DATA,
		};
	}
	return nr;
}

static const union cpi_code_cell *page_at(void *ctx, uint64_t address)
{
	const struct attributing *a = ctx;
	uint32_t entry, offset;

	if (windowprocs_entry(a->process, address, &entry, &offset))
		return NULL;
	return windowpages_code(a->ws->pages, entry);
}

/* How often the operands of a window count. */
static unsigned int weigh(struct collector *ws, const struct tally_window *w)
{
	uint64_t jump[CPI_WINDOW_MAX];

	for (uint32_t i = 0; i < w->nr_jumps; i++) {
		const struct tally_jump *j = &w->jump[i];

		jump[i] = (uintptr_t)j->from.image + j->from.offset + 3 * j->to.offset;
	}
	return startweights_add(ws->weights, jump, w->nr_jumps);
}

/* The operands of a window, if its replay agrees with it. */
static uint32_t find_operands(struct attributing *a, const struct walk *walk,
			      const struct tally_window *tw, struct tally_operand *out)
{
	struct collector *ws = a->ws;
	struct line line = first_line(walk, tw);
	const struct replay_operand *o;
	uint32_t found = 0;
	unsigned int times;
	int nr;

	if (!a->origin || !ws->replay)
		return 0;
	times = weigh(ws, tw);
	a->at = 0;
	nr = windowreplay_run(ws->replay, &a->record->window, a->origin, page_at,
			      ws->forms ? next_form : NULL, a, &o);
	ws->nr_replayed += nr >= 0;
	ws->nr_differing += nr < 0;
	for (int i = 0; times && i < nr; i++) {
		struct tally_operand *to = &out[found];

		if (!find_line_again(&line, o[i].at, &to->at)) {
			ws->nr_operands_left_out++;
			continue;
		}
		to->kind = o[i].kind;
		to->size = o[i].size;
		to->known = o[i].known;
		to->taken = o[i].taken;
		to->more = (uint8_t)(times - 1);
		to->value = o[i].value;
		found++;
	}
	ws->nr_operands += found;
	return found;
}

/* Where control was at the end, in the image that it was in. */
static uint64_t find_end(const struct cpi_window *w, const struct walk *walk,
			 const struct tally_window *tw)
{
	if (!cpi_window_is_done(w->end))
		return tw->last.offset;
	if (walk->nr && walk->jump[walk->nr - 1].from == walk->last)
		return tw->jump[walk->nr - 1].to.offset;
	return tw->last.offset + (w->next - walk->last);
}

static void add_window(struct attributing *a, const struct walk *walk,
		       struct windowtally *to)
{
	const struct cpi_window *w = &a->record->window;
	struct attribution *attribution = a->ws->cfg.attribution;
	struct tally_jump jump[CPI_WINDOW_MAX];
	struct tally_access access[CPI_WINDOW_DATA];
	struct tally_operand operand[OPERANDS_MAX_WINDOW];
	struct tally_window tw = { .jump = jump,
				   .nr_jumps = walk->nr,
				   .access = access,
				   .operand = operand,
				   .tid = w->tid,
				   .nr_insns = walk->nr_instructions -
					       !cpi_window_is_done(w->end),
				   .reason = w->end == CPI_WINDOW_LENGTH ? 0 : w->end };
	struct sample_contexts own;

	if (!tw.nr_insns || !find_followed(a, walk->start, &tw.start) ||
	    !find_jumps(a, walk, jump) || !find_followed(a, walk->last, &tw.last)) {
		windowtally_lose(to, tw.nr_insns ? a->loss : SAMPLE_NOT_TRANSLATED, 1);
		return;
	}
	tw.end = find_end(w, walk, &tw);
	tw.nr_accesses = find_accesses(walk, &tw, access);
	tw.nr_operands = find_operands(a, walk, &tw, operand);
	if (a->ws->cfg.by_context && attribution->by) {
		attribute_set_contexts(attribution, a->place.process, w->tgid, &own);
		tw.contexts = own.contexts;
	}
	windowtally_add(to, &tw);
	explicit_bzero(operand, tw.nr_operands * sizeof(*operand));
}

/* Tells what was executed in a row. */
static void note_run(struct attributing *a, uint64_t from, uint64_t to)
{
	uint32_t entry, offset;

	if (to < from || to - from > CPI_WINDOW_MAX * CPI_CODE_MORE)
		return;
	while (!windowprocs_entry(a->process, from, &entry, &offset)) {
		const uint64_t end = from - offset + CPI_CODE_PAGE;

		windowpages_passed(a->ws->pages, entry, offset,
				   to < end ? offset + (uint32_t)(to - from)
					    : CPI_CODE_PAGE - 1);
		if (to < end)
			return;
		from = end;
	}
}

static void note_passed(struct attributing *a, const struct walk *walk)
{
	uint64_t at = walk->start;

	for (uint32_t i = 0; i < walk->nr; i++) {
		note_run(a, at, walk->jump[i].from);
		at = walk->jump[i].to;
	}
	if (!walk->nr || walk->jump[walk->nr - 1].from != walk->last)
		note_run(a, at, walk->last);
}

static void attribute_record(struct collector *ws, size_t number,
			     struct windowtally *to)
{
	const struct cpi_window_record *r = &ws->record[number];
	struct attributing a = { .ws = ws,
				 .record = r,
				 .origin = ws->origin ? ws->origin[number] : NULL,
				 .code = (const uint8_t *)ws->code[number],
				 .process = windowprocs_find(ws->procs, r),
				 .place = { .loss = SAMPLE_NO_MAPPING } };
	struct walk walk;

	if (r->window.end < CPI_NR_WINDOW_ENDS)
		ws->nr_by_end[r->window.end]++;
	if (r->process == CPI_WINDOW_PROCESSES) {
		windowtally_lose(to, SAMPLE_NOT_ENTERED, 1);
	} else if (!r->window.nr) {
		windowtally_lose(to,
				 r->window.end == CPI_WINDOW_CHANGED
					 ? SAMPLE_STALE
					 : SAMPLE_NOT_TRANSLATED,
				 1);
	} else if (!a.process || walk_record(&a, &walk)) {
		windowtally_lose(to, SAMPLE_STALE, 1);
	} else {
		note_passed(&a, &walk);
		ws->nr_walked++;
		ws->nr_instructions += r->window.nr;
		ws->nr_accesses += walk.nr_accesses;
		ws->nr_accesses_left_out += walk.nr_left_out;
		add_window(&a, &walk, to);
	}
}

/* Looks up all that add_window() will: what is lacking is noted. */
static void preview_record(struct collector *ws, size_t number)
{
	const struct cpi_window_record *r = &ws->record[number];
	struct attributing a = { .ws = ws,
				 .record = r,
				 .code = (const uint8_t *)ws->code[number],
				 .process = windowprocs_find(ws->procs, r),
				 .place = { .loss = SAMPLE_NO_MAPPING } };
	struct walk walk;

	if (r->process == CPI_WINDOW_PROCESSES || !r->window.nr || !a.process ||
	    walk_record(&a, &walk))
		return;
	look_up(&a, walk.start);
	for (uint32_t i = 0; i < walk.nr; i++) {
		look_up(&a, walk.jump[i].from);
		look_up(&a, walk.jump[i].to);
	}
	look_up(&a, walk.last);
}

/* ---- pairs of samples ---- */

static bool find_code(void *ctx, uint64_t pc, struct tally_site *out)
{
	return find_followed(ctx, pc, out);
}

static void attribute_pair(struct collector *ws, const struct cpi_pair_record *p,
			   struct windowtally *to)
{
	const struct cpi_window_record r = {
		.started_ns = p->started_ns,
		.exec_id = p->exec_id,
		.process = p->process,
		.sequence = p->sequence,
		.window = { .time = p->time, .tgid = p->tgid, .start = p->from },
	};
	struct attributing a = { .ws = ws,
				 .record = &r,
				 .process = windowprocs_find(ws->procs, &r),
				 .place = { .loss = SAMPLE_NO_MAPPING } };
	const struct windowpairs_code code = { code_at, find_code, &a };

	windowpairs_add(ws->pairs, p, a.process ? &code : NULL, to);
}

static void attribute_pairs(struct collector *ws, struct windowtally *to)
{
	const struct cpi_pair_record *p;
	size_t nr;

	p = windowpairs_kept(ws->pairs, &nr);
	for (size_t i = 0; i < nr; i++)
		attribute_pair(ws, &p[i], to);
	windowpairs_forget(ws->pairs);
}

static void take_pair(void *ctx, const struct cpi_pair_record *r)
{
	const struct collector *ws = ctx;

	windowpairs_take(ws->pairs, r);
}

static void read_pairs(struct collector *ws)
{
	struct cpi_pair_counts sum;

	if (ws->source->ops->pairs(ws->source, take_pair, ws, &sum) != -EOPNOTSUPP)
		windowpairs_note_counts(ws->pairs, &sum);
}

/* ---- the time that windows take ---- */

/* CPU time of this thread, and of the reader, which is asked by this thread only. */
static uint64_t used_ns(const struct collector *ws)
{
	return time_clock_ns(CLOCK_THREAD_CPUTIME_ID) +
	       timed_child_cpu_ns(images_timed_child(ws->cfg.attribution->images));
}

uint64_t windowsampler_cpu_ns(const struct collector *ws)
{
	return ws->cpu_ns + translate_child_cpu_ns(ws->translator);
}

uint64_t windowsampler_translate_ns(const struct collector *ws)
{
	return translate_child_cpu_ns(ws->translator);
}

/* ---- rounds ---- */

/* Keeps the origin of the record that comes next; without memory it has none. */
static int take_origin(struct collector *ws, const struct cpi_window_origin *origin)
{
	struct cpi_window_origin **grown =
		grow(ws->origin, ws->nr_records, &ws->cap_origins, sizeof(*grown));
	size_t bytes;

	if (!grown)
		return -ENOMEM;
	ws->origin = grown;
	ws->origin[ws->nr_records] = NULL;
	if (!origin)
		return 0;
	bytes = cpi_window_origin_bytes(origin);
	ws->origin[ws->nr_records] = malloc(sizeof(*origin));
	if (ws->origin[ws->nr_records])
		memcpy(ws->origin[ws->nr_records], origin, bytes);
	return 0;
}

/* The same of its code. */
static int take_code(struct collector *ws, const struct cpi_window *w,
		     const uint64_t *code)
{
	const size_t bytes = cpi_window_code_words(w) * sizeof(*code);
	uint64_t **grown =
		grow(ws->code, ws->nr_records, &ws->cap_codes, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	ws->code = grown;
	ws->code[ws->nr_records] = NULL;
	if (!code || !bytes)
		return 0;
	ws->code[ws->nr_records] = malloc(bytes);
	if (!ws->code[ws->nr_records])
		return -ENOMEM;
	memcpy(ws->code[ws->nr_records], code, bytes);
	return 0;
}

static int take_what_follows(struct collector *ws, const struct cpi_window_record *r,
			     const uint64_t *code,
			     const struct cpi_window_origin *origin)
{
	int err = take_code(ws, &r->window, code);

	if (err || !ws->replay)
		return err;
	err = take_origin(ws, origin);
	if (err)
		free(ws->code[ws->nr_records]);
	return err;
}

static void take_record(void *ctx, const struct cpi_window_record *r,
			const uint64_t *code, const struct cpi_window_origin *origin)
{
	struct collector *ws = ctx;
	struct cpi_window_record *grown =
		grow(ws->record, ws->nr_records, &ws->cap_records, sizeof(*grown));

	if (grown && take_what_follows(ws, r, code, origin)) {
		ws->record = grown;
		grown = NULL;
	}

	if (!grown) {
		ws->unkept++;
		return;
	}
	ws->record = grown;
	ws->record[ws->nr_records++] = *r;
	ws->has_unknown |= r->process == CPI_WINDOW_PROCESSES;
}

static void read_counts(const struct collector *ws, struct cpi_window_counts *sum)
{
	ws->source->ops->counts(ws->source, sum);
}

static void snapshot(struct collector *ws)
{
	const uint64_t begun_ns = used_ns(ws);

	ws->source->ops->consume(ws->source, take_record, ws);
	read_pairs(ws);
	ws->looked_ns = time_mono_ns();
	ws->cpu_ns += used_ns(ws) - begun_ns;
}

static void preview(struct collector *ws)
{
	const uint64_t begun_ns = used_ns(ws);

	for (size_t i = 0; i < ws->nr_records; i++)
		preview_record(ws, i);
	ws->cpu_ns += used_ns(ws) - begun_ns;
}

/* What a window was without. Whether there is something to be learnt. */
static bool learn_from(struct collector *ws, size_t number)
{
	const struct cpi_window_record *r = &ws->record[number];
	const struct cpi_window *w = &r->window;
	const uint8_t *code = (const uint8_t *)ws->code[number];
	bool learnt = false;

	if (r->process == CPI_WINDOW_PROCESSES)
		return windowprocs_enter(ws->procs, r);
	if (w->lacks_form && code && ws->forms && w->nr_code <= CPI_WINDOW_CODE)
		learnt = windowprocs_lacks_form(ws->procs, ws->forms, r, w->next,
						code + w->nr_code);
	/* Pages are for code where windows begin: forms are slower. */
	if ((w->by_form[0] & 1 && windowpages_has_credit(ws->pages)) ||
	    (w->lacks_form && !w->nr))
		learnt |= windowprocs_miss(ws->procs, r, w->start);
	if (w->lacks_form)
		return learnt;
	if (w->end == CPI_WINDOW_NO_CODE || w->end == CPI_WINDOW_CHANGED)
		learnt |= windowprocs_miss(ws->procs, r, w->next);
	return learnt;
}

/*
 * Rounds are short while much is learnt. Where that does not end, because there is more
 * code than room for it, or ever other code, they become longer.
 */
static void learn(struct collector *ws, uint64_t now)
{
	size_t nr = 0;

	for (size_t i = 0; i < ws->nr_records; i++)
		nr += learn_from(ws, i);
	if (nr * LEARN_SHARE > ws->nr_records) {
		ws->learnt_ns = now;
		ws->nr_learning++;
	} else if (now > ws->learnt_ns + LOOK_NS) {
		ws->nr_learning = 0;
	}
}

static void lose_dropped(struct collector *ws, struct windowtally *to)
{
	static const enum loss loss[] = {
		[CPI_WINDOW_DROP_NESTED] = SAMPLE_NESTED,
		[CPI_WINDOW_DROP_COMPAT] = SAMPLE_COMPAT,
		[CPI_WINDOW_DROP_EXCLUDED] = SAMPLE_EXCLUDED,
		[CPI_WINDOW_DROP_STALE] = SAMPLE_STALE,
		[CPI_WINDOW_DROP_RING] = SAMPLE_RING_LOST,
	};
	struct cpi_window_counts sum;

	read_counts(ws, &sum);
	for (int i = 0; i < CPI_WINDOW_NR_DROPS; i++) {
		windowtally_lose(to, loss[i], sum.dropped[i] - ws->told[i]);
		ws->told[i] = sum.dropped[i];
	}
	windowtally_lose(to, SAMPLE_NO_SPACE, ws->unkept);
	ws->drained += ws->unkept;
	ws->unkept = 0;
}

/* Everything begins anew where there is more code than there are entries. */
static void forget_if_full(struct collector *ws)
{
	if (!windowpages_is_full(ws->pages))
		return;
	windowprocs_forget(ws->procs);
	windowpages_forget(ws->pages);
}

/* Records, and answers of cpi-translate. How many answers are still to come. */
static uint32_t take_what_came(struct collector *ws)
{
	uint64_t begun_ns;
	uint32_t nr_asked;

	ws->source->ops->consume(ws->source, take_record, ws);
	begun_ns = used_ns(ws) + translate_child_cpu_ns(ws->translator);
	nr_asked = windowpages_run(ws->pages);
	windowpages_pay(ws->pages,
			-(int64_t)(used_ns(ws) +
				   translate_child_cpu_ns(ws->translator) - begun_ns));
	return nr_asked;
}

static void drain(struct collector *ws)
{
	struct windowtally *to = *ws->cfg.tally;
	const uint64_t now = time_mono_ns(), begun_ns = used_ns(ws);

	for (size_t i = 0; i < ws->nr_records; i++)
		attribute_record(ws, i, to);
	attribute_pairs(ws, to);
	ws->drained += ws->nr_records;
	windowpages_pay(ws->pages, (int64_t)ws->nr_records * WINDOWPAGES_PAID_NS);
	lose_dropped(ws, to);
	windowpages_give_room(ws->pages);
	if (ws->forms)
		windowforms_give_room(ws->forms);
	windowprocs_renew(ws->procs);
	windowprocs_follow_maps(ws->procs);
	learn(ws, now);
	windowpages_look_ahead(ws->pages);
	forget_origins(ws);
	forget_code(ws);
	ws->nr_records = 0;
	ws->has_unknown = false;
	take_what_came(ws);
	windowpages_take_room(ws->pages);
	if (ws->forms)
		windowforms_take_room(ws->forms);
	forget_if_full(ws);
	ws->cpu_ns += used_ns(ws) - begun_ns;
}

/* The time in which CPUs that are always busy fill half of the ring. */
static double half_full_ns(const struct collector *ws)
{
	const double per_second = (double)ws->cfg.event->per_second /
				  (double)*ws->cfg.period *
				  (ws->source->ring_per_cpu ? 1 : ws->nr_cpus);

	return ws->source->nr_records / 2.0 / per_second * NSEC_PER_SEC;
}

/* Before the ring is half full at the full rate, and sooner while there is news. */
static uint64_t look_interval(const struct collector *ws)
{
	const double ns = half_full_ns(ws);
	const uint64_t at_most = ns < (double)LOOK_NS ? (uint64_t)ns : LOOK_NS;
	uint32_t doublings = ws->nr_learning / LEARN_ROUNDS;

	if (doublings > LEARN_MOST && windowpages_has_room(ws->pages))
		doublings = LEARN_MOST;
	if (ws->has_unknown)
		return ENTER_NS;
	if (ws->looked_ns < ws->learnt_ns + LOOK_NS && doublings < 6 &&
	    LEARN_NS << doublings < at_most)
		return LEARN_NS << doublings;
	return at_most;
}

int windowsampler_wait_ms(const struct collector *ws, double unnoticed_ns)
{
	const uint64_t at = ws->looked_ns + look_interval(ws), now = time_mono_ns();

	if (unnoticed_ns > 0 && unnoticed_ns < half_full_ns(ws) && !ws->has_unknown)
		return -1;
	return at > now ? (int)((at - now) / NSEC_PER_MSEC) + 1 : 0;
}

/*
 * The ring wakes the daemon when somebody new is in it, and then until it is empty:
 * also for later records, for which it would not wake. So it is emptied in each turn of
 * the daemon's loop, which takes no system call: first here, so that this turn enters
 * the new process, and once more in windowsampler_run().
 */
static bool poll_windows(struct collector *ws)
{
	uint64_t due_ns;

	ws->source->ops->consume(ws->source, take_record, ws);
	due_ns = ws->looked_ns + look_interval(ws) / LOOK_SLACK * (LOOK_SLACK - 1);
	return time_mono_ns() >= due_ns;
}

/*
 * Answers of cpi-translate wake nobody: they are looked for after a while, so that one
 * wake-up serves several.
 */
int windowsampler_run(struct collector *ws)
{
	const uint64_t begun_ns = used_ns(ws);
	const uint32_t nr_asked = take_what_came(ws);

	ws->cpu_ns += used_ns(ws) - begun_ns;
	if (!nr_asked)
		return -1;
	if (ws->nr_learning >= LEARN_ROUNDS)
		return LATE_ANSWER_MS;
	return nr_asked + (ws->forms != NULL) < TRANSLATE_CHILD_MAX_ASKED
		       ? ANSWER_MS
		       : FULL_ANSWER_MS;
}

/* ---- counts ---- */

static uint64_t nr_dropped(const struct cpi_window_counts *sum)
{
	uint64_t n = 0;

	for (int i = 0; i < CPI_WINDOW_NR_DROPS; i++)
		n += sum->dropped[i];
	return n;
}

static void counts(struct collector *ws, int event, struct collector_counts *out)
{
	struct collector_counts c = { 0 };
	struct cpi_window_counts sum;

	read_counts(ws, &sum);
	ws->source->ops->event(ws->source, &c);
	c.received = ws->drained;
	for (int i = 0; i < CPI_WINDOW_NR_DROPS; i++)
		c.received += ws->told[i];
	c.pending = sum.recorded + nr_dropped(&sum) - c.received;
	c.ring_lost = ws->told[CPI_WINDOW_DROP_RING];
	c.elsewhere = sum.elsewhere;
	*out = c;
}

double windowsampler_mean_ns(const struct collector *ws)
{
	struct cpi_window_counts sum;

	read_counts(ws, &sum);
	return sum.nr_timed ? (double)sum.sum_ns / (double)sum.nr_timed : 0;
}

static void randomise(struct collector *ws)
{
	ws->source->ops->randomise(ws->source, &ws->drained);
}

static int set_cpus(struct collector *ws, const struct cpus *cpus)
{
	ws->nr_cpus = cpus->nr;
	return ws->source->ops->set_cpus(ws->source, cpus);
}

static void stop(struct collector *ws)
{
	ws->source->ops->stop(ws->source);
}

bool windowsampler_has_rate(const struct collector *ws)
{
	return !ws->source->ops->has_fixed_rate;
}

int windowsampler_restart(struct collector *ws)
{
	return ws->source->ops->restart(ws->source);
}

const char *windowsampler_source(const struct collector *ws)
{
	return ws->source->ops->name;
}

void windowsampler_mark_images(const struct collector *ws)
{
	windowpages_mark_images(ws->pages);
}

/* The time that so many of a thousand do not exceed. */
static uint64_t per_mille_ns(const struct cpi_window_counts *sum, uint64_t of_1000)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i + 1 < CPI_WINDOW_TIMES; i++) {
		n += sum->nr_by_time[i];
		if (n * 1000 >= sum->nr_timed * of_1000)
			return cpi_window_class_time(i + 1);
	}
	return sum->max_ns;
}

static void put_time(const struct cpi_window_counts *sum, struct buf *out)
{
	const uint64_t p999 = per_mille_ns(sum, 999);

	if (!sum->nr_timed)
		return;
	buf_printf(out, "window_ns_mean %.0f\n",
		   (double)sum->sum_ns / (double)sum->nr_timed);
	buf_printf(out, "window_ns_p999 %llu\n",
		   (unsigned long long)(p999 < sum->max_ns ? p999 : sum->max_ns));
	buf_printf(out, "window_ns_max %llu\n", (unsigned long long)sum->max_ns);
}

static const char *const end_names[CPI_NR_WINDOW_ENDS] = {
#define END_NAME(name, text) [CPI_WINDOW_##name] = text,
	CPI_WINDOW_ENDS(END_NAME)
#undef END_NAME
};

void windowsampler_status(const struct collector *ws, struct buf *out)
{
	struct cpi_window_counts sum;

	read_counts(ws, &sum);
	put_time(&sum, out);
	for (int i = 0; i < CPI_NR_WINDOW_ENDS; i++) {
		if (ws->nr_by_end[i])
			buf_printf(out, "window_end.%s %llu\n", end_names[i],
				   (unsigned long long)ws->nr_by_end[i]);
	}
	if (ws->nr_walked)
		buf_printf(out,
			   "window_reach %.1f\n"
			   "window_accesses %llu\n"
			   "window_accesses_left_out %llu\n",
			   (double)ws->nr_instructions / (double)ws->nr_walked,
			   (unsigned long long)ws->nr_accesses,
			   (unsigned long long)ws->nr_accesses_left_out);
	if (ws->replay)
		buf_printf(out,
			   "window_replayed %llu\n"
			   "window_replays_differ %llu\n"
			   "window_operands %llu\n"
			   "window_operands_left_out %llu\n",
			   (unsigned long long)ws->nr_replayed,
			   (unsigned long long)ws->nr_differing,
			   (unsigned long long)ws->nr_operands,
			   (unsigned long long)ws->nr_operands_left_out);
	windowpairs_status(ws->pairs, out);
	windowprocs_status(ws->procs, out);
	windowpages_status(ws->pages, out);
	if (ws->forms)
		windowforms_status(ws->forms, out);
}

const struct source_ops source_windows = {
	.poll = poll_windows,
	.snapshot = snapshot,
	.preview = preview,
	.drain = drain,
	.sweep = collector_no_sweep,
	.randomise = randomise,
	.counts = counts,
	.set_cpus = set_cpus,
	.stop = stop,
	.close = close_all,
};
