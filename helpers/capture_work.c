/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_work.c - records the parts of an image that reports will need
 *
 * The worker decodes each procedure with samples and builds its graph, as a report
 * does. Meanwhile a recorder notes all that is read from the image; the notes are the
 * reply. If there are too many, of the procedures with the fewest samples only the
 * names and the lines of samples are kept.
 *
 * Before and after, the file is compared with the one that the collector saw. If it was
 * overwritten meanwhile, the capture fails.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "abi/capture.h"
#include "analysis/cfg/cfg.h"
#include "analysis/image/recorder.h"
#include "analysis/isa/isa.h"
#include "base/err.h"
#include "base/file.h"
#include "base/times.h"
#include "base/varint.h"
#include "db/profile/pack.h"
#include "decode/elfid.h"
#include "helpers/capture.h"

#define BLIND_BYTES   4096 /* what "cpi list" shows of code without a symbol */
#define MAX_PROCEDURE ((uint64_t)1 << 20)
#define SMALL_BYTES   ((uint64_t)64 << 10) /* images with less code are kept whole */
#define MAX_ARENA     ((size_t)256 << 20)

/* A procedure with samples; or a sample that is in none. */
struct sampled {
	const struct symbol *symbol; /* NULL: in none */
	uint64_t start, end;
	uint64_t samples;
	size_t first, nr; /* its offsets in the request */
};

struct work {
	struct cpi_capture_request request;
	const struct cpi_capture_offset *offset;
	struct buf offsets;
	struct image *im;
	struct isa *isa; /* NULL: none for this machine */
	struct buf sampled;
	struct recorder recorder;
	size_t nr_sampled; /* only the first nr_sampled of sampled have samples */
	size_t nr_whole;   /* the first nr_whole of sampled are kept whole */
	uint64_t until_ns; /* CPU time of this process at which a pass ends */
};

static const struct sampled *sampled(const struct work *w, size_t *nr)
{
	*nr = w->sampled.len / sizeof(struct sampled);
	return (const struct sampled *)w->sampled.data;
}

static int read_request(struct work *w)
{
	struct cpi_capture_request *q = &w->request;
	size_t size;
	char *to;
	int err = file_pread(CAPTURE_FD_REQUEST, q, sizeof(*q), 0);

	if (err)
		return err;
	if (q->magic != CPI_CAPTURE_MAGIC || q->nr_offsets > CPI_CAPTURE_OFFSETS ||
	    q->build_id_size > sizeof(q->build_id) ||
	    !memchr(q->path, '\0', sizeof(q->path)))
		return -EPROTO;
	size = q->nr_offsets * sizeof(*w->offset);
	to = buf_reserve(&w->offsets, size);
	if (!to)
		return -ENOMEM;
	w->offset = (const struct cpi_capture_offset *)to;
	return file_pread(CAPTURE_FD_REQUEST, to, size, sizeof(*q));
}

/* Whether the file is what the collector saw. */
static int check_content(const struct cpi_capture_request *q)
{
	struct elfid id;
	struct stat st;
	int err;

	if (fstat(CAPTURE_FD_IMAGE, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size != q->size || time_to_ns(&st.st_mtim) != q->mtime_ns)
		return -CPI_EMISMATCH;
	err = elfid_read(CAPTURE_FD_IMAGE, &id);
	if (err)
		return err;
	return !memcmp(id.content, q->content, sizeof(id.content)) &&
			       id.build_id_size == q->build_id_size &&
			       !memcmp(id.build_id, q->build_id, id.build_id_size)
		       ? 0
		       : -CPI_EMISMATCH;
}

static int open_image(struct work *w)
{
	const struct cpi_capture_request *q = &w->request;
	struct image_desc desc = { .kind = IMAGE_FILE, .name = q->path };
	int fd = fcntl(CAPTURE_FD_IMAGE, F_DUPFD, CAPTURE_FD_END), err;

	if (fd < 0)
		return -errno;
	err = image_open_fd(&desc, fd, q->path, &w->im);
	if (err)
		return err;
	err = isa_open(image_machine(w->im), &w->isa);
	return err == -CPI_EFORMAT ? 0 : err;
}

static int by_samples(const void *va, const void *vb)
{
	const struct sampled *a = va, *b = vb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

/* Whether procedures without samples are wanted, too. */
static bool wants_all(const struct work *w, const struct symbol *const *s, size_t nr)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < nr; i++)
		bytes += s[i]->end - s[i]->start;
	return w->request.all || bytes <= SMALL_BYTES;
}

static int by_symbol(const void *va, const void *vb)
{
	const struct sampled *a = va, *b = vb;
	const uintptr_t left = (uintptr_t)a->symbol, right = (uintptr_t)b->symbol;

	return (left > right) - (left < right);
}

/*
 * Appends the procedures without samples to the others, if they are wanted. Leaves
 * those with samples in the order of their symbols.
 */
static int add_others(struct work *w)
{
	size_t nr;
	const struct symbol *const *s = image_symbols(w->im, &nr);

	w->nr_sampled = w->sampled.len / sizeof(struct sampled);
	if (!wants_all(w, s, nr))
		return 0;
	if (w->nr_sampled)
		qsort(w->sampled.data, w->nr_sampled, sizeof(struct sampled),
		      by_symbol);
	for (size_t i = 0; i < nr; i++) {
		const struct sampled new = { .symbol = s[i],
					     .start = s[i]->start,
					     .end = s[i]->end };

		if (!w->nr_sampled || !bsearch(&new, w->sampled.data, w->nr_sampled,
					       sizeof(new), by_symbol))
			buf_put(&w->sampled, &new, sizeof(new));
	}
	return w->sampled.err;
}

/*
 * Offsets ascend, so all offsets of a symbol are adjacent, unless symbols are
 * nested.
 */
static int find_procedures(struct work *w)
{
	struct sampled *last = NULL;
	int err;

	for (size_t i = 0; i < w->request.nr_offsets; i++) {
		const struct cpi_capture_offset *o = &w->offset[i];
		const struct symbol *s = image_symbol_at(w->im, o->offset);
		struct sampled new = { .symbol = s, .first = i };

		if (!last || !s || last->symbol != s) {
			new.start = s ? s->start : o->offset;
			new.end = s ? s->end : o->offset + 1;
			buf_put(&w->sampled, &new, sizeof(new));
			if (w->sampled.err)
				return w->sampled.err;
			last = (struct sampled *)(w->sampled.data + w->sampled.len) - 1;
		}
		last->samples += o->samples;
		last->nr++;
	}
	err = add_others(w);
	if (!err && w->nr_sampled)
		qsort(w->sampled.data, w->nr_sampled, sizeof(*last), by_samples);
	return err;
}

/* Asks for the name of what an instruction jumps to. */
static void ask_target(struct work *w, const struct insn *insn, uint64_t bias)
{
	const uint64_t offset = insn->target - bias;

	if (insn->target && image_address(w->im, offset) == insn->target)
		image_symbol_at(w->im, offset);
}

/* Reads a procedure's code as a listing does. */
static int read_listing(struct work *w, const struct sampled *s)
{
	const size_t size = s->end - s->start;
	const uint64_t bias = image_address(w->im, s->start) - s->start;
	uint8_t *code = malloc(size + 1);
	int err;

	if (!code)
		return -ENOMEM;
	err = image_read(w->im, s->start, code, size);
	for (size_t at = 0; at < size && !err && w->isa;) {
		struct insn insn;

		if (isa_decode(w->isa, code + at, size - at, s->start + bias + at,
			       &insn))
			break;
		ask_target(w, &insn, bias);
		at += insn.size;
	}
	free(code);
	return err == -ENOMEM ? err : 0;
}

/* Builds a procedure's control-flow graph as cpi calc does. */
static int read_graph(struct work *w, const struct sampled *s)
{
	struct arena arena;
	struct cfg *cfg;
	int err;

	arena_init(&arena, MAX_ARENA);
	err = cfg_build(w->im, w->isa, s->symbol, &arena, &cfg);
	for (int i = 0; !err && i < cfg->nr_insns; i++)
		ask_target(w, &cfg->insn[i], cfg->bias);
	arena_fini(&arena);
	return 0; /* if this failed, it will fail in reports, too */
}

static int read_whole(struct work *w, const struct sampled *s)
{
	struct sampled blind = *s;
	int err;

	if (!s->symbol)
		blind.end = s->start + BLIND_BYTES;
	if (blind.end - blind.start > MAX_PROCEDURE)
		return 0;
	err = read_listing(w, &blind);
	return !err && s->symbol && w->isa ? read_graph(w, s) : err;
}

static void read_samples(struct work *w, const struct sampled *s)
{
	for (size_t i = s->first; i < s->first + s->nr; i++) {
		image_symbol_at(w->im, w->offset[i].offset);
		recorder_lines(&w->recorder, w->offset[i].offset,
			       w->offset[i].offset + 1);
	}
}

static bool has_time(const struct work *w)
{
	return time_clock_ns(CLOCK_PROCESS_CPUTIME_ID) < w->until_ns;
}

/*
 * Records the first w->nr_whole procedures as a whole; fewer if CPU time or
 * max_bytes runs out.
 */
static int record(struct work *w, struct captured *out)
{
	size_t nr;
	const struct sampled *s = sampled(w, &nr);
	uint64_t bytes = 0;
	int err = 0;

	image_record(w->im, &w->recorder);
	for (size_t i = 0; i < w->nr_sampled; i++)
		read_samples(w, &s[i]);
	for (size_t i = 0; i < w->nr_whole && !err; i++) {
		bytes += s[i].end - s[i].start;
		if (has_time(w) && bytes <= w->request.max_bytes)
			err = read_whole(w, &s[i]);
		else
			w->nr_whole = i;
	}
	image_record(w->im, NULL);
	if (!err)
		err = recorder_finish(&w->recorder, w->im, out);
	recorder_fini(&w->recorder);
	return err;
}

/*
 * Halves the number of whole procedures until the reply is small enough. Each pass may
 * use half of the CPU time that is left.
 */
static int capture(struct work *w, struct buf *body)
{
	const uint64_t end_ns = CAPTURE_CPU_S * NSEC_PER_SEC;
	struct captured captured;
	int err;

	sampled(w, &w->nr_whole);
	w->until_ns = end_ns / 2;
	for (;;) {
		captured_init(&captured);
		buf_reset(body);
		err = record(w, &captured);
		if (!err)
			err = captured_encode(&captured, body);
		captured_fini(&captured);
		if (err)
			return err;
		if (body->len <= w->request.max_bytes)
			return 0;
		if (!w->nr_whole)
			return -CPI_ELIMIT;
		w->nr_whole /= 2;
		w->until_ns += (end_ns - w->until_ns) / 2;
	}
}

static int by_start(const void *va, const void *vb)
{
	const struct sampled *a = va, *b = vb;

	return (a->start > b->start) - (a->start < b->start);
}

/* Encodes the covered ranges. Nested procedures overlap; no byte is covered twice. */
static int put_covers(struct work *w, struct buf *covers)
{
	struct sampled *s = (struct sampled *)w->sampled.data;
	const size_t nr = w->nr_whole > w->nr_sampled ? w->nr_whole : w->nr_sampled;
	uint64_t at = 0;

	if (nr)
		qsort(s, nr, sizeof(*s), by_start);
	for (size_t i = 0; i < nr && covers->len < CPI_CAPTURE_COVERS - 20; i++) {
		const uint64_t start = s[i].start > at ? s[i].start : at;

		if (s[i].end <= start)
			continue;
		varint_put(covers, start - at);
		varint_put(covers, s[i].end - start);
		at = s[i].end;
	}
	return covers->err;
}

static int run_job(struct work *w, struct cpi_capture_reply *reply, struct buf *out)
{
	struct buf body = { 0 };
	int err = read_request(w);

	if (!err)
		err = check_content(&w->request);
	if (!err)
		err = open_image(w);
	if (!err)
		err = find_procedures(w);
	if (!err)
		err = capture(w, &body);
	if (!err)
		err = put_covers(w, out);
	reply->covers_size = out->len;
	if (!err)
		err = pack_put(&body, out);
	if (!err)
		err = check_content(&w->request);
	reply->data_size = out->len - reply->covers_size;
	reply->nr_procedures = w->nr_whole;
	if (w->nr_whole < w->nr_sampled)
		reply->nr_left_out = w->nr_sampled - w->nr_whole;
	buf_fini(&body);
	return err;
}

static int write_reply(const struct cpi_capture_reply *reply, const struct buf *out)
{
	return file_write(CAPTURE_FD_REPLY, reply, sizeof(*reply)) ||
			       file_write(CAPTURE_FD_REPLY, out->data, out->len)
		       ? EXIT_FAILURE
		       : EXIT_SUCCESS;
}

int capture_work(void)
{
	struct cpi_capture_reply reply = { .magic = CPI_CAPTURE_MAGIC };
	struct work w = { 0 };
	struct buf out = { 0 };
	int status;

	reply.err = run_job(&w, &reply, &out);
	if (reply.err) {
		reply.covers_size = reply.data_size = 0;
		out.len = 0;
	}
	status = write_reply(&reply, &out);
	image_close(w.im);
	isa_close(w.isa);
	buf_fini(&w.sampled);
	buf_fini(&w.offsets);
	buf_fini(&out);
	return status;
}
