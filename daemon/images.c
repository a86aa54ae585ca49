/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/images.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/elfid.h"
#include "daemon/procroot.h"

/* For meeting files: such that are found later as well, and such that others brought.
 */
static const struct ration_limit meeting = { 10, 100 * NSEC_PER_MSEC };

/*
 * A file that has been as it is for the first of these is looked at once in the second,
 * however often it is mapped: what is written, run and written again is young.
 */
#define SETTLED_NS      (10 * NSEC_PER_SEC)
#define SETTLED_LOOK_NS NSEC_PER_SEC

#define NR_RECENT 1024

struct images {
	struct hmap map;
	size_t bytes; /* of all */
	/* By inode: nearly all mappings are of few images, the same again and again. */
	struct known_image *recent[NR_RECENT];
	uint32_t round;
	uint64_t reading_ns;  /* when these records were begun */
	struct ration met[2]; /* for files here, and there */
	struct apart apart;
	bool keep;
	struct known_image *kept[IMAGES_KEPT]; /* with an open file; the oldest first */
	int nr_kept, nr_kept_before;           /* of which before this round */
};

struct images *images_new(void)
{
	struct images *im = calloc(1, sizeof(*im));

	if (im)
		im->round = 1; /* 0: an image that was not looked at */
	return im;
}

static size_t image_bytes(const struct known_image *image)
{
	return sizeof(*image) + strlen(image->desc.name) + 1;
}

static void image_free(struct known_image *image)
{
	if (image->fd >= 0)
		close(image->fd);
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
	apart_fini(&im->apart);
	free(im);
}

/* Why a mapping of this name has no image; SAMPLE_KEPT when it has one. */
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
	image->fd = -1;
	image->resolved = kind != IMAGE_FILE;
	image->unknown = SAMPLE_KEPT;
	image->marked = true;
	return image;
}

static bool is_full(const struct images *im)
{
	return im->map.nr >= IMAGES_MAX || im->bytes >= IMAGES_MAX_BYTES;
}

/* A new image; of several with one source, look-ups find the newest. */
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

/* One image for all mappings that have none for this reason; there is room for it. */
static struct known_image *get_unknown(struct images *im, enum loss reason)
{
	static const struct image_source none;
	const char *name = loss_name(reason);
	struct known_image *image = find_image(im, IMAGE_FILE, name, &none);

	if (!image)
		image = add_image(im, IMAGE_FILE, name, &none);
	if (image) {
		image->unknown = reason;
		image->resolved = true;
	}
	return image;
}

/* The image of a mapped file, if it was asked for lately. */
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

struct known_image *images_get(struct images *im, const char *name,
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

static uint64_t to_ns(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * NSEC_PER_SEC + (uint64_t)ts->tv_nsec;
}

/* What an open file says of itself. */
struct found_file {
	struct elfid id;
	struct stat st;
	bool has_name; /* it was found by it, in place_tgid's root; 0: here */
	pid_t place_tgid;
	int fd; /* it itself; -1: another process has it */
};

/* Takes fd over. Whether it is the mapped file, what it says of itself, and fd. */
static int read_file(const struct known_image *image, int fd, struct found_file *f)
{
	int err;

	if (fd < 0)
		return fd;
	/* The device is not compared: Btrfs and overlayfs report another one. */
	err = image->source.inode == f->st.st_ino ? elfid_read(fd, &f->id) : -ESTALE;
	if (err)
		close(fd);
	else
		f->fd = fd;
	return err;
}

static int find_at(const struct known_image *image, pid_t place_tgid,
		   enum procroot_caution caution, struct found_file *f)
{
	f->has_name = true;
	f->place_tgid = place_tgid;
	return read_file(image,
			 procroot_open(place_tgid, image->desc.name, caution, &f->st),
			 f);
}

/* A file that has no name, or another file has it now. */
static int find_mapped(const struct known_image *image, pid_t tgid,
		       enum procroot_caution caution, struct found_file *f)
{
	const struct image_source *s = &image->source;

	f->has_name = false;
	return read_file(
		image, procroot_open_mapped(tgid, s->device, s->inode, caution, &f->st),
		f);
}

/* The first n of those that are kept open are closed, or gone. */
static void forget_kept(struct images *im, int n)
{
	for (int i = 0; i < n; i++) {
		if (im->kept[i]->fd >= 0)
			close(im->kept[i]->fd);
		im->kept[i]->fd = -1;
	}
	im->nr_kept -= n;
	im->nr_kept_before = 0;
	memmove(im->kept, im->kept + n, im->nr_kept * sizeof(im->kept[0]));
}

/* Takes fd over, which may be -1. */
static void keep_file(struct images *im, struct known_image *image, int fd)
{
	if (fd < 0)
		return;
	if (!im->keep || im->nr_kept == IMAGES_KEPT) {
		close(fd);
		return;
	}
	image->fd = fd;
	im->kept[im->nr_kept++] = image;
}

static void take_file(struct images *im, struct known_image *image,
		      const struct found_file *f)
{
	struct image_desc *d = &image->desc;

	memcpy(d->build_id, f->id.build_id, sizeof(d->build_id));
	d->build_id_size = f->id.build_id_size;
	memcpy(d->content, f->id.content, sizeof(d->content));
	d->has_content = true;
	d->device = f->st.st_dev;
	d->inode = f->st.st_ino;
	d->size = f->st.st_size;
	d->mtime_ns = to_ns(&f->st.st_mtim);
	image->has_place = f->has_name;
	image->place_tgid = f->place_tgid;
	keep_file(im, image, f->fd);
}

/* Whether "/" is the same directory for the process and for us. */
static bool same_root(const char *root)
{
	struct stat own, its;

	return !stat("/", &own) && !stat(root, &its) && own.st_ino == its.st_ino &&
	       own.st_dev == its.st_dev;
}

/* 0, or -errno: -EREMOTE when it is there but might not answer. */
static int find_file(const struct known_image *image, pid_t tgid,
		     enum procroot_caution caution, struct found_file *f)
{
	char root[64];
	int err = -ENOENT;

	snprintf(root, sizeof(root), "/proc/%d/root", (int)tgid);
	if (!same_root(root))
		err = find_at(image, tgid, caution, f);
	if (err && err != -EREMOTE)
		err = find_at(image, 0, caution, f);
	if (err && err != -EREMOTE)
		err = find_at(image, tgid, caution, f); /* a bind mount over "/" */
	if (err && err != -EREMOTE)
		err = find_mapped(image, tgid, caution, f);
	return err;
}

struct question {
	const struct known_image *image;
	pid_t tgid;
};

static int find_apart(void *ctx, void *answer)
{
	const struct question *q = ctx;

	struct found_file *f = answer;
	int err = find_file(q->image, q->tgid, PROCROOT_MAY_WAIT, f);

	f->fd = -1;
	return err;
}

/* 0 when the file is known now, or -errno. */
static int resolve(struct images *im, struct known_image *image, pid_t tgid)
{
	struct question question = { image, tgid };
	struct found_file f = { 0 };
	int err = -ENOENT;

	if (image->desc.name[0] == '/')
		err = find_file(image, tgid, PROCROOT_NEVER_WAIT, &f);
	if (err == -EREMOTE)
		err = apart_run(&im->apart, find_apart, &question, &f, sizeof(f));
	if (!err)
		take_file(im, image, &f);
	return err;
}

/* At the first sample, for good; what was short may be there in the next round. */
static void resolve_now(struct images *im, struct known_image *image, pid_t tgid)
{
	int err = resolve(im, image, tgid);

	image->resolved = !err_is_shortage(err);
	if (err)
		log_debug("image: %s: not readable as it was mapped: %s",
			  image->desc.name, err_str(err));
}

static bool same_content(const struct known_image *image, const struct stat *st)
{
	return (uint64_t)st->st_size == image->desc.size &&
	       to_ns(&st->st_mtim) == image->desc.mtime_ns;
}

static bool same_inode(const struct known_image *image, const struct stat *st)
{
	return st->st_ino == image->desc.inode && st->st_dev == image->desc.device;
}

/* Another file in its place has numbers of its own; the same one may be new inside. */
static void look_again(struct images *im, struct known_image *image)
{
	struct stat st;
	uint64_t ago_ns;

	image->settled = true;
	if (!image->has_place ||
	    procroot_peek(image->place_tgid, image->desc.name, &st) ||
	    !same_inode(image, &st))
		return;
	ago_ns = time_real_ns() - to_ns(&st.st_ctim);
	image->settled = ago_ns >= SETTLED_NS;
	if (same_content(image, &st))
		return;
	image->replaced_ns = time_mono_ns() - ago_ns;
	if (is_full(im))
		return;
	image->successor =
		add_image(im, image->desc.kind, image->desc.name, &image->source);
	im->recent[image->source.inode % NR_RECENT] = NULL;
}

/* Whether a mapping that is made now may be of another content than was last seen. */
static bool may_be_new(const struct images *im, const struct known_image *image)
{
	uint64_t quiet_ns = im->reading_ns - image->looked_ns;

	return image->resolved && !image->successor && quiet_ns &&
	       (!image->settled || quiet_ns >= SETTLED_LOOK_NS);
}

bool images_meet(struct images *im, struct known_image *image, pid_t tgid)
{
	uint64_t begun_ns;
	char root[64];
	int there;

	if (may_be_new(im, image)) {
		look_again(im, image);
		image->looked_ns = im->reading_ns;
	}
	if (image->successor)
		image = image->successor;
	if (image->met || image->resolved)
		return false;
	image->met = true;
	begun_ns = time_mono_ns();
	snprintf(root, sizeof(root), "/proc/%d/root", (int)tgid);
	there = !same_root(root);
	if (ration_has(&im->met[there], &meeting, begun_ns)) {
		image->resolved = !resolve(im, image, tgid);
		ration_spend(&im->met[there], time_mono_ns() - begun_ns);
	}
	return true;
}

struct known_image *images_resolve(struct images *im, struct known_image *image,
				   pid_t tgid, uint64_t mapped_ns)
{
	for (;;) {
		if (image->checked != im->round && !image->resolved)
			resolve_now(im, image, tgid);
		else if (image->checked != im->round && !image->successor)
			look_again(im, image);
		image->checked = im->round;
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

void images_next_round(struct images *im)
{
	im->round++;
	forget_kept(im, im->nr_kept_before);
	im->nr_kept_before = im->nr_kept;
}

void images_next_reading(struct images *im)
{
	im->reading_ns = time_mono_ns();
}

/* Takes fd over: returns it if it is the image's file, or -errno. */
static int keep_same(const struct known_image *image, int fd, const struct stat *st)
{
	if (fd < 0 || (same_inode(image, st) && same_content(image, st)))
		return fd;
	close(fd);
	return -ESTALE;
}

int images_open(const struct known_image *image)
{
	struct stat st;
	int fd;

	if (!image->has_place)
		return -ENOENT;
	fd = procroot_open(image->place_tgid, image->desc.name, PROCROOT_NEVER_WAIT,
			   &st);
	return keep_same(image, fd, &st);
}

int images_open_of(const struct known_image *image, pid_t tgid)
{
	int fd = image->fd >= 0 ? fcntl(image->fd, F_DUPFD_CLOEXEC, 0)
				: images_open(image);
	struct stat st;

	if (fd >= 0 || !image->desc.has_content)
		return fd;
	fd = procroot_open_mapped(tgid, image->source.device, image->source.inode,
				  PROCROOT_NEVER_WAIT, &st);
	return keep_same(image, fd, &st);
}

void images_keep_files(struct images *im)
{
	im->keep = true;
}

int images_take_fd(struct known_image *image)
{
	int fd = image->fd;

	image->fd = -1;
	return fd;
}

bool images_stays(const struct known_image *image)
{
	int fd = image->place_tgid ? -ENOENT : images_open(image);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool images_unchanged(const struct known_image *image, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && same_inode(image, &st) && same_content(image, &st);
}

void images_clear_marks(struct images *im)
{
	struct hnode *n, *next;

	hmap_for_each (&im->map, n, next)
		container_of(n, struct known_image, node)->marked = false;
}

void images_sweep(struct images *im)
{
	struct known_image *s;
	struct hnode *n, *next;

	memset(im->recent, 0, sizeof(im->recent));
	forget_kept(im, im->nr_kept);
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

struct apart *images_apart(struct images *im)
{
	return &im->apart;
}

size_t images_nr(const struct images *im)
{
	return im->map.nr;
}
