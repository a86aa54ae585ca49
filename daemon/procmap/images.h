/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * images.h - the images that mappings refer to, each once
 *
 * The kernel reports a mapping with the file's path, device, inode and inode
 * generation. The file is opened when it is mapped, if there is time (images_meet()),
 * or else after its first sample; most mapped files never have one. It is opened as the
 * process sees it, through /proc/PID/root or the mapping itself, and accepted only if
 * it is the file that was mapped.
 *
 * A file that is overwritten in place keeps its path, device and inode. So files that
 * have samples are checked again once in each round (images_next_round()). Mappings
 * that are made after such a change belong to another image, the successor.
 *
 * Look-up and resolution are two steps. images_find() opens nothing: it returns an
 * image whose file may not be known yet, and notes the image. The caller calls
 * images_resolve_noted() twice: before samples are attributed, because files may have
 * been overwritten; and afterwards, for images that were noted meanwhile.
 *
 * I1  A struct known_image keeps its address until images_sweep() finds it
 *     unmarked.
 * I2  desc, which is stored in the database, does not change after the image was
 *     resolved.
 */
#ifndef CPI_DAEMON_IMAGES_H
#define CPI_DAEMON_IMAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hmap.h"
#include "daemon/os/loss.h"
#include "daemon/os/timed_child.h"
#include "daemon/procmap/imagefile.h"
#include "db/profile/model.h"

/* Limits. Further mappings get an unknown image (SAMPLE_IMAGE_LIMIT). */
#define IMAGES_MAX       65536
#define IMAGES_MAX_BYTES (64u << 20) /* of struct known_image and names */

/* How the kernel identified the image: a file's device and inode, or a build id. */
struct image_source {
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size;
	uint64_t device, inode;
	uint64_t inode_generation; /* 0: not known, as in /proc/PID/maps */
};

/* How much is known about a file; images.c shows the transitions. */
enum image_state {
	IMAGE_NEW,    /* not opened yet */
	IMAGE_MET,    /* images_meet() failed; the first sample will try again */
	IMAGE_FRESH,  /* resolved; it may have been written recently */
	IMAGE_STABLE, /* resolved; not written for a while when it was last checked */
};

struct known_image {
	struct hnode node;
	struct image_desc desc; /* desc.name is freed with the image */
	struct image_source source;
	/* the same file after it was overwritten at replaced_ns */
	struct known_image *successor;
	/* monotonic */
	uint64_t replaced_ns;
	uint32_t checked; /* the last round in which the file was checked */
	uint32_t used;    /* the last round in which it was sampled or mapped */
	enum image_state state;
	struct known_image *next_noted;
	pid_t noted_tgid; /* a process that maps it; 0: not needed, it is resolved */
	bool noted;       /* it is in the list of images_resolve_noted() */
	/* why its samples have no image; SAMPLE_KEPT: they have one */
	enum loss unknown;
	/* start of the reading of mapping events in which it was last checked */
	uint64_t looked_ns;
	bool calm;        /* it had not changed for long at the last check */
	bool marked;      /* images_sweep() keeps it */
	bool has_place;   /* the file was found by its name */
	pid_t place_tgid; /* below the root of this process; 0: below ours */
	/* the only user who can write it; -1: others can, or not known */
	int64_t author;
	/* when it was hashed; the worker keeps it open for a while */
	uint64_t opened_ns;
	/* its file system did not answer; do not try again before this */
	uint64_t retry_ns;
};

/* Whether the file's content was read, or it is certain that it cannot be read. */
static inline bool image_is_resolved(const struct known_image *image)
{
	return image->state >= IMAGE_FRESH;
}

struct images;

/*
 * Returns NULL if out of memory. a is not owned and must outlive the result. If a is
 * NULL, no file is opened (for imports, where recordings contain everything).
 */
struct images *images_new(struct timed_child *a);
void images_free(struct images *im);

/*
 * Returns the image of a mapping; NULL if out of memory. Names in brackets and "//anon"
 * are not files: "[vdso]" is an image, and for the others `unknown` has the reason.
 */
struct known_image *images_get(struct images *im, const char *name,
			       const struct image_source *source);

/*
 * Returns an image that is not a mapped file (kernel, module, BPF, idle); NULL if out
 * of memory or at the limits.
 */
struct known_image *images_get_special(struct images *im, enum image_kind kind,
				       const char *name,
				       const struct image_source *source);

/*
 * Opens, checks and hashes a file that is mapped for the first time, while tgid still
 * has it. That is done so early because the file may be deleted, or its container gone,
 * when the first sample arrives. Opening files in this way takes at most 2 % of wall
 * time. A file that was opened before is checked again: once in each reading of mapping
 * events, or once a second if it has not
 * changed for ten seconds, or every ten seconds if not for an hour. Returns whether the
 * file was new.
 */
bool images_meet(struct images *im, struct known_image *image, pid_t tgid);

/*
 * A sample hit a mapping of image that was made at mapped_ns. Returns the image that
 * the sample belongs to: image itself, or a successor. Notes this image, with tgid, a
 * process that maps it.
 */
struct known_image *images_find(struct images *im, struct known_image *image,
				pid_t tgid, uint64_t mapped_ns);

/*
 * Opens, checks and hashes the files of the noted images, or checks them again. If
 * descriptors, memory or processes run out, the next round tries again. If a file
 * system did not answer, a round after 20 seconds tries again.
 */
void images_resolve_noted(struct images *im);

/* Finds and resolves an image at once, for callers that need the file itself. */
struct known_image *images_resolve(struct images *im, struct known_image *image,
				   pid_t tgid, uint64_t mapped_ns);

/* As images_find(), but notes nothing. */
struct known_image *images_known(struct known_image *image, uint64_t mapped_ns);

/*
 * images_next_round() begins a round, in which resolved files are checked again. It
 * notes the resolved images that were used in the previous round; unresolved images are
 * noted only when they are sampled, because the sampled process then has the file.
 * images_next_reading() begins a reading of mapping events.
 */
void images_next_round(struct images *im);
void images_next_reading(struct images *im);

/*
 * Reads at most 64 KiB of a resolved image's file, if the file is unchanged. Returns
 * the number of bytes, or -errno.
 */
ssize_t images_read(struct images *im, const struct known_image *image, uint64_t at,
		    void *to, size_t size);

/*
 * Returns a socket that contains a descriptor of the image's file (fdpass_unwrap()), or
 * -errno. The caller passes the socket on, or gives it to timed_child_dispose(). tgid
 * is a process that maps the file, or 0; with it, files without a name are found, too.
 */
int images_wrap(struct images *im, const struct known_image *image, pid_t tgid);

/*
 * Whether the file was hashed so recently that the worker still has it open, even if
 * the file was deleted since.
 */
bool images_is_open(const struct known_image *image);

/*
 * Whether the image's name below our own root still leads to the unchanged file, which
 * will then probably still exist when the process or container has ended.
 */
bool images_stays(struct images *im, const struct known_image *image);

/* Returns the struct imagefile for requests about the image's file (imagefile.h). */
struct imagefile images_file(const struct known_image *image, pid_t tgid);

/*
 * Mark and sweep. images_clear_marks() clears the marks of all images that are not
 * noted; then the owners mark the images that they use; images_sweep() frees the
 * others.
 */
void images_clear_marks(struct images *im);
void images_sweep(struct images *im);
size_t images_nr(const struct images *im);

/* Returns the timed child that reads the files. */
struct timed_child *images_timed_child(const struct images *im);

#endif
