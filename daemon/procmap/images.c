/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * images.c - each mapped file once, and when it is checked again
 *
 *	IMAGE_NEW ── unidentified ─> IMAGE_MET
 *	    │                            │
 *	    │ identified                 │ identified at its first sample,
 *	    │                            │ or not there any more
 *	    └───────> IMAGE_FRESH <──────┘
 *	                 ^   │
 *	   written to    │   │ unchanged for 10 s
 *	                 │   v
 *	             IMAGE_STABLE
 *
 * A shortage of memory or descriptors, or a file system that does not answer, leaves
 * the state unchanged. If the content has changed, the image gets a successor, which
 * begins as IMAGE_NEW. For mappings, a stable file is checked once a second, an old one
 * (CALM_NS) once in ten seconds, and a fresh one in each reading of mapping events.
 *
 * Nearly all mappings are of a few files, so look-ups begin with a small table by
 * inode.
 */
#include "config.h"

#include "daemon/procmap/images.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/os/procroot.h"
#include "daemon/os/time_quota.h"

/*
 * images_meet() may use 1/50 of the time, and at most 200 ms at once. Each process
 * and each user also has limits of its own (timed_child.h).
 */
static const struct time_quota_limit meeting = { 20, 200 * NSEC_PER_MSEC };

#define RETRY_NS (20 * NSEC_PER_SEC) /* wait after a file system did not answer */

/*
 * A file that was not changed for STABLE_NS is checked at most once in
 * STABLE_CHECK_NS, however often it is mapped. A file that is written, run and
 * written again changed more recently, so each reading checks it.
 */
#define STABLE_NS       (10 * NSEC_PER_SEC)
#define STABLE_CHECK_NS NSEC_PER_SEC

/*
 * One that was not changed for CALM_NS is checked at most once in CALM_CHECK_NS. If it
 * is overwritten all the same, the next check tells when, so samples are attributed as
 * if each mapping had checked it. Only a file that is overwritten, run and gone within
 * this time has no new content then.
 */
#define CALM_NS       (3600 * NSEC_PER_SEC)
#define CALM_CHECK_NS (10 * NSEC_PER_SEC)

#define NR_RECENT 1024

struct images {
	struct hmap map;
	size_t bytes; /* of all images */
	/* Recently used images, by inode. */
	struct known_image *recent[NR_RECENT];
	/* for images_resolve_noted(); linked by next_noted */
	struct known_image *noted;
	uint32_t round;
	uint64_t reading_ns; /* when the current reading of mapping events began */
	struct time_quota met;
	struct timed_child *timed_child;
	bool can_peek;
	uint64_t pruned_ns; /* time of the last imagefile_prune() */
};

struct images *images_new(struct timed_child *a)
{
	struct images *im = calloc(1, sizeof(*im));

	if (!im)
		return NULL;
	im->round = 1; /* 0 means "never" in struct known_image */
	im->timed_child = a;
	im->can_peek = procroot_can_peek();
	return im;
}

static size_t image_bytes(const struct known_image *image)
{
	return sizeof(*image) + strlen(image->desc.name) + 1;
}

static void image_free(struct known_image *image)
{
	free((char *)image->desc.name);
	free(image);
}

void images_free(struct images *im)
{
	struct hnode *n, *next;

	if (!im)
		return;
	hmap_for_each (&im->map, n, next) {
		hmap_remove(&im->map, n);
		image_free(container_of(n, struct known_image, node));
	}
	hmap_fini(&im->map);
	free(im);
}

/* Returns why a mapping with this name has no image; SAMPLE_KEPT if it has one. */
static enum loss unknown_reason(const char *name)
{
	if (!strncmp(name, "//anon", 6) || !name[0] || !strncmp(name, "[anon", 5))
		return SAMPLE_ANONYMOUS;
	if (!strcmp(name, "[heap]") || !strncmp(name, "[stack", 6))
		return SAMPLE_ANONYMOUS;
	if (name[0] == '[' && strcmp(name, "[vdso]"))
		return SAMPLE_SPECIAL;
	return SAMPLE_KEPT;
}

static bool same_source(const struct image_source *a, const struct image_source *b)
{
	return a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size) &&
	       a->device == b->device && a->inode == b->inode &&
	       (a->inode_generation == b->inode_generation || !a->inode_generation ||
		!b->inode_generation);
}

static uint64_t source_hash(enum image_kind kind, const char *name,
			    const struct image_source *s)
{
	uint64_t h = hash_bytes(kind, name, strlen(name));

	h = hash_bytes(h, s->build_id, s->build_id_size);
	return hash_u64(h ^ s->device << 40 ^ s->inode);
}

static struct known_image *image_new(enum image_kind kind, const char *name,
				     const struct image_source *source)
{
	struct known_image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->desc.kind = kind;
	image->desc.name = strdup(name);
	if (!image->desc.name) {
		free(image);
		return NULL;
	}
	memcpy(image->desc.build_id, source->build_id, source->build_id_size);
	image->desc.build_id_size = source->build_id_size;
	image->desc.device = source->device;
	image->desc.inode = source->inode;
	image->source = *source;
	image->state = kind == IMAGE_FILE ? IMAGE_NEW : IMAGE_FRESH;
	image->unknown = SAMPLE_KEPT;
	image->marked = true;
	return image;
}

static bool is_full(const struct images *im)
{
	return im->map.nr >= IMAGES_MAX || im->bytes >= IMAGES_MAX_BYTES;
}

/* Adds an image. Of several images with the same source, look-ups find the newest. */
static struct known_image *add_image(struct images *im, enum image_kind kind,
				     const char *name,
				     const struct image_source *source)
{
	struct known_image *image = image_new(kind, name, source);

	if (image &&
	    hmap_insert(&im->map, &image->node, source_hash(kind, name, source))) {
		image_free(image);
		return NULL;
	}
	if (image)
		im->bytes += image_bytes(image);
	return image;
}

static struct known_image *find_image(const struct images *im, enum image_kind kind,
				      const char *name,
				      const struct image_source *source)
{
	struct known_image *image;
	struct hnode *n;

	n = hmap_first(&im->map, source_hash(kind, name, source));
	for (; n; n = hmap_next(n)) {
		image = container_of(n, struct known_image, node);
		if (image->desc.kind != kind || strcmp(image->desc.name, name) ||
		    !same_source(&image->source, source))
			continue;
		if (!image->source.inode_generation)
			image->source.inode_generation = source->inode_generation;
		return image;
	}
	return NULL;
}

struct known_image *images_get_special(struct images *im, enum image_kind kind,
				       const char *name,
				       const struct image_source *source)
{
	struct known_image *image = find_image(im, kind, name, source);

	if (image || is_full(im))
		return image;
	return add_image(im, kind, name, source);
}

/*
 * Returns the image that stands for all mappings without image for this reason. It is
 * added even at the limits.
 */
static struct known_image *get_unknown(struct images *im, enum loss reason)
{
	static const struct image_source none;
	const char *name = loss_name(reason);
	struct known_image *image = find_image(im, IMAGE_FILE, name, &none);

	if (!image)
		image = add_image(im, IMAGE_FILE, name, &none);
	if (image) {
		image->unknown = reason;
		image->state = IMAGE_FRESH;
	}
	return image;
}

/* Returns the image of a mapped file if it is in the table of recent images. */
static struct known_image *find_recent(const struct images *im, const char *name,
				       const struct image_source *source)
{
	struct known_image *image = im->recent[source->inode % NR_RECENT];

	if (!image || !same_source(&image->source, source) ||
	    image->source.inode_generation != source->inode_generation ||
	    strcmp(image->desc.name, name))
		return NULL;
	return image;
}

static struct known_image *get_mapped(struct images *im, enum image_kind kind,
				      const char *name,
				      const struct image_source *source)
{
	struct known_image *image = images_get_special(im, kind, name, source);

	im->recent[source->inode % NR_RECENT] = image;
	return image;
}

/*
 * Puts the image in the list of images_resolve_noted(), unless it was checked in this
 * round.
 */
static void note(struct images *im, struct known_image *image, pid_t tgid)
{
	if (image->noted || image->checked == im->round)
		return;
	image->noted = true;
	image->noted_tgid = tgid;
	image->next_noted = im->noted;
	im->noted = image;
}

static struct known_image *get_image(struct images *im, const char *name,
				     const struct image_source *source)
{
	static const struct image_source none;
	struct known_image *image = find_recent(im, name, source);
	enum loss unknown;

	if (image)
		return image;
	unknown = unknown_reason(name);
	if (unknown != SAMPLE_KEPT)
		return get_unknown(im, unknown);
	if (name[0] == '[')
		image = get_mapped(im, IMAGE_VDSO, name, &none);
	else
		image = get_mapped(im, IMAGE_FILE, name, source);
	if (!image && is_full(im))
		return get_unknown(im, SAMPLE_IMAGE_LIMIT);
	return image;
}

/*
 * If the file is known, it is noted, because it may have been overwritten before this
 * mapping.
 */
struct known_image *images_get(struct images *im, const char *name,
			       const struct image_source *source)
{
	struct known_image *image = get_image(im, name, source);

	if (image && image->has_place) {
		image->used = im->round;
		note(im, image, 0);
	}
	return image;
}

struct imagefile images_file(const struct known_image *image, pid_t tgid)
{
	const struct image_desc *d = &image->desc;
	struct imagefile f = {
		.device = image->source.device,
		.inode = image->source.inode,
		.identity = { d->device, d->inode, d->size, d->mtime_ns },
		.tgid = tgid,
		.place_tgid = image->place_tgid,
		.has_place = image->has_place,
		.is_known = d->has_content,
	};

	snprintf(f.name, sizeof(f.name), "%s", d->name);
	return f;
}

static void take_file(struct known_image *image, const struct imagefile_found *f)
{
	struct image_desc *d = &image->desc;

	memcpy(d->build_id, f->id.build_id, sizeof(d->build_id));
	d->build_id_size = f->id.build_id_size;
	memcpy(d->content, f->id.content, sizeof(d->content));
	d->has_content = true;
	d->device = f->st.st_dev;
	d->inode = f->st.st_ino;
	d->size = f->st.st_size;
	d->mtime_ns = time_to_ns(&f->st.st_mtim);
	image->has_place = f->has_name;
	image->place_tgid = f->place_tgid;
	image->author = imagefile_author(&f->st);
	image->opened_ns = time_mono_ns();
}

/* Identifies the file. Returns 0 or -errno. */
static int resolve(struct images *im, struct known_image *image, pid_t tgid)
{
	const struct imagefile file = images_file(image, tgid);
	struct imagefile_found found;
	int err = -ENOENT;

	if (im->timed_child && image->desc.name[0] == '/')
		err = imagefile_identify(im->timed_child, &file, &found);
	if (!err)
		take_file(image, &found);
	return err;
}

static bool is_no_answer(int err)
{
	return err == -ETIMEDOUT || err == -ECHILD;
}

/*
 * Resolves an image at its first sample. After most errors it is not tried again; after
 * a shortage the next round tries again, and if the file system did not answer, a round
 * after RETRY_NS.
 */
static void resolve_now(struct images *im, struct known_image *image, pid_t tgid)
{
	int err;

	if (image->retry_ns && time_mono_ns() < image->retry_ns)
		return;
	err = resolve(im, image, tgid);
	if (is_no_answer(err))
		image->retry_ns = time_mono_ns() + RETRY_NS;
	if (!err_is_shortage(err) && !is_no_answer(err))
		image->state = IMAGE_FRESH;
	if (err)
		log_debug("image: %s: not readable as it was mapped: %s",
			  image->desc.name, err_str(err));
}

static bool same_content(const struct known_image *image, const struct stat *st)
{
	return (uint64_t)st->st_size == image->desc.size &&
	       time_to_ns(&st->st_mtim) == image->desc.mtime_ns;
}

static bool same_inode(const struct known_image *image, const struct stat *st)
{
	return st->st_ino == image->desc.inode && st->st_dev == image->desc.device;
}

/*
 * Gets the status of the file that now has the name. Below our own root, cached
 * metadata are read directly, which cannot block.
 */
static int look_at_place(struct images *im, const struct known_image *image,
			 struct stat *st)
{
	struct imagefile file;

	if (im->can_peek && !image->place_tgid)
		return procroot_peek(0, image->desc.name, st);
	file = images_file(image, 0);
	return imagefile_look(im->timed_child, &file, st);
}

/*
 * Checks whether the content of a resolved file has changed. A different file that took
 * its name has another inode, and so another image.
 */
static void look_again(struct images *im, struct known_image *image)
{
	struct stat st;
	uint64_t ago_ns;

	image->state = IMAGE_STABLE;
	if (!image->has_place || look_at_place(im, image, &st) ||
	    !same_inode(image, &st))
		return;
	ago_ns = time_real_ns() - time_to_ns(&st.st_ctim);
	if (ago_ns < STABLE_NS)
		image->state = IMAGE_FRESH;
	image->calm = ago_ns >= CALM_NS && ago_ns <= INT64_MAX;
	if (same_content(image, &st))
		return;
	image->replaced_ns = time_mono_ns() - ago_ns;
	if (is_full(im))
		return;
	image->successor =
		add_image(im, image->desc.kind, image->desc.name, &image->source);
	im->recent[image->source.inode % NR_RECENT] = NULL;
}

/*
 * Whether a file may have changed since the last check, for a mapping that is made now.
 */
static bool may_be_new(const struct images *im, const struct known_image *image)
{
	uint64_t quiet_ns = im->reading_ns - image->looked_ns;

	if (!image_is_resolved(image) || image->successor || !quiet_ns)
		return false;
	return image->state == IMAGE_FRESH ||
	       quiet_ns >= (image->calm ? CALM_CHECK_NS : STABLE_CHECK_NS);
}

bool images_meet(struct images *im, struct known_image *image, pid_t tgid)
{
	uint64_t begun_ns;

	if (may_be_new(im, image)) {
		look_again(im, image);
		image->looked_ns = im->reading_ns;
	}
	if (image->successor)
		image = image->successor;
	if (image->state != IMAGE_NEW)
		return false;
	image->state = IMAGE_MET;
	begun_ns = time_mono_ns();
	if (time_quota_has(&im->met, &meeting, begun_ns)) {
		if (!resolve(im, image, tgid))
			image->state = IMAGE_FRESH;
		time_quota_spend(&im->met, time_mono_ns() - begun_ns);
	}
	return true;
}

/* Resolves or checks an image, once in each round. */
static void check(struct images *im, struct known_image *image, pid_t tgid)
{
	if (image->checked == im->round)
		return;
	image->checked = im->round;
	if (!image_is_resolved(image))
		resolve_now(im, image, tgid);
	else if (!image->successor)
		look_again(im, image);
}

void images_resolve_noted(struct images *im)
{
	struct known_image *image;

	while ((image = im->noted)) {
		im->noted = image->next_noted;
		image->noted = false;
		check(im, image, image->noted_tgid);
	}
}

struct known_image *images_resolve(struct images *im, struct known_image *image,
				   pid_t tgid, uint64_t mapped_ns)
{
	for (;;) {
		check(im, image, tgid);
		if (!image->successor || mapped_ns < image->replaced_ns)
			return image;
		image = image->successor;
	}
}

struct known_image *images_known(struct known_image *image, uint64_t mapped_ns)
{
	while (image->successor && mapped_ns >= image->replaced_ns)
		image = image->successor;
	return image;
}

struct known_image *images_find(struct images *im, struct known_image *image,
				pid_t tgid, uint64_t mapped_ns)
{
	image = images_known(image, mapped_ns);
	image->used = im->round;
	note(im, image, tgid);
	return image;
}

void images_next_round(struct images *im)
{
	struct hnode *n, *next;

	im->round++;
	hmap_for_each (&im->map, n, next) {
		struct known_image *image = container_of(n, struct known_image, node);

		if (image_is_resolved(image) && image->used + 1 == im->round)
			note(im, image, 0);
	}
	if (!im->timed_child || time_mono_ns() < im->pruned_ns + OPENFILES_NS)
		return;
	im->pruned_ns = time_mono_ns();
	imagefile_prune(im->timed_child);
}

void images_next_reading(struct images *im)
{
	im->reading_ns = time_mono_ns();
}

ssize_t images_read(struct images *im, const struct known_image *image, uint64_t at,
		    void *to, size_t size)
{
	struct imagefile file;

	if (!image->desc.has_content)
		return -ENOENT;
	file = images_file(image, 0);
	return imagefile_read(im->timed_child, &file, at, to, size);
}

int images_wrap(struct images *im, const struct known_image *image, pid_t tgid)
{
	struct imagefile file;

	if (!image->desc.has_content)
		return -ENOENT;
	file = images_file(image, tgid);
	return imagefile_wrap(im->timed_child, &file);
}

bool images_is_open(const struct known_image *image)
{
	return image->opened_ns && time_mono_ns() - image->opened_ns < OPENFILES_NS;
}

bool images_stays(struct images *im, const struct known_image *image)
{
	const struct imagefile file = images_file(image, 0);

	return imagefile_stays(im->timed_child, &file);
}

void images_clear_marks(struct images *im)
{
	struct hnode *n, *next;

	hmap_for_each (&im->map, n, next)
		container_of(n, struct known_image, node)->marked = false;
	for (struct known_image *i = im->noted; i; i = i->next_noted)
		i->marked = true;
}

void images_sweep(struct images *im)
{
	struct known_image *s;
	struct hnode *n, *next;

	memset(im->recent, 0, sizeof(im->recent));
	hmap_for_each (&im->map, n, next) {
		s = container_of(n, struct known_image, node);
		for (; s->marked && s->successor; s = s->successor)
			s->successor->marked = true;
	}
	hmap_for_each (&im->map, n, next) {
		struct known_image *image = container_of(n, struct known_image, node);

		if (image->marked)
			continue;
		hmap_remove(&im->map, n);
		im->bytes -= image_bytes(image);
		image_free(image);
	}
}

struct timed_child *images_timed_child(const struct images *im)
{
	return im->timed_child;
}

size_t images_nr(const struct images *im)
{
	return im->map.nr;
}
