/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * movedtext.c - compares a process's memory with its file
 *
 * A timed child reads the memory, because that may block.
 */
#include "config.h"

#include "daemon/mappings/movedtext.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define NR_PIECES  8
#define PIECE_SIZE 1024u

/*
 * Whether there are other bytes than 0. Memory that was not written yet is 0, and so is
 * the padding of code.
 */
static bool is_empty(const char *piece)
{
	static const char zeros[PIECE_SIZE];

	return !memcmp(piece, zeros, sizeof(zeros));
}

/* The question. */
struct comparison {
	pid_t tgid;
	uint64_t start, end; /* the memory */
	uint64_t offset;     /* in the file */
	struct imagefile file;
};

static int compare_pieces(int mem, int file, const struct comparison *c)
{
	const uint64_t size = c->end - c->start;
	char got[PIECE_SIZE], want[PIECE_SIZE];
	bool found = false;

	for (int i = 0; i < NR_PIECES; i++) {
		const uint64_t at = (size - PIECE_SIZE) / (NR_PIECES - 1) * (uint64_t)i;
		int err = file_pread(mem, got, sizeof(got), (off_t)(c->start + at));

		if (!err)
			err = file_pread(file, want, sizeof(want), c->offset + at);
		if (err)
			return err;
		if (memcmp(got, want, sizeof(got)))
			return -ESTALE;
		found |= !is_empty(got);
	}
	return found ? 0 : -ESTALE;
}

static int compare_apart(struct timed_child_job *job)
{
	const struct comparison *c = job->question;
	char path[64];
	int file, mem, err;

	file = imagefile_open(job->files, &c->file);
	if (file < 0)
		return file;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)c->tgid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	err = mem < 0 ? -errno : compare_pieces(mem, file, c);
	if (mem >= 0)
		close(mem);
	close(file);
	return err;
}

bool movedtext_check(struct procmap *pm, struct images *im, pid_t tgid,
		     const struct range *memory, uint64_t when)
{
	struct comparison c = { tgid, memory->start, memory->end, 0, { 0 } };
	const struct timed_child_question q = {
		.fn = compare_apart, .data = &c, .size = sizeof(c), .tgid = tgid
	};
	const struct known_image *image;
	struct process *p = procmap_find(pm, tgid, 0, when);
	struct procmap_hit first, last;

	if (memory->end - memory->start < PIECE_SIZE ||
	    procmap_lookup_in(pm, p, memory->start, when, &first) != PROCMAP_FOUND ||
	    procmap_lookup_in(pm, p, memory->end - 1, when, &last) != PROCMAP_FOUND ||
	    first.image != last.image || first.bias != last.bias)
		return false;
	image = images_resolve(im, first.image, tgid, first.since_ns);
	if (!image->desc.has_content)
		return false;
	c.file = images_file(image, 0);
	c.offset = memory->start + first.bias;
	return !timed_child_ask(images_timed_child(im), &q, NULL);
}
