/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit.c - finds the code object of a sample, and keeps code objects that have samples
 *
 * A look-up only uses memory. It notes what is missing: the identity of a new process,
 * the part of its files up to the sample's time, or the bytes of the code.
 * jit_read_noted() reads these, and then the look-up is repeated.
 *
 * Samples of code that no file names are kept until the flush, with their process.
 */
#include "config.h"

#include "daemon/jit/jit.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/times.h"
#include "daemon/jit/jitimage.h"
#include "daemon/jit/jitread.h"

#define ROUND_BUDGET (16u << 20) /* bytes read and sorted in a round */
#define TRY_COST     (64u << 10) /* of the budget, for opening a file */
#define FORGET_AFTER 3           /* rounds without a sample */
#define MAX_COPIED   1024        /* code objects in one page, older ones included */
#define ORDER_NS     (100 * NSEC_PER_MSEC)

/*
 * What is known about the identity of a process:
 *
 *   UNASKED ── it was read ──> KNOWN
 *      └── the process has ended ──> GONE, until the round ends
 *
 * A look-up enters a process as UNASKED; jit_read_noted() reads its identity.
 */
enum owner_state { OWNER_UNASKED, OWNER_KNOWN, OWNER_GONE };

struct jit_process {
	struct hnode node; /* by tgid */
	enum owner_state state;
	struct jit_owner owner;    /* UNASKED, GONE: only its tgid */
	struct process who;        /* as jit_retry_waiting() shows it */
	struct known_image *image; /* of the comm; NULL: not asked for yet */
	char *dump_path;           /* NULL: it has none */
	struct jit_file file;      /* the dump, or the text */
	struct jitmap map;
	uint64_t tried_ns; /* when it was last read */
	uint32_t round;    /* in which it was last used */
	uint32_t nr_waiting;
	struct jit_process *next_noted;
	bool noted;
	uint64_t noted_from_ns, noted_to_ns; /* the interval of what was looked up */
};

/* A look-up that found nothing, as its process's files have not been read so far. */
struct jit_lookup {
	struct jit_process *process;
	uint64_t pc, from_ns, to_ns;
};

struct waiting {
	struct jit_process *process;
	struct jit_sample sample;
};

struct jit {
	struct images *images;
	struct hmap processes, objects;
	struct jit_process *noted; /* jit_read_noted()'s, by next_noted */
	struct jit_lookup *wanted; /* likewise; each one's process is noted */
	size_t nr_wanted;
	struct waiting *waiting;
	size_t nr_waiting;
	uint64_t nr_samples; /* that wait */
	size_t map_bytes, code_bytes, budget;
	uint32_t round;
};

struct jit *jit_new(struct images *im)
{
	struct jit *j = calloc(1, sizeof(*j));

	if (j) {
		j->images = im;
		j->budget = ROUND_BUDGET;
	}
	return j;
}

static void process_free(struct jit *j, struct jit_process *p)
{
	j->map_bytes -= jitmap_memory(&p->map);
	hmap_remove(&j->processes, &p->node);
	jitmap_fini(&p->map);
	free(p->dump_path);
	name_put(p->who.cgroup);
	name_put(p->who.label);
	free(p);
}

void jit_free_objects(struct jit_object *list)
{
	while (list) {
		struct jit_object *o = list;

		list = o->next;
		free(o->bytes);
		free(o);
	}
}

void jit_free(struct jit *j)
{
	struct hnode *n, *next;

	if (!j)
		return;
	jit_free_objects(jit_take(j));
	hmap_for_each (&j->processes, n, next)
		process_free(j, container_of(n, struct jit_process, node));
	hmap_fini(&j->processes);
	hmap_fini(&j->objects);
	free(j->wanted);
	free(j->waiting);
	free(j);
}

bool jit_may_hold(const struct known_image *image)
{
	static const char *const files[] = { "/memfd:", "/dev/zero", "/SYSV",
					     "/anon_hugepage" };
	const char *name = image->desc.name;

	if (image->unknown == SAMPLE_ANONYMOUS)
		return true;
	if (image->unknown != SAMPLE_KEPT || image->desc.kind != IMAGE_FILE)
		return false;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!strncmp(name, files[i], strlen(files[i])))
			return true;
	}
	return false;
}

static struct jit_process *find_process(struct jit *j, const struct process *p)
{
	struct hnode *n = hmap_first(&j->processes, hash_u64(p->tgid));

	for (; n; n = hmap_next(n)) {
		struct jit_process *jp = container_of(n, struct jit_process, node);

		if ((uint32_t)jp->owner.tgid == p->tgid &&
		    jp->who.start_ns == p->start_ns)
			return jp;
	}
	return NULL;
}

static struct jit_process *find_known(struct jit *j, const struct process *p)
{
	struct jit_process *jp = find_process(j, p);

	return jp && jp->state == OWNER_KNOWN ? jp : NULL;
}

/* Enters a process that was not seen before. NULL: there is no room. */
static struct jit_process *add_process(struct jit *j, const struct process *p)
{
	struct jit_process *jp;

	if (j->processes.nr >= JIT_MAX_PROCESSES || p->superseded)
		return NULL;
	jp = calloc(1, sizeof(*jp));
	if (!jp)
		return NULL;
	jp->owner.tgid = (pid_t)p->tgid;
	jp->who.tgid = p->tgid;
	jp->who.start_ns = p->start_ns;
	if (hmap_insert(&j->processes, &jp->node, hash_u64(p->tgid))) {
		free(jp);
		return NULL;
	}
	jp->round = j->round;
	return jp;
}

/* Reads the identity of a process. If there was no answer in time, it stays UNASKED. */
static void ask_owner(struct jit *j, struct jit_process *p)
{
	struct jit_owner owner;
	int err = jit_owner_read(images_timed_child(j->images), p->owner.tgid, &owner);

	if (!err) {
		p->owner = owner;
		p->state = OWNER_KNOWN;
	} else if (err != -ETIMEDOUT && err != -ECHILD && !err_is_shortage(err)) {
		p->state = OWNER_GONE;
	}
}

static void follow_name(struct name **name, struct name *now)
{
	if (*name == now)
		return;
	name_put(*name);
	*name = name_hold(now);
}

/* Looks up the process in the process map only. */
static struct jit_process *meet_process(struct jit *j, const struct process *p)
{
	struct jit_process *jp = find_process(j, p);

	if (!jp)
		jp = add_process(j, p);
	if (!jp)
		return NULL;
	jp->round = j->round;
	if (strcmp(jp->who.comm, p->comm)) {
		snprintf(jp->who.comm, sizeof(jp->who.comm), "%s", p->comm);
		jp->image = NULL;
	}
	follow_name(&jp->who.cgroup, p->cgroup);
	follow_name(&jp->who.label, p->label);
	if (!jp->dump_path) {
		const struct known_image *dump = procmap_find_image(p, jitread_is_dump);

		jp->dump_path = dump ? strdup(dump->desc.name) : NULL;
	}
	return jp;
}

/*
 * Returns a process that writes a jitdump, or NULL. Such a process has mapped its dump,
 * so nothing has to be read for all other processes.
 */
static struct jit_process *get_dumping(struct jit *j, const struct process *p)
{
	struct jit_process *jp;

	if (!find_process(j, p) && !procmap_find_image(p, jitread_is_dump))
		return NULL;
	jp = meet_process(j, p);
	if (!jp || !jp->dump_path)
		return NULL;
	if (jp->state == OWNER_UNASKED)
		ask_owner(j, jp);
	return jp->state == OWNER_KNOWN ? jp : NULL;
}

bool jit_note(struct jit *j, const struct process *p)
{
	struct jit_process *jp = find_process(j, p);

	if (jp && jp->state != OWNER_UNASKED)
		return false;
	if (!jp)
		jp = add_process(j, p);
	if (jp)
		ask_owner(j, jp);
	return jp && jp->state == OWNER_KNOWN;
}

/* Reads new entries, and removes code that was replaced before horizon_ns. */
static void refresh(struct jit *j, struct jit_process *p, uint64_t horizon_ns)
{
	size_t before = jitmap_memory(&p->map);

	if (j->map_bytes > JIT_MAX_BYTES || j->budget < TRY_COST)
		return;
	j->budget -= TRY_COST;
	p->tried_ns = time_mono_ns();
	if (p->dump_path)
		jitread_dump(images_timed_child(j->images), &p->owner, p->dump_path,
			     &p->file, &p->map, &j->budget);
	else
		jitread_text(images_timed_child(j->images), &p->owner, &p->file,
			     &p->map, &j->budget);
	if (p->map.nr != p->map.nr_built) {
		size_t work = p->map.nr * sizeof(*p->map.code);

		jitmap_build(&p->map, horizon_ns);
		j->budget -= work < j->budget ? work : j->budget;
	}
	j->map_bytes += jitmap_memory(&p->map) - before;
}

static struct known_image *image_of(struct jit *j, struct jit_process *p)
{
	static const struct image_source none;
	char name[PROCMAP_COMM_SIZE + 8];

	if (!p->image) {
		snprintf(name, sizeof(name), "[jit:%s]", p->who.comm);
		p->image = images_get_special(j->images, IMAGE_JIT, name, &none);
	}
	return p->image;
}

/* The code's bytes, if it has a dump and there is room. */
static uint8_t *read_bytes(struct jit *j, const struct jit_process *p,
			   const struct jit_code *c)
{
	const uint64_t size = c->end - c->start;
	uint8_t *bytes;

	if (!c->bytes_at || size > JIT_MAX_OBJECT_SIZE ||
	    j->code_bytes + size > JIT_MAX_CODE_BYTES)
		return NULL;
	bytes = malloc(size);
	if (bytes && jitread_bytes(images_timed_child(j->images), &p->owner,
				   p->dump_path, &p->file, c->bytes_at, size, bytes)) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

/* The result is below 2^63, so the offsets of a code object do not wrap. */
static uint64_t hash_object(const char *name, uint64_t size, const uint8_t *bytes)
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx sha;
	uint64_t hash;

	sha256_init(&sha);
	sha256_update(&sha, strlen(name) + 1, (const uint8_t *)name);
	sha256_update(&sha, sizeof(size), (const uint8_t *)&size);
	if (bytes)
		sha256_update(&sha, size, bytes);
	sha256_digest(&sha, sizeof(digest), digest);
	memcpy(&hash, digest, sizeof(hash));
	return (hash >> 1 & ~(uint64_t)15) | 16;
}

static struct jit_object *find_object(struct jit *j, const struct known_image *image,
				      uint64_t offset)
{
	struct hnode *n = hmap_first(&j->objects, offset);

	for (; n; n = hmap_next(n)) {
		struct jit_object *o = container_of(n, struct jit_object, node);

		if (o->image == image && o->offset == offset)
			return o;
	}
	return NULL;
}

/* Makes the object of code that has its first sample since the last flush. */
static int add_object(struct jit *j, const struct jit_process *p, struct jit_code *c)
{
	const char *name = jitmap_name(&p->map, c);
	struct jit_object *o;

	if (j->objects.nr >= JIT_MAX_OBJECTS)
		return -ENOSPC;
	o = calloc(1, sizeof(*o) + strlen(name) + 1);
	if (!o)
		return -ENOMEM;
	strcpy(o->name, name);
	o->image = p->image;
	o->size = c->end - c->start;
	o->bytes = read_bytes(j, p, c);
	if (!c->offset)
		c->offset = hash_object(name, o->size, o->bytes);
	o->offset = c->offset;
	if (find_object(j, o->image, o->offset)) { /* the same, at another address */
		jit_free_objects(o);
		return 0;
	}
	if (hmap_insert(&j->objects, &o->node, o->offset)) {
		jit_free_objects(o);
		return -ENOMEM;
	}
	j->code_bytes += o->bytes ? o->size : 0;
	return 0;
}

/*
 * Looks up a sample of p without reading any file. -EAGAIN: the code is known, but
 * its object has not been made yet.
 */
static int look_up(struct jit *j, struct jit_process *p, uint64_t pc, uint64_t from_ns,
		   uint64_t to_ns, struct known_image **image, uint64_t *bias)
{
	struct jit_code *c;
	int err = jitmap_find(&p->map, pc, from_ns, to_ns, &c);

	if (!err && !image_of(j, p))
		err = -ENOMEM;
	if (!err && (!c->offset || !find_object(j, p->image, c->offset)))
		return -EAGAIN;
	if (err)
		return err == -EEXIST ? err : -ENOENT;
	*image = p->image;
	*bias = c->offset - c->start;
	return 0;
}

/* Makes the object of the code that held pc, if there was one; its bytes are read. */
static void make_object(struct jit *j, struct jit_process *p, uint64_t pc,
			uint64_t from_ns, uint64_t to_ns)
{
	struct known_image *image;
	struct jit_code *c;
	uint64_t bias;

	if (look_up(j, p, pc, from_ns, to_ns, &image, &bias) == -EAGAIN &&
	    !jitmap_find(&p->map, pc, from_ns, to_ns, &c))
		add_object(j, p, c);
}

/*
 * Reads what is new in p's file, unless it was read after to_ns. Returns whether it
 * has now been read after to_ns.
 */
static bool is_read(struct jit *j, struct jit_process *p, uint64_t from_ns,
		    uint64_t to_ns)
{
	if (p->tried_ns <= to_ns)
		refresh(j, p, from_ns);
	return p->tried_ns > to_ns;
}

/* For jit_read_noted(). -EAGAIN, or -ENOENT when there is no room. */
static int note(struct jit *j, const struct jit_lookup *w)
{
	struct jit_process *p = w->process;

	if (j->nr_wanted == JIT_MAX_WANTED || GROW(j->wanted, j->nr_wanted))
		return -ENOENT;
	j->wanted[j->nr_wanted++] = *w;
	if (!p->noted) {
		p->noted = true;
		p->noted_from_ns = w->from_ns;
		p->noted_to_ns = w->to_ns;
		p->next_noted = j->noted;
		j->noted = p;
	}
	if (w->from_ns < p->noted_from_ns)
		p->noted_from_ns = w->from_ns;
	if (w->to_ns > p->noted_to_ns)
		p->noted_to_ns = w->to_ns;
	return -EAGAIN;
}

int jit_find(struct jit *j, const struct process *p, uint64_t pc, uint64_t from_ns,
	     uint64_t to_ns, struct known_image **image, uint64_t *bias)
{
	struct jit_process *jp = meet_process(j, p);
	const struct jit_lookup wanted = { jp, pc, from_ns, to_ns };
	int err = -EAGAIN;

	if (!jp || jp->state == OWNER_GONE)
		return -ENOENT;
	/* If the map was read before the sample, it may have code that was replaced. */
	if (jp->state == OWNER_KNOWN && jp->tried_ns > to_ns)
		err = look_up(j, jp, pc, from_ns, to_ns, image, bias);
	return err == -EAGAIN ? note(j, &wanted) : err;
}

void jit_read_noted(struct jit *j)
{
	struct jit_process *p;

	while ((p = j->noted)) {
		j->noted = p->next_noted;
		p->noted = false;
		if (p->state == OWNER_UNASKED)
			ask_owner(j, p);
		if (p->state == OWNER_KNOWN)
			is_read(j, p, p->noted_from_ns, p->noted_to_ns);
	}
	for (size_t i = 0; i < j->nr_wanted; i++) {
		const struct jit_lookup *w = &j->wanted[i];

		if (w->process->tried_ns > w->to_ns)
			make_object(j, w->process, w->pc, w->from_ns, w->to_ns);
	}
	j->nr_wanted = 0;
}

bool jit_has_tables(struct jit *j, const struct process *p, uint64_t when_ns)
{
	struct jit_process *jp = get_dumping(j, p);

	return jp && is_read(j, jp, 0, when_ns) && jp->file.has_tables;
}

int jit_find_tables(struct jit *j, const struct process *p, uint64_t pc,
		    uint64_t when_ns, struct jit_tables *out)
{
	struct jit_process *jp = find_known(j, p);
	struct jit_code *c;
	int err = jp ? jitmap_find(&jp->map, pc, when_ns, when_ns, &c) : -ENOENT;

	if (!err)
		*out = (struct jit_tables){ c->start, c->end, c->tables_at,
					    c->tables_size };
	return err;
}

int jit_open_tables(struct jit *j, const struct process *p, const struct jit_tables *t)
{
	const struct jit_process *jp = find_known(j, p);
	struct jitimage *image;
	int err;

	if (!jp || !jp->dump_path)
		return -ESRCH;
	image = jitimage_new(t->end - t->start, t->size);
	if (!image)
		return -ENOMEM;
	err = jitread_bytes(images_timed_child(j->images), &jp->owner, jp->dump_path,
			    &jp->file, t->at, t->size, jitimage_tables(image));
	if (!err)
		err = jitimage_open(image);
	jitimage_free(image);
	return err;
}

bool jit_has_code(struct jit *j, const struct process *p)
{
	struct jit_process *jp = get_dumping(j, p);

	if (!jp)
		return false;
	if (!jp->file.at)
		refresh(j, jp, 0);
	return jp->file.at && !jp->file.is_foreign;
}

/* Which bytes of the dump go where in [address, address + size). */
static int find_pieces(const struct jit_code *const *code, int nr, uint64_t address,
		       size_t size, struct jitread_piece *out, uint64_t *reach)
{
	int n = 0;

	for (int i = 0; i < nr; i++) {
		const struct jit_code *c = code[i];
		const uint64_t from = c->start > address ? c->start : address;
		const uint64_t end = c->end < address + size ? c->end : address + size;

		if (!c->bytes_at)
			continue;
		out[n] = (struct jitread_piece){ c->bytes_at + (from - c->start),
						 (uint32_t)(end - from),
						 (uint32_t)(from - address) };
		reach[n++] = end;
	}
	return n;
}

size_t jit_copy(struct jit *j, const struct process *p, uint64_t address, void *to,
		size_t size, uint32_t *order)
{
	const struct jit_process *jp = find_known(j, p);
	const struct jit_code *code[MAX_COPIED];
	struct jitread_piece piece[JITREAD_MAX_PIECES];
	uint64_t end[JITREAD_MAX_PIECES], reach = address;
	size_t nr;

	if (!jp || !jp->dump_path)
		return 0;
	nr = jitmap_overlapping(&jp->map, address, address + size, code, MAX_COPIED);
	memset(to, 0, size);
	for (size_t i = 0; i < nr; i += JITREAD_MAX_PIECES) {
		const size_t n =
			nr - i < JITREAD_MAX_PIECES ? nr - i : JITREAD_MAX_PIECES;
		const int wanted =
			find_pieces(code + i, (int)n, address, size, piece, end);
		const int got =
			jitread_pieces(images_timed_child(j->images), &jp->owner,
				       jp->dump_path, &jp->file, piece, wanted, to);

		for (int k = 0; k < got; k++)
			reach = end[k] > reach ? end[k] : reach;
		if (got < wanted)
			break;
	}
	*order = jp->map.order;
	return reach - address;
}

uint32_t jit_order(struct jit *j, const struct process *p)
{
	struct jit_process *jp = find_known(j, p);

	if (jp && jp->tried_ns + ORDER_NS < time_mono_ns())
		refresh(j, jp, 0);
	return jp ? jp->map.order : 0;
}

bool jit_was_copied(struct jit *j, const struct process *p, uint64_t pc,
		    uint64_t when_ns, uint32_t order)
{
	struct jit_process *jp = find_known(j, p);
	struct jit_code *c;

	return jp && !jitmap_find(&jp->map, pc, when_ns, when_ns, &c) &&
	       c->order < order;
}

bool jit_wait(struct jit *j, const struct process *p, const struct jit_sample *s)
{
	struct jit_process *jp = find_known(j, p);

	if (!jp || j->nr_waiting == JIT_MAX_WAITING)
		return false;
	if (GROW(j->waiting, j->nr_waiting))
		return false;
	j->waiting[j->nr_waiting++] = (struct waiting){ jp, *s };
	j->nr_samples += cpi_entry_count(&s->entry);
	jp->nr_waiting++;
	return true;
}

uint64_t jit_nr_waiting(const struct jit *j)
{
	return j->nr_samples;
}

void jit_retry_waiting(struct jit *j, jit_retry_fn fn, void *ctx)
{
	uint64_t now_ns = time_mono_ns();

	j->budget = ROUND_BUDGET;
	for (size_t i = 0; i < j->nr_waiting; i++) {
		const struct jit_sample *s = &j->waiting[i].sample;
		struct jit_process *p = j->waiting[i].process;
		struct known_image *image = NULL;
		uint64_t bias = 0;
		int err;

		if (p->tried_ns < now_ns)
			refresh(j, p, 0);
		make_object(j, p, cpi_entry_pc(&s->entry), s->from_ns, s->to_ns);
		err = look_up(j, p, cpi_entry_pc(&s->entry), s->from_ns, s->to_ns,
			      &image, &bias);
		fn(ctx, s, &p->who, err == -EAGAIN ? -ENOENT : err, image, bias);
		p->nr_waiting--;
	}
	j->nr_waiting = 0;
	j->nr_samples = 0;
}

struct jit_object *jit_take(struct jit *j)
{
	struct jit_object *list = NULL;
	struct hnode *n, *next;

	hmap_for_each (&j->objects, n, next) {
		struct jit_object *o = container_of(n, struct jit_object, node);

		hmap_remove(&j->objects, n);
		o->next = list;
		list = o;
	}
	j->code_bytes = 0;
	return list;
}

static bool is_gone(const struct jit_process *p)
{
	return kill(p->owner.tgid, 0) && errno == ESRCH;
}

/* Whether nothing is lost if it is forgotten. */
static bool is_over(const struct jit *j, const struct jit_process *p)
{
	if (p->nr_waiting || p->noted)
		return false;
	if (p->state == OWNER_GONE)
		return true;
	return p->round + FORGET_AFTER < j->round &&
	       (!p->map.nr || is_gone(p) || j->map_bytes > JIT_MAX_BYTES / 2);
}

void jit_next_round(struct jit *j)
{
	struct hnode *n, *next;

	j->budget = ROUND_BUDGET;
	j->round++;
	hmap_for_each (&j->processes, n, next) {
		struct jit_process *p = container_of(n, struct jit_process, node);

		if (is_over(j, p))
			process_free(j, p);
	}
}

void jit_mark_images(const struct jit *j)
{
	struct hnode *n, *next;

	hmap_for_each (&j->processes, n, next) {
		struct jit_process *p = container_of(n, struct jit_process, node);

		if (p->image)
			p->image->marked = true;
	}
	hmap_for_each (&j->objects, n, next)
		container_of(n, struct jit_object, node)->image->marked = true;
}
