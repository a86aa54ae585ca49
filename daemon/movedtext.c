/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/movedtext.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define NR_PIECES  8
#define PIECE_SIZE 1024u

/* Whether it is anything at all: what is not written yet, like what pads code, is 0. */
static bool is_empty(const char *piece)
{
	static const char zeros[PIECE_SIZE];

	return !memcmp(piece, zeros, sizeof(zeros));
}

static bool same_pieces(int mem, int file, const struct range *memory, uint64_t offset)
{
	const uint64_t size = memory->end - memory->start;
	char got[PIECE_SIZE], want[PIECE_SIZE];
	bool found = false;

	for (int i = 0; i < NR_PIECES; i++) {
		const uint64_t at = (size - PIECE_SIZE) / (NR_PIECES - 1) * (uint64_t)i;

		if (file_pread(mem, got, sizeof(got), memory->start + at) ||
		    file_pread(file, want, sizeof(want), offset + at) ||
		    memcmp(got, want, sizeof(got)))
			return false;
		found |= !is_empty(got);
	}
	return found;
}

bool movedtext_check(struct procmap *pm, struct images *im, pid_t tgid,
		     const struct range *memory, uint64_t when)
{
	struct process *p = procmap_find(pm, tgid, 0, when);
	struct procmap_hit first, last;
	bool same = false;
	int mem, file;
	char path[64];

	if (memory->end - memory->start < PIECE_SIZE ||
	    procmap_lookup_in(pm, p, memory->start, when, &first) != PROCMAP_FOUND ||
	    procmap_lookup_in(pm, p, memory->end - 1, when, &last) != PROCMAP_FOUND ||
	    first.image != last.image || first.bias != last.bias)
		return false;
	file = images_open(images_resolve(im, first.image, tgid, first.since_ns));
	if (file < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tgid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	if (mem >= 0) {
		same = same_pieces(mem, file, memory, memory->start + first.bias);
		close(mem);
	}
	close(file);
	return same;
}
