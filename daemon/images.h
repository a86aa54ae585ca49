/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * images.h - the images that mappings point to, each once
 *
 * A mapping is named by what the kernel said of it: path, device, inode and its
 * generation. The file itself is opened when its first sample arrives: most
 * mapped files never get one; or when it might be gone by then. It is opened as the
 * process sees it, through /proc/PID/root or the mapping itself, and believed only if
 * it is the one that was mapped. A file that is written over in place keeps all of
 * these, so files with samples are looked at again in every round: what was mapped
 * after such a change is the image's successor.
 *
 * I1  A struct known_image keeps its address until images_sweep() finds it
 *     unmarked.
 * I2  desc does not change once resolved is set: it is what the database gets.
 */
#ifndef CPI_DAEMON_IMAGES_H
#define CPI_DAEMON_IMAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hmap.h"
#include "daemon/apart.h"
#include "daemon/loss.h"
#include "db/model.h"

/* Mappings of more are of an unknown image: SAMPLE_IMAGE_LIMIT. */
#define IMAGES_MAX       65536
#define IMAGES_MAX_BYTES (64u << 20) /* with their names */

/* What the kernel said the image is: a file's numbers, or the kernel's build id. */
struct image_source {
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size;
	uint64_t device, inode;
	uint64_t inode_generation; /* 0: not known, as in /proc/PID/maps */
};

struct known_image {
	struct hnode node;
	struct image_desc desc; /* desc.name is the image's own */
	struct image_source source;
	struct known_image *successor; /* the same file, written over at replaced_ns */
	uint64_t replaced_ns;          /* monotonic */
	uint32_t checked;              /* the round in which the file was looked at */
	enum loss unknown;  /* why samples here have no image, or SAMPLE_KEPT */
	uint64_t looked_ns; /* the reading in which it was looked at for a mapping */
	bool settled; /* the file, when it was looked at last, was not written to lately
		       */
	bool met;     /* images_meet() tried to open it */
	bool resolved;
	bool marked;      /* images_sweep() keeps it */
	bool has_place;   /* the file was found by its name ... */
	pid_t place_tgid; /* ... below this process's root; 0: here */
	int fd;           /* the file that was hashed, for images_take_fd(); or -1 */
};

struct images;

struct images *images_new(void); /* NULL when out of memory */
void images_free(struct images *im);

/*
 * The image of a mapping; NULL when out of memory. Names in
 * brackets and "//anon" are no files: "[vdso]" is an image, the rest carry
 * a reason in unknown.
 */
struct known_image *images_get(struct images *im, const char *name,
			       const struct image_source *source);

/*
 * An image that is no mapped file (kernel, module, BPF, idle); NULL at the limits,
 * too.
 */
struct known_image *images_get_special(struct images *im, enum image_kind kind,
				       const char *name,
				       const struct image_source *source);

/*
 * Opens, checks and hashes a file that is seen for the first time, while tgid still has
 * it: a file that is deleted soon, or of a container that ends soon, is not found when
 * its first sample arrives. This takes 1 % of the time at most, and 1 % for the files
 * of other roots. A file that was opened before is looked at again, once in each
 * reading of mapping events; once a second if it has not changed for a while. Returns
 * whether it was seen for the first time.
 */
bool images_meet(struct images *im, struct known_image *image, pid_t tgid);

/*
 * The image of a sample on a mapping of image that was made at mapped_ns: image
 * itself or a successor, opened, checked and hashed when that was not done
 * before; while descriptors, memory or processes are short, it is tried once in each
 * round. tgid is a process that has it mapped.
 */
struct known_image *images_resolve(struct images *im, struct known_image *image,
				   pid_t tgid, uint64_t mapped_ns);

/* The same as far as that is known already: nothing is opened. */
struct known_image *images_known(struct known_image *image, uint64_t mapped_ns);

/* From now on resolved files are looked at again: at samples, at mappings. */
void images_next_round(struct images *im);
void images_next_reading(struct images *im);

/*
 * Opens a resolved image's file again, if it is still the same one. A
 * descriptor, or -errno.
 */
int images_open(const struct known_image *image);

/* The same, or the file without a name that tgid has mapped. */
int images_open_of(const struct known_image *image, pid_t tgid);

/*
 * Keeps the files that are hashed from now on open for a while, as long as there are
 * few: until the second images_next_round(). For the capture, which comes after the
 * first samples.
 */
#define IMAGES_KEPT 96
void images_keep_files(struct images *im);

/* The descriptor of the file that was hashed, the caller's from now on; or -1. */
int images_take_fd(struct known_image *image);

/* Whether its file will probably be there for a while: it has a name, and here. */
bool images_stays(const struct known_image *image);

/* Whether such a descriptor's file is still as it was when the image was resolved. */
bool images_unchanged(const struct known_image *image, int fd);

/* Mark and sweep: clear all marks, let the owners mark, drop the rest. */
void images_clear_marks(struct images *im);
void images_sweep(struct images *im);
size_t images_nr(const struct images *im);

/* For what else might not answer. */
struct apart *images_apart(struct images *im);

#endif
