/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * imagecache.c - the images of a database, opened for their symbols and code
 *
 * Opening an image reads its symbols, so a few images stay open. Profiles come grouped
 * by image, so a few are enough. For every image the cache remembers whether opening
 * failed.
 */
#include "config.h"

#include "report/select/imagecache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/image/captured.h"
#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/hmap.h"
#include "base/log.h"
#include "base/times.h"
#include "db/core/captures.h"
#include "db/profile/pack.h"
#include "decode/elfid.h"
#include "report/cache/symbolfile.h"
#include "report/cache/verified.h"

#define MAX_OPEN 8 /* unless more are asked for */

struct cached_image {
	struct hnode node;
	int64_t id;
	struct image *image; /* NULL: closed, or could not be opened (err) */
	int err;
	bool warned_of_lines;
	bool pinned; /* it stays open */
	struct image_mark mark;
	uint64_t used; /* the clock at its last use */
};

struct image_cache {
	struct db *db;
	enum machine machine;
	struct hmap map;
	size_t nr_open, max_open;
	size_t nr_failed;
	enum image_warnings warn;
	uint64_t clock;
	struct image_search search;
	bool symbols_written; /* for symbolfile_limit() */
	struct verified *verified;
	struct remote *remote;     /* NULL: no server is asked */
	struct image_trail *trail; /* NULL: nobody wants one */
};

struct image_cache *image_cache_new(struct db *db, enum machine machine,
				    enum image_warnings warn)
{
	struct image_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->verified = verified_open();
	if (!cache->verified) {
		free(cache);
		return NULL;
	}
	cache->db = db;
	cache->machine = machine;
	cache->warn = warn;
	cache->max_open = MAX_OPEN;
	cache->search.recall = symbolfile_recall;
	cache->search.keep = symbolfile_keep;
	cache->search.kept = &cache->symbols_written;
	return cache;
}

void image_cache_hold(struct image_cache *cache, size_t nr)
{
	cache->max_open = nr;
}

static struct cached_image *entry_of(struct hnode *n)
{
	return container_of(n, struct cached_image, node);
}

static size_t max_warnings(const struct image_cache *cache)
{
	static const size_t max[] = {
		[IMAGE_WARN_NEVER] = 0,
		[IMAGE_WARN_ONE] = 1,
		[IMAGE_WARN_TEN] = 10,
		[IMAGE_WARN_ALL] = SIZE_MAX,
	};

	return max[cache->warn];
}

static void warn_of_others(const struct image_cache *cache)
{
	const size_t named = max_warnings(cache);

	if (!named || cache->nr_failed <= named)
		return;
	log_warn("%zu more %s could not be opened%s", cache->nr_failed - named,
		 cache->nr_failed - named == 1 ? "image" : "images",
		 cache->warn == IMAGE_WARN_ONE ? " ('cpi prof -v' names them)" : "");
}

void image_cache_free(struct image_cache *cache)
{
	struct hnode *n, *next;

	if (!cache)
		return;
	warn_of_others(cache);
	hmap_for_each (&cache->map, n, next) {
		image_close(entry_of(n)->image);
		free(entry_of(n));
	}
	hmap_fini(&cache->map);
	remote_close(cache->remote);
	if (cache->symbols_written)
		symbolfile_limit();
	verified_close(cache->verified);
	free(cache);
}

static bool is_asked_for(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value && strcmp(value, "0") != 0;
}

int image_cache_search(struct image_cache *cache, const char *debug_dir,
		       bool debuginfod)
{
	int err;

	cache->search.directory = debug_dir ? debug_dir : getenv("CPI_DEBUG_DIR");
	if (!debuginfod && !is_asked_for("CPI_DEBUGINFOD"))
		return 0;
	err = remote_open(&cache->remote);
	if (err)
		return err;
	cache->search.fetch = remote_debug_file;
	cache->search.ctx = cache->remote;
	return 0;
}

void image_cache_follow(struct image_cache *cache, struct image_trail *t)
{
	cache->trail = t;
	cache->search.look = image_trail_look;
	cache->search.looked = t;
}

const struct image_search *image_cache_places(const struct image_cache *cache)
{
	return &cache->search;
}

struct remote *image_cache_remote(const struct image_cache *cache)
{
	return cache->remote;
}

static struct cached_image *find_entry(struct image_cache *cache, int64_t id)
{
	const uint64_t hash = hash_u64(id);
	struct hnode *n;
	struct cached_image *e;

	for (n = hmap_first(&cache->map, hash); n; n = hmap_next(n)) {
		if (entry_of(n)->id == id)
			return entry_of(n);
	}
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->id = id;
	if (hmap_insert(&cache->map, &e->node, hash)) {
		free(e);
		return NULL;
	}
	return e;
}

static void close_oldest(struct image_cache *cache)
{
	struct cached_image *oldest = NULL;
	struct hnode *n, *next;

	hmap_for_each (&cache->map, n, next) {
		struct cached_image *e = entry_of(n);

		if (e->image && !e->pinned && (!oldest || e->used < oldest->used))
			oldest = e;
	}
	if (!oldest)
		return;
	image_close(oldest->image);
	oldest->image = NULL;
	cache->nr_open--;
}

void image_cache_pin(struct image_cache *cache, bool pinned)
{
	struct hnode *n, *next;

	hmap_for_each (&cache->map, n, next)
		entry_of(n)->pinned = pinned && entry_of(n)->image;
}

static int open_captured(struct image_cache *cache, const struct query_image *row,
			 struct image_mark *mark, struct image **out)
{
	struct query_capture c;
	struct capture_symbol *symbols;
	struct capture_code *codes;
	int err;

	err = query_capture(cache->db, row->id, &c);
	if (err)
		return err;
	symbols = calloc(c.nr_symbols + 1, sizeof(*symbols));
	codes = calloc(c.nr_codes + 1, sizeof(*codes));
	if (!symbols || !codes) {
		err = -ENOMEM;
		goto out;
	}
	for (size_t i = 0; i < c.nr_symbols; i++) {
		const uint64_t at[] = { c.symbol[i].start, c.symbol[i].size };

		symbols[i] = (struct capture_symbol){ at[0], at[1], c.symbol[i].name };
		hash_add(mark->hash, at, sizeof(at));
		hash_add(mark->hash, c.symbol[i].name, strlen(c.symbol[i].name));
	}
	for (size_t i = 0; i < c.nr_codes; i++) {
		codes[i] = (struct capture_code){ c.code[i].start, c.code[i].size,
						  c.code[i].bytes };
		hash_add(mark->hash, &c.code[i].start, sizeof(c.code[i].start));
		hash_add(mark->hash, c.code[i].bytes, c.code[i].size);
	}
	mark->known = true;
	err = c.nr_symbols || c.nr_codes
		      ? image_open_capture(&row->desc, cache->machine, symbols,
					   c.nr_symbols, codes, c.nr_codes, out)
		      : -CPI_ENOIMAGE;
out:
	free(symbols);
	free(codes);
	query_capture_fini(&c);
	return err;
}

struct captured_parts {
	struct captured *captured;
	struct image_mark *mark;
};

/* Adds a part of a file's captured data. */
static int add_part(void *ctx, const struct capture_part *part)
{
	struct captured_parts *p = ctx;
	struct buf memory = { 0 };
	const uint8_t *body;
	size_t size;
	int err;

	err = pack_get(part->data, part->data_size, CAPTURED_MAX_BODY, &memory, &body,
		       &size);
	if (!err) {
		hash_add(p->mark->hash, body, size);
		err = captured_decode(p->captured, body, size);
	}
	buf_fini(&memory);
	return err;
}

/* Returns -CPI_ENOIMAGE if nothing was captured of the file. */
static int open_captured_file(struct image_cache *cache, const struct query_image *row,
			      struct image_mark *mark, struct image **out)
{
	struct captured *c = malloc(sizeof(*c));
	struct captured_parts parts = { c, mark };
	int err;

	if (!c)
		return -ENOMEM;
	captured_init(c);
	err = captures_each(cache->db, row->id, add_part, &parts);
	if (!err && !c->segments.len)
		err = -CPI_ENOIMAGE;
	if (!err)
		err = image_open_captured(&row->desc, c, out);
	if (err) {
		captured_fini(c);
		free(c);
		return err;
	}
	image_set_search(*out, &cache->search);
	mark->known = true;
	return 0;
}

/*
 * Whether the content of a file is not known, although it ran: the file was deleted
 * before it was read, or a recording has no build id for it because only call chains
 * refer to it.
 */
static bool is_unverified(const struct image_desc *desc)
{
	return desc->inode && !desc->build_id_size && !desc->has_content && !desc->size;
}

/* Checks the file's content hash; build id and name are not enough. */
static int check_content(const struct image_cache *cache, const struct image_desc *desc,
			 int fd)
{
	struct elfid id;
	struct stat st;
	int err;

	if (!desc->has_content)
		return 0;
	if (fstat(fd, &st))
		return -errno;
	if (verified_knows(cache->verified, &st, desc->content))
		return 0;
	err = elfid_read(fd, &id);
	if (!err && memcmp(id.content, desc->content, sizeof(id.content)) != 0)
		err = -CPI_EMISMATCH;
	if (!err)
		verified_note(cache->verified, &st, desc->content, time_real_ns());
	return err;
}

/* Opens an image from fd, and closes fd. fd may be an error. */
static int open_fd(struct image_cache *cache, const struct image_desc *desc, int fd,
		   struct image **out)
{
	int err = fd < 0 ? fd : check_content(cache, desc, fd);

	if (!err)
		return image_open_searching(desc, fd, desc->name, &cache->search, out);
	if (fd >= 0)
		close(fd);
	return err;
}

/* The start of the first epoch. A file that did not change since then is what ran. */
static uint64_t begin_of(const struct image_cache *cache)
{
	struct query_epochs epochs = { 0 };
	uint64_t begin = UINT64_MAX;

	if (query_epochs(cache->db, "all", &epochs))
		return 0;
	for (size_t i = 0; i < epochs.nr; i++)
		begin = epochs.epoch[i].from_ns < begin ? epochs.epoch[i].from_ns
							: begin;
	query_epochs_fini(&epochs);
	return begin;
}

/*
 * Opens the file at its path if it is the same inode, unchanged since before sampling.
 */
static int open_unverified(const struct image_cache *cache,
			   const struct image_desc *desc)
{
	struct stat st;
	const int fd = file_open_regular(AT_FDCWD, desc->name, &st);

	if (fd < 0)
		return fd;
	if (st.st_ino == desc->inode && st.st_dev == desc->device &&
	    st.st_ctim.tv_sec >= 0) {
		if (cache->trail)
			cache->trail->is_open = true; /* other epochs decide, too */
		if ((uint64_t)st.st_ctim.tv_sec < begin_of(cache) / NSEC_PER_SEC)
			return fd;
	}
	close(fd);
	return -CPI_EMISMATCH;
}

/* Opens the file at its path, else from a debuginfod server if that is allowed. */
static int open_file(struct image_cache *cache, const struct query_image *row,
		     struct image **out)
{
	const struct image_desc *desc = &row->desc;
	int err = open_fd(cache, desc,
			  is_unverified(desc)
				  ? open_unverified(cache, desc)
				  : file_open_regular(AT_FDCWD, desc->name, NULL),
			  out);

	if (!err || err == -ENOMEM || !cache->remote)
		return err;
	if (!open_fd(cache, desc,
		     remote_program(cache->remote, desc->build_id, desc->build_id_size),
		     out))
		return 0;
	return err;
}

static void mark_file(const struct image *image, struct image_mark *mark)
{
	struct file_stamp origin[2];

	mark->known = image_origins(image, origin);
	hash_add(mark->hash, origin, sizeof(origin));
}

static int open_image(struct image_cache *cache, const struct query_image *row,
		      struct image_mark *mark, struct image **out)
{
	int err, captured;

	if (row->desc.kind != IMAGE_FILE)
		return open_captured(cache, row, mark, out);
	err = open_file(cache, row, out);
	if (!err)
		mark_file(*out, mark);
	if (!err || err == -ENOMEM)
		return err;
	captured = open_captured_file(cache, row, mark, out);
	if (!captured)
		log_debug("%s: %s: read from what was captured of it", row->desc.name,
			  err_str(err));
	return captured == -CPI_ENOIMAGE ? err : captured;
}

const char *image_cache_why(const struct image_desc *desc, int err)
{
	if (desc->kind != IMAGE_FILE && err == -CPI_ENOIMAGE)
		return "nothing was captured of it";
	if (is_unverified(desc) && err == -CPI_EMISMATCH)
		return "it has no build id in the profile, and the file may have "
		       "changed since";
	if (is_unverified(desc) && err == -ENOENT)
		return "the file was deleted before cpid could read it";
	if (err == -ENODEV)
		return "not a regular file";
	if (err == -ELOOP)
		return "a symbolic link, which the profiled file was not";
	return err_str(err);
}

/* Whether a file in the same state, or the same capture, gives the error again. */
static bool is_lasting(int err)
{
	return -err > CPI_EFIRST || err == -ENOENT || err == -ENOTDIR ||
	       err == -ENODEV || err == -ELOOP || err == -EACCES;
}

static void note_failure(struct image_cache *cache, const char *name, const char *why)
{
	if (cache->nr_failed++ < max_warnings(cache))
		log_warn("%s: %s: its procedures have no names", name, why);
	if (cache->trail)
		image_trail_fail(cache->trail, name, why);
}

void image_cache_fail_again(struct image_cache *cache, const char *failures,
			    size_t size)
{
	const char *end = failures + size, *name, *why;

	while (image_trail_next(&failures, end, &name, &why))
		note_failure(cache, name, why);
}

int image_cache_get(struct image_cache *cache, const struct query_image *row,
		    struct image **out)
{
	struct cached_image *e = find_entry(cache, row->id);

	if (!e)
		return -ENOMEM;
	if (!e->image && !e->err) {
		if (cache->nr_open >= cache->max_open)
			close_oldest(cache);
		e->mark = (struct image_mark){ .hash = { row->desc.kind } };
		e->err = open_image(cache, row, &e->mark, &e->image);
		if (e->err == -ENOMEM) {
			e->err = 0;
			return -ENOMEM;
		}
		if (e->err && cache->trail && !is_lasting(e->err))
			cache->trail->is_open = true;
		if (e->err)
			note_failure(cache, row->desc.name,
				     image_cache_why(&row->desc, e->err));
		else
			cache->nr_open++;
	}
	if (e->err)
		return e->err;
	e->used = ++cache->clock;
	*out = e->image;
	return 0;
}

struct image_mark image_cache_mark(struct image_cache *cache,
				   const struct query_image *row)
{
	const struct cached_image *e = find_entry(cache, row->id);

	return e && e->image ? e->mark : (struct image_mark){ .known = false };
}

void image_cache_warn_lines(struct image_cache *cache, const struct query_image *row,
			    const struct image *image)
{
	const char *missing = image_missing_lines(image);
	struct cached_image *e = missing ? find_entry(cache, row->id) : NULL;

	if (e && !e->warned_of_lines)
		log_warn("%s: %s", row->desc.name, missing);
	if (e)
		e->warned_of_lines = true;
}

const char *image_missing_code(const struct image_desc *desc)
{
	switch (desc->kind) {
	case IMAGE_FILE:
		return "the file does not hold these bytes";
	case IMAGE_KERNEL:
	case IMAGE_IDLE:
	case IMAGE_MODULE:
		return "the kernel's code was not captured";
	case IMAGE_VDSO:
		return "the vDSO's code was not captured";
	case IMAGE_BPF:
		return "the BPF program's code was not captured";
	case IMAGE_TRACE:
		return "a trace has no code, only its text";
	case IMAGE_JIT:
		return "its process announced only names, without code: a jitdump "
		       "has both";
	}
	return "its code was not captured";
}

size_t image_cache_nr_failed(const struct image_cache *cache)
{
	return cache->nr_failed;
}
