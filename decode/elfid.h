/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfid.h - what tells one ELF file from another: build id and content
 */
#ifndef CPI_DECODE_ELFID_H
#define CPI_DECODE_ELFID_H

#include <stddef.h>
#include <stdint.h>

#include "db/profile/model.h"

struct elfid {
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size;              /* 0: the file has none */
	uint8_t content[CONTENT_HASH_SIZE]; /* SHA-256 over the executable segments */
};

/*
 * Without a build id all of the executable segments is hashed, while it is not more
 * than ELFID_WHOLE_BYTES: what has to be read is the file owner's choice. With one the
 * hash has to tell forgeries and mistakes apart, not builds: of a large segment so many
 * chunks of 4 KiB do, evenly spread.
 */
#define ELFID_SPREAD      64
#define ELFID_WHOLE_BYTES (32ULL << 20)

/* Files with larger executable segments, or more of them, have no identity. */
#define ELFID_MAX_BYTES    (1ULL << 30)
#define ELFID_MAX_SEGMENTS 64

/* Reads fd's. 0, -errno, -CPI_EFORMAT (no ELF file), -CPI_ELIMIT, -CPI_ECORRUPT. */
int elfid_read(int fd, struct elfid *out);

/* The build id in a run of ELF notes, as in PT_NOTE or /sys/kernel/notes. 0 or -ENOENT.
 */
int elfid_from_notes(const void *notes, size_t size, uint8_t build_id[BUILD_ID_MAX],
		     uint8_t *build_id_size);

#endif
