/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowprocs.c - processes and regions, as the program sees them
 *
 * A process entry is changed only while its sequence number is odd (abi/window_bpf.h,
 * I3). The table is set-associative, like a CPU cache: a new process replaces one of
 * its set that no window has used since the previous replacement.
 */
#include "config.h"

#include "daemon/windows/windowprocs.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/mappings/procscan.h"
#include "daemon/os/privileges.h"
#include "daemon/windows/windowexclude.h"

#define MAX_MISSED 16 /* places that are remembered: they come before other code */
#define MAX_VAIN   8  /* places without a region, until its maps change */

/* Of a process, beside what the program sees. */
struct entered {
	uint64_t since_ns;                             /* of the incarnation */
	uint32_t nr_changes;                           /* that its mappings had seen */
	uint32_t uid;                                  /* whose account pays for it */
	struct known_image *image[CPI_WINDOW_REGIONS]; /* NULL: made at run time */
	uint64_t bias[CPI_WINDOW_REGIONS];
	uint64_t missed[MAX_MISSED];
	uint32_t nr_missed; /* ever; the last ones are there */
	uint32_t nr_vain;   /* missed places without a region since its maps changed */
	bool has_secret;    /* from its parent */
};

struct windowprocs {
	struct windowprocs_config cfg;
	struct entered entered[CPI_WINDOW_PROCESSES];
	uint64_t nr_entered;
	bool reads_all; /* this daemon may read all processes */
};

struct windowprocs *windowprocs_new(const struct windowprocs_config *cfg)
{
	struct windowprocs *wp = calloc(1, sizeof(*wp));

	if (!wp)
		return NULL;
	wp->cfg = *cfg;
	wp->reads_all = privileges_have(CAP_SYS_PTRACE);
	return wp;
}

void windowprocs_free(struct windowprocs *wp)
{
	free(wp);
}

/* ---- what the program sees ---- */

/* Both pair with read barriers of cpi_window_follow() (kmod/cpi_window_sample.h). */
static void begin_change(struct cpi_window_process *p)
{
	__atomic_store_n(&p->sequence, p->sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void end_change(struct cpi_window_process *p)
{
	__atomic_store_n(&p->sequence, p->sequence + 1, __ATOMIC_RELEASE);
}

static void clear_regions(struct cpi_window_process *p)
{
	for (int i = 0; i < CPI_WINDOW_REGIONS; i++)
		p->start[i] = CPI_WINDOW_NOWHERE;
	memset(p->region, 0, sizeof(p->region));
}

static struct windowpages_owner owner_of(const struct windowprocs *wp, uint32_t at,
					 uint32_t tgid)
{
	return (struct windowpages_owner){ at, tgid, wp->entered[at].since_ns,
					   wp->entered[at].uid };
}

/* What it has made, if it has made anything. */
static void give_back_private(struct windowprocs *wp, uint32_t at)
{
	const struct windowpages_owner owner =
		owner_of(wp, at, wp->cfg.process[at].tgid);

	windowpages_begin_private(wp->cfg.pages, &owner);
	windowpages_end_private(wp->cfg.pages, &owner);
}

static void remove_process(struct windowprocs *wp, uint32_t at)
{
	struct cpi_window_process *p = &wp->cfg.process[at];

	begin_change(p);
	give_back_private(wp, at);
	p->tgid = 0;
	clear_regions(p);
	end_change(p);
	memset(&wp->entered[at], 0, sizeof(wp->entered[at]));
}

/* ---- regions ---- */

/* Of code that is mapped. */
struct candidate {
	struct range range;
	struct known_image *image; /* NULL: it was made at run time */
	uint32_t weight;
};

/* The heaviest, of equal ones the first. */
struct gathering {
	struct windowprocs *wp;
	uint32_t tgid;
	const struct entered *to;
	bool makes_code;
	struct candidate best[CPI_WINDOW_REGIONS];
	uint32_t nr;
};

static bool was_missed(const struct entered *e, const struct range *r)
{
	for (uint32_t i = 0; i < MAX_MISSED && i < e->nr_missed; i++) {
		if (r->start <= e->missed[i] && e->missed[i] < r->end)
			return true;
	}
	return false;
}

/*
 * Returns the range's image, or NULL. Does not read a file only for this, unless a
 * window missed its code.
 */
static struct known_image *image_of(const struct gathering *g, const struct range *r,
				    bool missed)
{
	struct known_image *image = r->value;

	if (image->unknown != SAMPLE_KEPT || (!missed && !image_is_resolved(image)))
		return NULL;
	image = images_resolve(g->wp->cfg.attribution->images, image, g->tgid,
			       r->since);
	return image->unknown == SAMPLE_KEPT ? image : NULL;
}

/*
 * Weighs a candidate: first what windows have missed, then by the number of
 * translated pages. Returns false if it cannot be a region.
 */
static bool weigh(const struct gathering *g, struct candidate *c)
{
	const struct range *r = &c->range;
	const bool missed = was_missed(g->to, r);

	if (r->start % CPI_CODE_PAGE)
		return false;
	if (g->makes_code && jit_may_hold(r->value)) {
		c->weight = missed ? UINT32_MAX : UINT32_MAX - 1;
		return true;
	}
	c->image = image_of(g, r, missed);
	if (!c->image)
		return false;
	c->weight = missed ? UINT32_MAX
			   : windowpages_nr_live(g->wp->cfg.pages, c->image,
						 r->start + r->bias, r->end - r->start);
	return true;
}

static void consider(void *ctx, const struct range *r)
{
	struct gathering *g = ctx;
	struct candidate c = { .range = *r };
	uint32_t at = g->nr;

	if (!weigh(g, &c))
		return;
	while (at && g->best[at - 1].weight < c.weight)
		at--;
	if (at == CPI_WINDOW_REGIONS)
		return;
	g->nr += g->nr < CPI_WINDOW_REGIONS;
	memmove(g->best + at + 1, g->best + at, (g->nr - 1 - at) * sizeof(g->best[0]));
	g->best[at] = c;
}

/* In the order of their addresses; nr are there. */
static void insert_region(struct cpi_window_process *p, struct entered *to, uint32_t nr,
			  const struct candidate *c, uint32_t first)
{
	const struct range *r = &c->range;
	uint32_t at = nr;

	for (; at && p->start[at - 1] > r->start; at--) {
		p->start[at] = p->start[at - 1];
		p->region[at] = p->region[at - 1];
		to->image[at] = to->image[at - 1];
		to->bias[at] = to->bias[at - 1];
	}
	p->start[at] = r->start;
	p->region[at] = (struct cpi_window_region){ r->end, first, !c->image };
	to->image[at] = c->image;
	to->bias[at] = r->bias;
}

static int get_pages(struct windowprocs *wp, const struct windowpages_owner *owner,
		     const struct candidate *c, uint32_t *first)
{
	const struct range *r = &c->range;

	if (!c->image)
		return windowpages_get_private(wp->cfg.pages, owner, r->start,
					       r->end - r->start, first);
	return windowpages_get(wp->cfg.pages, owner, c->image, r->start + r->bias,
			       r->end - r->start, first);
}

static bool is_excluded(const struct windowprocs *wp, uint32_t at,
			const struct process *p)
{
	return wp->entered[at].has_secret ||
	       windowexclude_matches(wp->cfg.exclude, wp->cfg.nr_excluded, p);
}

static void find_regions(struct windowprocs *wp, uint32_t at,
			 const struct process *process)
{
	const struct windowpages_owner owner = owner_of(wp, at, process->tgid);
	struct jit *jit = wp->cfg.attribution->jit;
	struct gathering g = { .wp = wp,
			       .tgid = process->tgid,
			       .to = &wp->entered[at],
			       .makes_code = jit && jit_has_code(jit, process) };
	uint32_t nr = 0, first;

	procmap_for_each_range(process, consider, &g);
	for (uint32_t i = 0; i < g.nr; i++) {
		if (!get_pages(wp, &owner, &g.best[i], &first))
			insert_region(&wp->cfg.process[at], &wp->entered[at], nr++,
				      &g.best[i], first);
	}
}

/* The user may become known up to a second later (sideband.c). */
static uint32_t uid_of(const struct process *process)
{
	return process->account ? process->account->uid : 0;
}

/* To be called between begin_change() and end_change(). */
static void gather_regions(struct windowprocs *wp, uint32_t at,
			   const struct process *process)
{
	struct cpi_window_process *p = &wp->cfg.process[at];
	struct entered *e = &wp->entered[at];
	struct windowpages_owner owner;

	clear_regions(p);
	p->excluded = is_excluded(wp, at, process);
	e->since_ns = process->start_ns;
	e->nr_changes = process->nr_changes;
	e->uid = uid_of(process);
	owner = owner_of(wp, at, process->tgid);
	windowpages_begin_private(wp->cfg.pages, &owner);
	if (!p->excluded && !process->incomplete)
		find_regions(wp, at, process);
	windowpages_end_private(wp->cfg.pages, &owner);
}

static void update(struct windowprocs *wp, uint32_t at, const struct process *process)
{
	begin_change(&wp->cfg.process[at]);
	gather_regions(wp, at, process);
	end_change(&wp->cfg.process[at]);
}

/* ---- processes ---- */

static bool is_same(const struct cpi_window_process *p,
		    const struct cpi_window_record *r)
{
	return p->tgid == r->window.tgid && p->started_ns == r->started_ns &&
	       p->exec_id == r->exec_id;
}

/*
 * Returns the slot of this tgid; else a free slot of its set; else one that no
 * window has used since the previous replacement, if any.
 */
static uint32_t find_place(struct windowprocs *wp, const struct cpi_window_record *r)
{
	const uint32_t first = cpi_window_set(r->window.tgid) * CPI_WINDOW_WAYS;
	uint32_t place = first + r->started_ns % CPI_WINDOW_WAYS;

	for (uint32_t i = first; i < first + CPI_WINDOW_WAYS; i++) {
		if (wp->cfg.process[i].tgid == r->window.tgid)
			return i;
	}
	for (uint32_t i = first; i < first + CPI_WINDOW_WAYS; i++) {
		struct cpi_window_process *p = &wp->cfg.process[i];

		if (!p->tgid)
			return i;
		if (!p->used)
			place = i;
		p->used = 0;
	}
	return place;
}

static struct process *process_of(const struct windowprocs *wp,
				  const struct cpi_window_record *r)
{
	return procmap_find(wp->cfg.attribution->procmap, r->window.tgid,
			    PROCMAP_BY_EXEC_ID | (r->exec_id & CPI_MAX_GENERATION),
			    r->window.time);
}

static struct process *newest_of(const struct windowprocs *wp, uint32_t tgid)
{
	return procmap_find(wp->cfg.attribution->procmap, tgid, 0, UINT64_MAX);
}

/*
 * Whether the process has secret memory (memfd_secret(2)); also if its mappings
 * cannot be read. -EBUSY: try again later.
 *
 * At an interrupt, such memory shows where the process has mapped it itself
 * (locked_vm). What it has inherited does not, but after an exec it has inherited
 * nothing. So only processes that were forked and have not executed a program since
 * are asked, if this daemon may read all of them.
 */
static int look_for_secret(const struct windowprocs *wp, const struct process *p,
			   bool *has_secret)
{
	struct timed_child *a = images_timed_child(wp->cfg.attribution->images);
	int err;

	if (p->by_exec && wp->reads_all)
		return 0;
	err = procscan_secret(a, (pid_t)p->tgid, (pid_t)p->parent, has_secret);
	if (err == -EBUSY)
		return err;
	*has_secret |= err != 0;
	return 0;
}

bool windowprocs_enter(struct windowprocs *wp, const struct cpi_window_record *r)
{
	struct process *process = process_of(wp, r);
	struct cpi_window_process *p;
	bool has_secret = false;
	uint32_t at;

	if (!process || process->superseded || process->exited)
		return false;
	at = find_place(wp, r);
	p = &wp->cfg.process[at];
	if (is_same(p, r))
		return true; /* by an earlier one */
	if (look_for_secret(wp, process, &has_secret))
		return false;
	begin_change(p);
	if (p->tgid)
		give_back_private(wp, at);
	memset(&wp->entered[at], 0, sizeof(wp->entered[at]));
	wp->entered[at].missed[0] = r->window.start;
	wp->entered[at].nr_missed = 1;
	wp->entered[at].has_secret = has_secret;
	p->exec_id = r->exec_id;
	p->started_ns = r->started_ns;
	gather_regions(wp, at, process);
	p->tgid = r->window.tgid;
	end_change(p);
	wp->nr_entered++;
	return true;
}

void windowprocs_follow_maps(struct windowprocs *wp)
{
	for (uint32_t i = 0; i < CPI_WINDOW_PROCESSES; i++) {
		const struct entered *e = &wp->entered[i];
		const struct process *now;

		if (!wp->cfg.process[i].tgid)
			continue;
		now = newest_of(wp, wp->cfg.process[i].tgid);
		if (!now || now->exited || now->start_ns != e->since_ns)
			remove_process(wp, i);
		else if (now->nr_changes != e->nr_changes || uid_of(now) != e->uid ||
			 is_excluded(wp, i, now) != wp->cfg.process[i].excluded)
			update(wp, i, now);
	}
}

const struct cpi_window_process *windowprocs_find(const struct windowprocs *wp,
						  const struct cpi_window_record *r)
{
	const struct cpi_window_process *p;

	if (r->process >= CPI_WINDOW_PROCESSES)
		return NULL;
	p = &wp->cfg.process[r->process];
	return is_same(p, r) && p->sequence == r->sequence ? p : NULL;
}

static int region_at(const struct cpi_window_process *p, uint64_t pc)
{
	for (int i = 0; i < CPI_WINDOW_REGIONS && p->start[i] <= pc; i++) {
		if (pc < p->region[i].end)
			return i;
	}
	return -ENOENT;
}

int windowprocs_entry(const struct cpi_window_process *p, uint64_t pc, uint32_t *entry,
		      uint32_t *offset)
{
	const int i = region_at(p, pc);

	if (i < 0)
		return i;
	*entry = p->region[i].first + (pc - p->start[i]) / CPI_CODE_PAGE;
	*offset = pc % CPI_CODE_PAGE;
	return 0;
}

bool windowprocs_followed(const struct windowprocs *wp,
			  const struct cpi_window_process *p, uint64_t pc,
			  uint64_t when_ns, const struct known_image *image,
			  uint64_t bias)
{
	const struct entered *e = &wp->entered[p - wp->cfg.process];
	const int i = region_at(p, pc);
	uint32_t entry, offset;

	if (i < 0)
		return false;
	if (e->image[i])
		return e->image[i] == image && e->bias[i] == bias;
	return image->desc.kind == IMAGE_JIT &&
	       !windowprocs_entry(p, pc, &entry, &offset) &&
	       windowpages_was_made_of(wp->cfg.pages, entry, pc, when_ns);
}

void windowprocs_renew(struct windowprocs *wp)
{
	uint32_t entry, number;

	while ((entry = windowpages_next_ready(wp->cfg.pages, &number))) {
		begin_change(&wp->cfg.process[number]);
		windowpages_publish(wp->cfg.pages, entry);
		end_change(&wp->cfg.process[number]);
	}
}

/* More code of a process, if that is known. */
static void enter_region(struct windowprocs *wp, uint32_t at, uint64_t pc)
{
	struct entered *e = &wp->entered[at];
	const struct process *now = newest_of(wp, wp->cfg.process[at].tgid);

	if (!now || now->start_ns != e->since_ns)
		return;
	if (now->nr_changes != e->nr_changes)
		e->nr_vain = 0;
	if (e->nr_vain >= MAX_VAIN)
		return;
	e->missed[e->nr_missed++ % MAX_MISSED] = pc;
	update(wp, at, now);
	e->nr_vain += region_at(&wp->cfg.process[at], pc) < 0;
}

bool windowprocs_miss(struct windowprocs *wp, const struct cpi_window_record *r,
		      uint64_t pc)
{
	const struct cpi_window_process *p = &wp->cfg.process[r->process];
	uint32_t entry, offset;

	if (r->process >= CPI_WINDOW_PROCESSES || !is_same(p, r))
		return false;
	if (windowprocs_entry(p, pc, &entry, &offset))
		enter_region(wp, r->process, pc);
	return !windowprocs_entry(p, pc, &entry, &offset) &&
	       windowpages_miss(wp->cfg.pages, entry, offset);
}

bool windowprocs_lacks_form(struct windowprocs *wp, struct windowforms *forms,
			    const struct cpi_window_record *r, uint64_t pc,
			    const uint8_t code[CPI_FORM_BYTES])
{
	const struct cpi_window_process *p = &wp->cfg.process[r->process];
	uint32_t entry, offset, uid;

	if (r->process >= CPI_WINDOW_PROCESSES || !is_same(p, r) ||
	    windowprocs_entry(p, pc, &entry, &offset))
		return false;
	uid = wp->entered[r->process].uid;
	windowforms_want(forms, uid, code);
	windowpages_scan(wp->cfg.pages, entry, offset, uid);
	return true;
}

void windowprocs_forget(struct windowprocs *wp)
{
	for (uint32_t i = 0; i < CPI_WINDOW_PROCESSES; i++) {
		if (wp->cfg.process[i].tgid)
			remove_process(wp, i);
	}
}

void windowprocs_status(const struct windowprocs *wp, struct buf *out)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < CPI_WINDOW_PROCESSES; i++)
		nr += wp->cfg.process[i].tgid != 0;
	buf_printf(out, "window_processes %u\n", nr);
	buf_printf(out, "window_processes_limit %u\n", CPI_WINDOW_PROCESSES);
	buf_printf(out, "window_processes_entered %llu\n",
		   (unsigned long long)wp->nr_entered);
}
