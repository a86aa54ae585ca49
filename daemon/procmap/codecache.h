/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codecache.h - instruction bytes at sampled PCs, read from image files
 *
 * For collectors that see registers but not code: whether a sampled
 * instruction is a conditional jump is read from the image's file, a block at
 * a time: hot spots are small and far apart. At most CODECACHE_BLOCKS blocks are kept
 * (4 MiB); a block that cannot be read is remembered as such.
 *
 * A look-up reads nothing: samples are shown to codecache_note() first, and
 * codecache_read_noted() reads what they need.
 */
#ifndef CPI_DAEMON_CODECACHE_H
#define CPI_DAEMON_CODECACHE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/branch.h"
#include "daemon/procmap/images.h"

#define CODECACHE_BLOCKS 8192

struct codecache;

struct codecache *codecache_new(struct images *im); /* NULL when out of memory */
void codecache_free(struct codecache *c);

/*
 * The instruction at an offset will be asked for: of image, or of its successor if the
 * mapping was made at mapped_ns and that turns out to be later (images_known()).
 */
void codecache_note(struct codecache *c, struct known_image *image, uint64_t mapped_ns,
		    uint64_t offset);

/* Reads the blocks that were noted, behind images_resolve_noted(). */
void codecache_read_noted(struct codecache *c);

/*
 * The instruction at an offset of a resolved image, decoded for this machine;
 * kind CPI_BRANCH_UNKNOWN when its bytes cannot be had, or were not noted.
 */
struct cpi_branch codecache_branch(struct codecache *c, const struct known_image *image,
				   uint64_t offset);

/* Bytes of a resolved image from off on, past the blocks: how many there are. */
size_t codecache_read(struct codecache *c, const struct known_image *image,
		      uint64_t off, void *to, size_t size);

/* Forgets all blocks: image addresses may be used for other images from now on. */
void codecache_clear(struct codecache *c);

#endif
