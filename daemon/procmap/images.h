/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * images.h - the images that mappings point to, each once
 *
 * The kernel tells of a mapping by path, device, inode and inode generation. The file
 * is opened when it is mapped, as far as there is time (images_meet()), or else after
 * its first sample: most mapped files never have one. It is opened as the process sees
 * it, through /proc/PID/root or the mapping itself, and believed only if it is the one
 * that was mapped. A file that is written over in place keeps path, device and inode.
 * So files that have samples are looked at again in every round. Mappings that were
 * made after such a change are of another image, the successor.
 *
 * Looking up and resolving are two steps. images_find() opens nothing: it counts a
 * sample for an image whose file may not be known yet, and notes the image. The owner
 * calls images_resolve_noted() before it takes in samples, as files may have been
 * written over, and after it, for images that are new.
 *
 * I1  A struct known_image keeps its address until images_sweep() finds it
 *     unmarked.
 * I2  desc does not change once the image is resolved: it is what the database gets.
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

/* How far a file is known; images.c draws the ways from one to the next. */
enum image_state {
	IMAGE_NEW,     /* it was not opened yet */
	IMAGE_MET,     /* images_meet() could not open it: its first sample will try */
	IMAGE_FRESH,   /* resolved; it may have been written to lately */
	IMAGE_SETTLED, /* resolved; it had not been for a while when it was looked at */
};

struct known_image {
	struct hnode node;
	struct image_desc desc; /* desc.name is the image's own */
	struct image_source source;
	struct known_image *successor; /* the same file, written over at replaced_ns */
	uint64_t replaced_ns;          /* monotonic */
	uint32_t checked;              /* the round in which the file was looked at */
	uint32_t used; /* the last one in which it was sampled, or mapped anew */
	enum image_state state;
	struct known_image *next_noted;
	pid_t noted_tgid;   /* a process that has it mapped; 0: it is resolved */
	bool noted;         /* it is in the list of images_resolve_noted() */
	enum loss unknown;  /* why samples here have no image, or SAMPLE_KEPT */
	uint64_t looked_ns; /* the reading in which it was looked at for a mapping */
	bool marked;        /* images_sweep() keeps it */
	bool has_place;     /* the file was found by its name ... */
	pid_t place_tgid;   /* ... below this process's root; 0: here */
	int64_t author;     /* who alone may have written it; -1: not known */
	uint64_t opened_ns; /* when it was hashed: it is still open for a while */
	uint64_t retry_ns;  /* it did not answer: it is not asked before */
};

/* Whether all that can be known of its file is: its content, or that it is not there.
 */
static inline bool image_is_resolved(const struct known_image *image)
{
	return image->state >= IMAGE_FRESH;
}

struct images;

/*
 * a is the caller's, and outlives it; NULL where no file is to be looked at, as all is
 * told. NULL when out of memory.
 */
struct images *images_new(struct timed_child *a);
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
 * its first sample arrives. This takes 2 % of the time at most. A file that was opened
 * before is looked at again, once in each reading of mapping events; once a second if
 * it has not changed for a while. Returns whether it was seen for the first time.
 */
bool images_meet(struct images *im, struct known_image *image, pid_t tgid);

/*
 * The image of a sample on a mapping of image that was made at mapped_ns: image itself
 * or a successor. It is noted with tgid, a process that has it mapped.
 */
struct known_image *images_find(struct images *im, struct known_image *image,
				pid_t tgid, uint64_t mapped_ns);

/*
 * Opens, checks and hashes what was noted, or looks at it again. While descriptors,
 * memory or processes are short, it is tried once in each round, and where nobody
 * answered, 20 seconds later.
 */
void images_resolve_noted(struct images *im);

/* Both at once, for who wants the file itself. */
struct known_image *images_resolve(struct images *im, struct known_image *image,
				   pid_t tgid, uint64_t mapped_ns);

/* As images_find(), and nothing is noted. */
struct known_image *images_known(struct known_image *image, uint64_t mapped_ns);

/*
 * From now on resolved files are looked at again. Those that were used in the round
 * before are noted; what is not resolved waits for a sample, whose process has it.
 * Readings are those of mapping events.
 */
void images_next_round(struct images *im);
void images_next_reading(struct images *im);

/*
 * Reads at most 64 KiB of a resolved image's file, if it is still the same one. How
 * many bytes there are, or -errno.
 */
ssize_t images_read(struct images *im, const struct known_image *image, uint64_t at,
		    void *to, size_t size);

/*
 * A socket with a descriptor of its file in it (fdpass_unwrap()), for the caller to
 * pass on, or to give to timed_child_dispose(); or -errno. tgid, if it is not 0, has it
 * mapped: then also a file without a name.
 */
int images_wrap(struct images *im, const struct known_image *image, pid_t tgid);

/* Whether it was hashed so lately that it is still open, whatever became of its name.
 */
bool images_is_open(const struct known_image *image);

/* Whether its file will probably be there for a while: it has a name, and here. */
bool images_stays(struct images *im, const struct known_image *image);

/* What a question about its file begins with (imagefile.h). */
struct imagefile images_file(const struct known_image *image, pid_t tgid);

/* Mark and sweep: clear all marks but of what is noted, let the owners mark, drop the
 * rest. */
void images_clear_marks(struct images *im);
void images_sweep(struct images *im);
size_t images_nr(const struct images *im);

/* Who reads what is others' (timed_child.h). */
struct timed_child *images_timed_child(const struct images *im);

#endif
