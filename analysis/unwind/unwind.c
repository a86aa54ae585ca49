/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each process has its own libunwind address space, because libunwind caches by return
 * address and another process has another image at that address.
 *
 * In an image without tables, libunwind follows x86-64's frame pointers, so a chain may
 * go on beyond it.
 */
#include "config.h"

#include "analysis/unwind/unwind.h"

#include <errno.h>
#include <libunwind.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

#define CACHED_FRAMES   2048       /* of a process */
#define MAX_READS       (1u << 16) /* of a step: a description may be endless */
#define MAX_CHAIN_READS (1u << 20) /* of all steps of a chain; usual: 100 a step */

/* The address of the sorted table as libunwind sees it; no user memory can be there. */
#define ENTRIES_AT ((uint64_t)1 << 63)

/* libunwind exports it, and declares it nowhere. */
#define search_table UNW_OBJ(dwarf_search_unwind_table)
extern int search_table(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di,
			unw_proc_info_t *pi, int need_unwind_info, void *arg);

struct unwinder {
	unw_addr_space_t space;
	unwind_tables_fn find_tables;
	void *ctx;
	struct unwind_mapping *mapping;
	size_t nr;
	const struct unwind_mapping *last; /* found */
	const struct unwindtables *tables; /* of the frame's image, or NULL */
	uint64_t slide; /* of that image: address minus link-time address */
	const struct unwind_sample *sample;
	unsigned int nr_reads;       /* of this step */
	unsigned int nr_chain_reads; /* of all steps of this chain */
	bool searching;
	bool beyond; /* of this step: it read behind the copy */
	bool missed; /* there is no table */
};

static const struct unwind_mapping *find_mapping(struct unwinder *u, uint64_t address)
{
	size_t lo;

	if (u->last && address - u->last->start < u->last->end - u->last->start)
		return u->last;
	lo = SEARCH(i, u->nr, u->mapping[i].end > address);
	if (lo == u->nr || u->mapping[lo].start > address)
		return NULL;
	return u->last = &u->mapping[lo];
}

static const struct unwindtables *tables_of(const struct unwinder *u,
					    const struct unwind_mapping *m)
{
	return m && m->image ? u->find_tables(u->ctx, m->image) : NULL;
}

/*
 * How far from its link-time address an address of the mapping lies; NULL where there
 * are no tables. The mapping's start would not do: with lld, the page where code begins
 * has bytes of another segment before it.
 */
static const struct unwindtables *find_slide(const struct unwinder *u,
					     const struct unwind_mapping *m,
					     uint64_t at, uint64_t *slide)
{
	const struct unwindtables *t = tables_of(u, m);
	uint64_t address;

	if (!t || !unwindtables_address_of(t, at + m->bias, &address))
		return NULL;
	*slide = at - address;
	return t;
}

static int on_find_proc_info(unw_addr_space_t space, unw_word_t ip,
			     unw_proc_info_t *info, int need_unwind_info, void *arg)
{
	struct unwinder *u = arg;
	const struct unwind_mapping *m = find_mapping(u, ip);
	unw_dyn_info_t di = { .format = UNW_INFO_FORMAT_REMOTE_TABLE };
	size_t nr;
	int err;

	u->tables = find_slide(u, m, ip, &u->slide);
	if (!u->tables) {
		u->missed = true;
		return -UNW_ENOINFO;
	}
	unwindtables_entries(u->tables, &nr);
	di.start_ip = m->start;
	di.end_ip = m->end;
	di.u.rti.segbase = unwindtables_base(u->tables) + u->slide;
	di.u.rti.table_data = ENTRIES_AT;
	di.u.rti.table_len =
		nr * sizeof(struct unwindtables_entry) / sizeof(unw_word_t);
	u->searching = true;
	err = search_table(space, ip, &di, info, need_unwind_info, u);
	u->searching = false;
	u->missed |= err != 0;
	return err;
}

static void on_put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *arg)
{
}

static int on_get_dyn_info(unw_addr_space_t space, unw_word_t *address, void *arg)
{
	return -UNW_ENOINFO;
}

static bool read_stack(struct unwinder *u, uint64_t address, unw_word_t *value)
{
	const struct unwind_sample *s = u->sample;
	const uint64_t at = address - s->stack_at;

	if (at >= s->stack_size || s->stack_size - at < sizeof(*value))
		return false;
	memcpy(value, (const char *)s->stack + at, sizeof(*value));
	return true;
}

static bool read_entry(struct unwinder *u, uint64_t address, unw_word_t *value)
{
	const struct unwindtables_entry *entry;
	const uint64_t at = (address - ENTRIES_AT) / sizeof(*entry);
	size_t nr;

	if (!u->searching || address < ENTRIES_AT)
		return false;
	entry = unwindtables_entries(u->tables, &nr);
	if (at >= nr)
		return false;
	memcpy(value, &entry[at], sizeof(*value));
	return true;
}

/* The descriptions may lie where the process has nothing that may be executed. */
static bool read_tables(struct unwinder *u, uint64_t address, unw_word_t *value)
{
	const struct unwind_mapping *m = find_mapping(u, address);
	uint64_t slide;
	const struct unwindtables *t = find_slide(u, m, address, &slide);

	if (t)
		return unwindtables_read(t, address - slide, value);
	return u->tables && unwindtables_read(u->tables, address - u->slide, value);
}

static int on_access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *value,
			 int write, void *arg)
{
	struct unwinder *u = arg;

	if (write || ++u->nr_reads > MAX_READS || ++u->nr_chain_reads > MAX_CHAIN_READS)
		return -UNW_EINVAL;
	if (read_stack(u, address, value) || read_entry(u, address, value) ||
	    read_tables(u, address, value))
		return 0;
	if (u->searching) { /* the personality routine's pointer, which is not needed */
		*value = 0;
		return 0;
	}
	u->beyond = true;
	return -UNW_EINVAL;
}

static int on_access_reg(unw_addr_space_t space, unw_regnum_t reg, unw_word_t *value,
			 int write, void *arg)
{
	const struct unwinder *u = arg;

	if (write || reg < 0 || reg >= UNWIND_NR_REGS)
		return -UNW_EBADREG;
	*value = u->sample->regs[reg];
	return 0;
}

static int on_access_fpreg(unw_addr_space_t space, unw_regnum_t reg, unw_fpreg_t *value,
			   int write, void *arg)
{
	return -UNW_EBADREG;
}

static int on_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg)
{
	return -UNW_EINVAL;
}

static int on_get_proc_name(unw_addr_space_t space, unw_word_t address, char *name,
			    size_t size, unw_word_t *offset, void *arg)
{
	return -UNW_ENOINFO;
}

int unwinder_open(unwind_tables_fn tables, void *ctx, struct unwinder **out)
{
	static unw_accessors_t accessors = {
		.find_proc_info = on_find_proc_info,
		.put_unwind_info = on_put_unwind_info,
		.get_dyn_info_list_addr = on_get_dyn_info,
		.access_mem = on_access_mem,
		.access_reg = on_access_reg,
		.access_fpreg = on_access_fpreg,
		.resume = on_resume,
		.get_proc_name = on_get_proc_name,
	};
	struct unwinder *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->find_tables = tables;
	u->ctx = ctx;
	u->space = unw_create_addr_space(&accessors, 0);
	if (!u->space) {
		free(u);
		return -ENOMEM;
	}
	unw_set_caching_policy(u->space, UNW_CACHE_GLOBAL);
	unw_set_cache_size(u->space, CACHED_FRAMES, 0);
	*out = u;
	return 0;
}

void unwinder_close(struct unwinder *u)
{
	if (!u)
		return;
	unw_destroy_addr_space(u->space);
	free(u->mapping);
	free(u);
}

int unwinder_map(struct unwinder *u, const struct unwind_mapping *m, size_t nr)
{
	struct unwind_mapping *copy = malloc((nr + 1) * sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, m, nr * sizeof(*copy));
	free(u->mapping);
	u->mapping = copy;
	u->nr = nr;
	u->last = NULL;
	u->tables = NULL;
	unw_flush_cache(u->space, 0, 0);
	return 0;
}

void unwinder_forget(struct unwinder *u)
{
	u->tables = NULL;
}

/* Why there is no caller, by what the step said. */
static enum unwind_end why(const struct unwinder *u, int step)
{
	if (u->missed)
		return UNWIND_NO_TABLE;
	if (!step)
		return UNWIND_ROOT;
	return u->beyond ? UNWIND_COPY : UNWIND_BROKEN;
}

/*
 * Adds the frame that the cursor is at. Returns whether to look for its caller. Stacks
 * grow down, so a caller's frame is above the callee's. This need not hold for code
 * that a signal interrupted: it may not have made its frame yet.
 */
static bool take_frame(struct unwinder *u, unw_cursor_t *cursor, uint64_t *below,
		       bool *returns, struct unwind_chain *out)
{
	const struct unwind_mapping *m;
	unw_word_t ip, sp;

	if (unw_get_reg(cursor, UNW_REG_IP, &ip) ||
	    unw_get_reg(cursor, UNW_REG_SP, &sp)) {
		out->end = UNWIND_BROKEN;
		return false;
	}
	if (!ip) {
		out->end = UNWIND_ROOT;
		return false;
	}
	m = find_mapping(u, ip);
	if (out->nr && !m) {
		out->end = UNWIND_UNMAPPED;
		return false;
	}
	if (out->nr && *returns && sp < *below + out->frame[out->nr - 1].returns) {
		out->end = UNWIND_LOOP;
		return false;
	}
	out->frame[out->nr++] = (struct unwind_frame){ ip, *returns };
	*below = sp;
	u->tables = find_slide(u, m, ip, &u->slide);
	*returns = !u->tables || !unwindtables_is_signal(u->tables, ip - u->slide);
	out->end = UNWIND_DEPTH;
	return out->nr < UNWIND_MAX_FRAMES;
}

void unwinder_run(struct unwinder *u, const struct unwind_sample *s,
		  struct unwind_chain *out)
{
	unw_cursor_t cursor;
	bool returns = false;
	uint64_t below = 0;
	int step;

	u->sample = s;
	u->nr_reads = u->nr_chain_reads = 0;
	out->nr = out->nr_guessed = 0;
	out->end = UNWIND_BROKEN;
	if (unw_init_remote(&cursor, u->space, u))
		return;
	while (take_frame(u, &cursor, &below, &returns, out)) {
		u->beyond = u->missed = false;
		u->nr_reads = 0;
		step = unw_step(&cursor);
		if (step <= 0) {
			out->end = why(u, step);
			return;
		}
		out->nr_guessed += u->missed;
	}
}
