/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.c - decides which images are captured, and when
 *
 * For each image the covered offsets are known: they are read from the database once,
 * and then from each reply.
 *
 * I1  images_sweep() never frees a queued image, nor the one that is being captured.
 */
#include "config.h"

#include "daemon/store/capture.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/rangemap.h"
#include "base/times.h"
#include "daemon/store/capture_child.h"
#include "db/core/captures.h"

#define IMAGE_SHARE 16 /* one capture takes at most this part of the limit */
#define MAX_FDS     64 /* descriptors that are kept for queued images */
/*
 * An image with captures waits this many times as long as the last job took. A job
 * counts as at most 20 s: a worker takes no more CPU time than that
 * (helpers/capture.h), and only waits for the rest.
 */
#define REST         10
#define MOST_WORK_NS (20 * NSEC_PER_SEC)
/* covered ranges of all images; if there are more, all are dropped and read again */
#define MAX_RANGES  (1u << 17)
#define MAX_WAITING (1u << 18) /* waiting offsets of all images */
#define RESTART_NS  (60 * NSEC_PER_SEC)
/*
 * An image whose worker gave no answer is tried again after RETRY_NS, then after four
 * times as long, and so on. After MAX_SILENT failures it is given up.
 */
#define RETRY_NS   (20 * NSEC_PER_SEC)
#define MAX_SILENT 5
/* no job is started for this long after a shortage */
#define SHORTAGE_NS (5 * NSEC_PER_SEC)

struct capture_image {
	struct hnode node;
	struct known_image *image;
	struct rangemap covered;
	bool known;        /* covered has the ranges in the database */
	struct buf wanted; /* struct cpi_capture_offset */
	int fd;  /* socket that contains the file's descriptor (images_wrap()); or -1 */
	int err; /* why it cannot be captured; 0: it can */
	unsigned int nr_silent; /* workers in a row that gave no answer */
	uint64_t due_ns;        /* time of the next try; 0: no worker was silent */
	bool queued;
	/* in the queue, which is sorted by goes_before() */
	struct capture_image *next;
};

struct capture {
	struct capture_config cfg;
	struct capture_child child;
	struct hmap entries; /* struct capture_image, by image */
	struct capture_image *first, *running;
	size_t nr_ranges, nr_waiting, nr_fds;
	/*
	 * start of the running job; earliest start of a job for an image with captures
	 */
	uint64_t begun_ns, next_ns;
	/* when to restart cpi-capture, which has died; 0: it runs */
	uint64_t restart_ns;
	uint64_t bytes; /* size of all captures in the database */
	uint64_t nr_parts, nr_procedures, nr_left_out, nr_failed, sum_ns, max_ns;
	uint64_t shortage_end_ns; /* no job starts before this */
	bool was_silent;          /* the warning about a silent worker was logged */
	/* the warning about a shortage was logged; reset by the next answer */
	bool is_short;
};

static struct capture_image *entry_of(struct hnode *n)
{
	return container_of(n, struct capture_image, node);
}

static struct capture_image *find_entry(struct capture *c, struct known_image *image)
{
	const uint64_t hash = hash_u64((uintptr_t)image);
	struct capture_image *e;

	for (struct hnode *n = hmap_first(&c->entries, hash); n; n = hmap_next(n)) {
		if (entry_of(n)->image == image)
			return entry_of(n);
	}
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->image = image;
	e->fd = -1;
	if (hmap_insert(&c->entries, &e->node, hash)) {
		free(e);
		return NULL;
	}
	return e;
}

static void close_file(struct capture *c, struct capture_image *e)
{
	if (e->fd < 0)
		return;
	timed_child_dispose(images_timed_child(c->cfg.images), e->fd);
	e->fd = -1;
	c->nr_fds--;
}

static void forget_covers(struct capture *c, struct capture_image *e)
{
	c->nr_ranges -= e->covered.nr;
	rangemap_fini(&e->covered);
	e->covered = (struct rangemap){ 0 };
	e->known = false;
}

static void entry_free(struct capture *c, struct capture_image *e)
{
	hmap_remove(&c->entries, &e->node);
	forget_covers(c, e);
	close_file(c, e);
	buf_fini(&e->wanted);
	free(e);
}

/*
 * Adds the covered ranges of one part, which is not trusted: wrong ranges only cause
 * captures to be missing. Returns 0 or -errno.
 */
static int add_covers(struct capture *c, struct capture_image *e, const void *covers,
		      size_t size)
{
	const uint8_t *pos = covers, *limit = pos + size;
	struct range r = { 0 };
	int more;

	while ((more = captures_next_cover(&pos, limit, &r.start, &r.end)) == 1) {
		const size_t before = e->covered.nr;
		int err = rangemap_insert(&e->covered, &r, NULL, NULL);

		c->nr_ranges += e->covered.nr - before;
		if (err)
			return err;
	}
	return more;
}

struct load {
	struct capture *c;
	struct capture_image *e;
};

static int on_part(void *ctx, const struct capture_part *part)
{
	struct load *l = ctx;

	return add_covers(l->c, l->e, part->covers, part->covers_size);
}

/* Reads the image's covered ranges from the database, once. Returns 0 or -errno. */
static int load_covers(struct capture *c, struct capture_image *e)
{
	struct load l = { c, e };
	struct hnode *n, *next;
	int err;

	if (e->known)
		return 0;
	if (c->nr_ranges > MAX_RANGES)
		hmap_for_each (&c->entries, n, next)
			forget_covers(c, entry_of(n));
	err = captures_covers(c->cfg.db, &e->image->desc, on_part, &l);
	e->known = !err;
	return err;
}

/*
 * Whether the image is a file that was opened and hashed. The vDSO, the kernel and code
 * made at run time are captured elsewhere (outbox_captures.c).
 */
static bool is_capturable(const struct known_image *image)
{
	return image->desc.kind == IMAGE_FILE && image_is_resolved(image) &&
	       image->desc.has_content && image->unknown == SAMPLE_KEPT;
}

static void want_offsets(struct capture *c, struct capture_image *e, struct profile *p)
{
	size_t nr;
	const struct count *count = profile_sorted(p, &nr);

	for (size_t i = 0; count && i < nr && c->nr_waiting < MAX_WAITING; i++) {
		const struct cpi_capture_offset o = { count[i].offset, count[i].n };

		if (rangemap_find(&e->covered, o.offset))
			continue;
		buf_put(&e->wanted, &o, sizeof(o));
		c->nr_waiting += !e->wanted.err;
	}
}

/* New images first, because their files may soon be gone. */
static bool goes_before(const struct capture_image *a, const struct capture_image *b)
{
	if (!a->covered.nr != !b->covered.nr)
		return !a->covered.nr;
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns
				      : a->wanted.len <= b->wanted.len;
}

static void enqueue(struct capture *c, struct capture_image *e)
{
	struct capture_image **at = &c->first;

	if (e->queued || !e->wanted.len)
		return;
	if (e->fd < 0 && c->nr_fds < MAX_FDS && images_is_open(e->image)) {
		e->fd = images_wrap(c->cfg.images, e->image, 0);
		c->nr_fds += e->fd >= 0;
	}
	e->queued = true;
	while (*at && goes_before(*at, e))
		at = &(*at)->next;
	e->next = *at;
	*at = e;
}

static bool is_full(const struct capture *c)
{
	return c->bytes >= c->cfg.max_bytes;
}

void capture_note(struct capture *c, const struct tally *t, bool newcomers)
{
	const uint64_t now = time_mono_ns();
	struct hnode *n, *next;

	if (is_full(c))
		return;
	hmap_for_each (&t->profiles, n, next) {
		const struct tally_profile *p =
			container_of(n, struct tally_profile, node);
		struct capture_image *e;

		if (p->context[0] || !is_capturable(p->image))
			continue;
		e = find_entry(c, p->image);
		if (!e || e->err || e == c->running || now < e->due_ns ||
		    load_covers(c, e) || (newcomers && (e->covered.nr || e->queued)))
			continue;
		want_offsets(c, e, p->profile);
		enqueue(c, e);
	}
}

static int by_offset(const void *va, const void *vb)
{
	const struct cpi_capture_offset *a = va, *b = vb;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

/*
 * Merges the offsets of several events and flushes, so that each occurs once. Returns
 * their number.
 */
static uint32_t merge_offsets(struct capture *c, struct capture_image *e)
{
	struct cpi_capture_offset *o = (struct cpi_capture_offset *)e->wanted.data;
	size_t nr = e->wanted.len / sizeof(*o), kept = 0;

	qsort(o, nr, sizeof(*o), by_offset);
	for (size_t i = 0; i < nr; i++) {
		if (kept && o[kept - 1].offset == o[i].offset)
			o[kept - 1].samples += o[i].samples;
		else
			o[kept++] = o[i];
	}
	if (kept > CPI_CAPTURE_OFFSETS)
		kept = CPI_CAPTURE_OFFSETS; /* the next flush has the others again */
	e->wanted.len = kept * sizeof(*o);
	c->nr_waiting -= nr - kept;
	return (uint32_t)kept;
}

static void describe(const struct capture *c, const struct known_image *image,
		     struct cpi_capture_request *q)
{
	const struct image_desc *d = &image->desc;
	const uint64_t left = c->cfg.max_bytes - c->bytes;

	q->magic = CPI_CAPTURE_MAGIC;
	q->max_bytes = c->cfg.max_bytes / IMAGE_SHARE;
	if (q->max_bytes > left)
		q->max_bytes = left;
	q->size = d->size;
	q->author = image->author;
	q->mtime_ns = d->mtime_ns;
	memcpy(q->content, d->content, sizeof(q->content));
	memcpy(q->build_id, d->build_id, sizeof(q->build_id));
	q->build_id_size = d->build_id_size;
	strncpy(q->path, d->name, sizeof(q->path) - 1);
}

static void give_up_entry(struct capture *c, struct capture_image *e, int err)
{
	log_debug("capture: %s: %s", e->image->desc.name, err_str(err));
	e->err = err;
	c->nr_failed++;
}

static void drop_wanted(struct capture *c, struct capture_image *e)
{
	c->nr_waiting -= e->wanted.len / sizeof(struct cpi_capture_offset);
	buf_fini(&e->wanted);
	close_file(c, e);
}

/*
 * If the worker gave no answer, queues the image again, except after too many such
 * failures. Returns whether it was queued. The worker may only have been too slow,
 * because the machine was busy. The image waits longer each time, behind all new ones,
 * and does not delay others meanwhile.
 */
static bool try_later(struct capture *c, struct capture_image *e, int err)
{
	if (err != -ECHILD && err != -ETIMEDOUT)
		return false;
	if (!c->was_silent)
		log_warn("capture: %s: a worker has ended without an answer (logged "
			 "once; captures_failed in cpi status counts these)",
			 e->image->desc.name);
	c->was_silent = true;
	if (++e->nr_silent == MAX_SILENT)
		return false;
	e->due_ns = time_mono_ns() + (RETRY_NS << 2 * (e->nr_silent - 1));
	c->nr_failed++;
	/* Offsets that wait for long must not keep those of new images out. */
	if (c->nr_waiting > MAX_WAITING / 2)
		drop_wanted(c, e); /* after due_ns a flush has them again */
	enqueue(c, e);
	return true;
}

/*
 * Starts no job for some time, because memory, descriptors or processes were short. The
 * next sweep or flush queues the image again.
 */
static void put_off_entry(struct capture *c, const struct capture_image *e, int err)
{
	if (!c->is_short)
		log_warn("capture: %s: %s: captures wait and are tried again (logged "
			 "once; captures_failed in cpi status counts these)",
			 e->image->desc.name,
			 err == -EBUSY ? "cpi-capture cannot start a worker"
				       : err_str(err));
	c->is_short = true;
	c->shortage_end_ns = time_mono_ns() + SHORTAGE_NS;
	c->nr_failed++;
}

/* The earliest time at which the image may be tried. */
static uint64_t start_ns(const struct capture *c, const struct capture_image *e)
{
	return e->covered.nr && c->next_ns > e->due_ns ? c->next_ns : e->due_ns;
}

/* Removes the first image that may be tried now from the queue; NULL: there is none. */
static struct capture_image *dequeue(struct capture *c)
{
	const uint64_t now = time_mono_ns();
	struct capture_image **at = &c->first, *e;

	while (*at && now < start_ns(c, *at))
		at = &(*at)->next;
	e = *at;
	if (e) {
		*at = e->next;
		e->queued = false;
	}
	return e;
}

static int watch_reply(struct capture *c)
{
	struct epoll_event ev = { .events = EPOLLIN };

	return epoll_ctl(c->cfg.epoll_fd, EPOLL_CTL_ADD, c->child.reply, &ev) < 0
		       ? -errno
		       : 0;
}

static int send_job(struct capture *c, struct capture_image *e)
{
	struct cpi_capture_request q = { 0 };
	int err;

	if (e->fd < 0) {
		e->fd = images_wrap(c->cfg.images, e->image, 0);
		c->nr_fds += e->fd >= 0;
	}
	if (e->fd < 0)
		return e->fd;
	q.nr_offsets = merge_offsets(c, e);
	q.all = !e->covered.nr && !images_stays(c->cfg.images, e->image);
	describe(c, e->image, &q);
	err = capture_child_send(&c->child, &q,
				 (struct cpi_capture_offset *)e->wanted.data, e->fd);
	if (err)
		return err;
	close(e->fd); /* cpi-capture has a copy now */
	e->fd = -1;
	c->nr_fds--;
	return watch_reply(c);
}

static void note_death(struct capture *c)
{
	log_warn("capture: cpi-capture has died: nothing is captured until it is "
		 "started again");
	c->restart_ns = time_mono_ns() + RESTART_NS;
}

/*
 * Sends the first image that may be tried to cpi-capture, or drops it on failure.
 * Returns false if there is none.
 */
static bool start_job(struct capture *c)
{
	struct capture_image *e;
	int err;

	if (!c->child.pid || time_mono_ns() < c->shortage_end_ns)
		return false;
	e = dequeue(c);
	if (!e)
		return false;
	err = is_full(c) ? -CPI_ELIMIT : send_job(c, e);
	if (!err) {
		c->running = e;
		c->begun_ns = time_mono_ns();
		return true;
	}
	drop_wanted(c, e);
	if (err == -EPIPE)
		note_death(c);
	else if (err == -EBUSY || err == -ETIMEDOUT)
		/* its file system does not answer; go on with the next image */
		c->nr_failed++;
	else if (err_is_shortage(err))
		put_off_entry(c, e, err);
	else
		give_up_entry(c, e, err);
	return true;
}

/*
 * Stores a part. If the database cannot be written now, the next flush queues the image
 * again; that is not an error. Returns 0, -ENOMEM, or for a wrong reply -CPI_ECORRUPT.
 */
static int store_part(struct capture *c, struct capture_image *e,
		      const struct cpi_capture_reply *r, const void *covers,
		      const void *data)
{
	const struct capture_part part = { covers, r->covers_size, data, r->data_size };
	const uint8_t *pos = covers, *limit = pos + r->covers_size;
	uint64_t start, end = 0;
	int more;

	while ((more = captures_next_cover(&pos, limit, &start, &end)) == 1)
		;
	if (more || !r->covers_size || !r->data_size)
		return -CPI_ECORRUPT;
	if (captures_add(c->cfg.db, &e->image->desc, &part))
		return 0;
	c->bytes += part.covers_size + part.data_size;
	c->nr_parts++;
	c->nr_procedures += r->nr_procedures;
	c->nr_left_out += r->nr_left_out;
	return add_covers(c, e, covers, r->covers_size);
}

static void note_time(struct capture *c)
{
	const uint64_t now = time_mono_ns(), ns = now - c->begun_ns;

	c->sum_ns += ns;
	if (ns > c->max_ns)
		c->max_ns = ns;
	c->next_ns = now + REST * (ns < MOST_WORK_NS ? ns : MOST_WORK_NS);
}

/* Reads the reply of the running job. Returns false while it is incomplete. */
static bool take_reply(struct capture *c)
{
	struct capture_image *e = c->running;
	struct cpi_capture_reply reply;
	const void *covers, *data;
	int err = capture_child_take(&c->child, &reply, &covers, &data);

	if (err == -EAGAIN)
		return false;
	c->running = NULL;
	note_time(c);
	if (!err)
		err = store_part(c, e, &reply, covers, data);
	if (err != -EBUSY)
		c->is_short = false;
	if (try_later(c, e, err))
		return true;
	if (err == -EBUSY) {
		put_off_entry(c, e, err);
	} else if (err) {
		give_up_entry(c, e, err);
	} else {
		e->nr_silent = 0;
		e->due_ns = 0;
	}
	drop_wanted(c, e);
	return true;
}

static void restart(struct capture *c)
{
	if (!c->restart_ns || time_mono_ns() < c->restart_ns)
		return;
	if (capture_child_start(&c->child))
		c->restart_ns = time_mono_ns() + RESTART_NS;
	else
		c->restart_ns = 0;
}

/*
 * Returns the ms until an image may be tried. Returns 1000 if one may be tried now, but
 * cpi-capture has died or there was a shortage.
 */
static int wait_ms(const struct capture *c)
{
	const uint64_t now = time_mono_ns();
	uint64_t at = UINT64_MAX;

	for (const struct capture_image *e = c->first; e; e = e->next)
		at = start_ns(c, e) < at ? start_ns(c, e) : at;
	return now < at ? (int)((at - now) / NSEC_PER_MSEC) + 1 : 1000;
}

int capture_run(struct capture *c)
{
	restart(c);
	if (c->running && !take_reply(c))
		return 1000; /* to check the timeout */
	while (!c->running && start_job(c))
		;
	if (c->running)
		return 1000;
	return c->first ? wait_ms(c) : -1;
}

static bool is_any_due(const struct capture *c)
{
	const uint64_t now = time_mono_ns();

	for (const struct capture_image *e = c->first; e; e = e->next) {
		if (e->due_ns <= now)
			return true;
	}
	return false;
}

void capture_finish(struct capture *c, uint64_t max_ns)
{
	const uint64_t end_ns = time_mono_ns() + max_ns;

	while ((c->running || is_any_due(c)) && c->child.pid &&
	       time_mono_ns() < end_ns) {
		struct pollfd p = { .fd = c->child.reply, .events = POLLIN };

		c->next_ns = c->shortage_end_ns = 0; /* do not wait between jobs */
		capture_run(c);
		p.fd = c->child.reply;
		if (c->running && poll(&p, 1, 1000) < 0 && errno != EINTR)
			return;
	}
}

void capture_mark_images(struct capture *c)
{
	struct hnode *n, *next;

	hmap_for_each (&c->entries, n, next) {
		struct capture_image *e = entry_of(n);

		if (e->queued || e == c->running)
			e->image->marked = true;
		else if (!e->image->marked)
			entry_free(c, e);
	}
}

int capture_open(const struct capture_config *cfg, struct capture **out)
{
	struct capture *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->cfg = *cfg;
	c->child.socket = c->child.reply = -1;
	err = captures_bytes(cfg->db, &c->bytes);
	if (!err)
		err = capture_child_start(&c->child);
	if (err) {
		log_warn("capture: cannot start cpi-capture: %s: profiles of files "
			 "that will be replaced will have no names",
			 err_str(err));
		capture_close(c);
		return err;
	}
	*out = c;
	return 0;
}

void capture_use(struct capture *c, struct db *db, bool same)
{
	struct hnode *n, *next;

	c->cfg.db = db;
	if (same)
		return;
	hmap_for_each (&c->entries, n, next)
		forget_covers(c, entry_of(n));
	if (captures_bytes(db, &c->bytes))
		c->bytes = 0;
}

void capture_close(struct capture *c)
{
	struct hnode *n, *next;

	if (!c)
		return;
	hmap_for_each (&c->entries, n, next)
		entry_free(c, entry_of(n));
	hmap_fini(&c->entries);
	capture_child_stop(&c->child);
	free(c);
}

void capture_status(const struct capture *c, struct buf *out)
{
	size_t nr = 0;

	for (const struct capture_image *e = c->first; e; e = e->next)
		nr++;
	buf_printf(out, "capture %s\n",
		   !c->child.pid ? "stopped"
		   : is_full(c)  ? "full"
				 : "on");
	buf_printf(out, "captures %llu\n", (unsigned long long)c->nr_parts);
	buf_printf(out, "captures_failed %llu\n", (unsigned long long)c->nr_failed);
	buf_printf(out, "captures_waiting %zu\n", nr + (c->running != NULL));
	buf_printf(out, "capture_procedures %llu\n",
		   (unsigned long long)c->nr_procedures);
	buf_printf(out, "capture_left_out %llu\n", (unsigned long long)c->nr_left_out);
	buf_printf(out, "capture_bytes %llu\n", (unsigned long long)c->bytes);
	buf_printf(out, "capture_limit_bytes %llu\n",
		   (unsigned long long)c->cfg.max_bytes);
	buf_printf(out, "capture_sum_s %.3f\n", (double)c->sum_ns / NSEC_PER_SEC);
	buf_printf(out, "capture_max_s %.3f\n", (double)c->max_ns / NSEC_PER_SEC);
}
