/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/images.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/elfid.h"
#include "daemon/procroot.h"

/* Files met in a round: such that are found later as well, and others. */
#define MAX_MET_HERE  32
#define MAX_MET_THERE 128

#define NR_RECENT 64 /* a power of two */

struct images {
	struct hmap map;
	size_t bytes; /* of all */
	/* By inode: nearly all mappings are of few files, the same again and again. */
	struct known_image *recent[NR_RECENT];
	uint32_t round, reading;
	int nr_met[2]; /* in this round: here, there */
	bool keep;
	struct known_image *kept[IMAGES_KEPT]; /* with an open file; the oldest first */
	int nr_kept, nr_kept_before;           /* of which before this round */
};

struct images *images_new(void)
{
	return calloc(1, sizeof(struct images));
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
	free(image->open_path);
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

static struct known_image *get_file(struct images *im, const char *name,
				    const struct image_source *source)
{
	struct known_image *image = images_get_special(im, IMAGE_FILE, name, source);

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
		image = images_get_special(im, IMAGE_VDSO, name, &none);
	else
		image = get_file(im, name, source);
	if (!image && is_full(im))
		return get_unknown(im, SAMPLE_IMAGE_LIMIT);
	return image;
}

static uint64_t to_ns(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * NSEC_PER_SEC + (uint64_t)ts->tv_nsec;
}

/* Opens the image's path below root. A descriptor, or -errno. */
static int open_below(const char *root, const char *name, struct stat *st)
{
	int rootfd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd;

	if (rootfd < 0)
		return -errno;
	fd = file_open_in_root(rootfd, name, st);
	close(rootfd);
	return fd;
}

/* Takes over what the open file says of itself when it is the mapped one. */
static int take_file(struct known_image *image, int fd, const struct stat *st)
{
	struct image_desc *d = &image->desc;
	struct elfid id;
	int err;

	/* The device is not compared: Btrfs and overlayfs report another one. */
	err = image->source.inode == st->st_ino ? elfid_read(fd, &id) : -ESTALE;
	if (err)
		return err;
	memcpy(d->build_id, id.build_id, sizeof(d->build_id));
	d->build_id_size = id.build_id_size;
	memcpy(d->content, id.content, sizeof(d->content));
	d->has_content = true;
	d->device = st->st_dev;
	d->inode = st->st_ino;
	d->size = st->st_size;
	d->mtime_ns = to_ns(&st->st_mtim);
	return 0;
}

/* The first n of those that are kept open are closed, or gone. */
static void forget_kept(struct images *im, int n)
{
	for (int i = 0; i < n; i++) {
		if (im->kept[i] && im->kept[i]->fd >= 0) {
			close(im->kept[i]->fd);
			im->kept[i]->fd = -1;
		}
	}
	memmove(im->kept, im->kept + n, (im->nr_kept - n) * sizeof(im->kept[0]));
	im->nr_kept -= n;
	im->nr_kept_before = 0;
}

/* Takes fd over. */
static void keep_file(struct images *im, struct known_image *image, int fd)
{
	if (!im->keep || im->nr_kept == IMAGES_KEPT) {
		close(fd);
		return;
	}
	image->fd = fd;
	im->kept[im->nr_kept++] = image;
}

static int resolve_at(struct images *im, struct known_image *image, const char *root)
{
	struct stat st;
	int fd, err;

	fd = open_below(root, image->desc.name, &st);
	if (fd < 0)
		return fd;
	err = take_file(image, fd, &st);
	if (err) {
		close(fd);
		return err;
	}
	image->open_path = strdup(root);
	keep_file(im, image, fd);
	return 0;
}

/* A file that has no name, or another file has it now. */
static int resolve_mapped(struct images *im, struct known_image *image, pid_t tgid)
{
	struct stat st;
	int fd, err;

	fd = procroot_open_mapped(tgid, image->source.device, image->source.inode, &st);
	if (fd < 0)
		return fd;
	err = take_file(image, fd, &st);
	if (err) {
		close(fd);
		return err;
	}
	keep_file(im, image, fd);
	return 0;
}

/* Whether "/" is the same directory for the process and for us. */
static bool same_root(const char *root)
{
	struct stat own, its;

	return !stat("/", &own) && !stat(root, &its) && own.st_ino == its.st_ino &&
	       own.st_dev == its.st_dev;
}

/* 0 when the file is known now, or -errno. */
static int resolve(struct images *im, struct known_image *image, pid_t tgid)
{
	char root[64];
	int err = -ENOENT;

	if (image->desc.name[0] != '/')
		return err;
	snprintf(root, sizeof(root), "/proc/%d/root", (int)tgid);
	if (!same_root(root))
		err = resolve_at(im, image, root);
	if (err)
		err = resolve_at(im, image, "/");
	if (err)
		err = resolve_at(im, image, root); /* a bind mount over the same root */
	if (err)
		err = resolve_mapped(im, image, tgid);
	return err;
}

/* At the first sample, for good. */
static void resolve_now(struct images *im, struct known_image *image, pid_t tgid)
{
	int err = resolve(im, image, tgid);

	if (err)
		log_debug("image: %s: not readable as it was mapped: %s",
			  image->desc.name, err_str(err));
	image->resolved = true;
}

/* Where this process finds the image's file. -ENAMETOOLONG or 0. */
static int find_path(const struct known_image *image, char *path, size_t size)
{
	const char *root = strcmp(image->open_path, "/") ? image->open_path : "";
	int n = snprintf(path, size, "%s%s", root, image->desc.name);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
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
	char path[PATH_MAX + 64];
	struct stat st;
	uint64_t ago_ns;

	if (!image->open_path || find_path(image, path, sizeof(path)) ||
	    lstat(path, &st) || !same_inode(image, &st) || same_content(image, &st))
		return;
	ago_ns = time_real_ns() - to_ns(&st.st_ctim);
	image->replaced_ns = time_mono_ns() - ago_ns;
	if (is_full(im))
		return;
	image->successor =
		add_image(im, image->desc.kind, image->desc.name, &image->source);
	im->recent[image->source.inode % NR_RECENT] = NULL;
}

void images_meet(struct images *im, struct known_image *image, pid_t tgid)
{
	char root[64];
	int there;

	if (image->resolved && image->looked != im->reading && !image->successor)
		look_again(im, image);
	image->looked = im->reading;
	if (image->successor)
		image = image->successor;
	if (image->met || image->resolved)
		return;
	image->met = true;
	snprintf(root, sizeof(root), "/proc/%d/root", (int)tgid);
	there = !same_root(root);
	if (im->nr_met[there] >= (there ? MAX_MET_THERE : MAX_MET_HERE))
		return;
	im->nr_met[there]++;
	image->resolved = !resolve(im, image, tgid);
}

struct known_image *images_resolve(struct images *im, struct known_image *image,
				   pid_t tgid, uint64_t mapped_ns)
{
	for (;;) {
		if (!image->resolved)
			resolve_now(im, image, tgid);
		else if (image->checked != im->round && !image->successor)
			look_again(im, image);
		image->checked = im->round;
		if (!image->successor || mapped_ns < image->replaced_ns)
			return image;
		image = image->successor;
	}
}

void images_next_round(struct images *im)
{
	im->round++;
	im->nr_met[0] = im->nr_met[1] = 0;
	forget_kept(im, im->nr_kept_before);
	im->nr_kept_before = im->nr_kept;
}

void images_next_reading(struct images *im)
{
	im->reading++;
}

int images_open(const struct known_image *image)
{
	struct stat st;
	int fd;

	if (!image->open_path)
		return -ENOENT;
	fd = open_below(image->open_path, image->desc.name, &st);
	if (fd < 0)
		return fd;
	if (!same_inode(image, &st) || !same_content(image, &st)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

void images_keep_files(struct images *im)
{
	im->keep = true;
}

int images_take_fd(struct images *im, struct known_image *image)
{
	int fd = image->fd;

	image->fd = -1;
	return fd;
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

size_t images_nr(const struct images *im)
{
	return im->map.nr;
}
