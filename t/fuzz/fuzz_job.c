/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_job.c - requests to a worker of cpi-capture, and the images that it reads
 *
 * The first byte chooses: bit 0, the request is the bytes as they are; else it is built
 * so that its checks succeed, but for what the other bits break: bit 1 the magic, bit 2
 * the size, bit 3 the content, bit 4 the end of the path; bit 5 wants all procedures.
 * Then come the number of offsets, the room for the reply, the offsets, and the image.
 * A reply must pass cpid's checks, and reports must be able to decode it.
 */
#include "config.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/capture.h"
#include "analysis/image/captured.h"
#include "base/file.h"
#include "base/log.h"
#include "base/times.h"
#include "db/profile/pack.h"
#include "decode/elfid.h"
#include "helpers/capture.h"
#include "t/fuzz/fuzz.h"

#define MAX_OFFSETS 32
#define MAX_REPLY   (64 << 20)

static int place(int want, const char *name)
{
	int fd = memfd_create(name, 0);

	fuzz_check(fd >= 0);
	if (fd != want) {
		fuzz_check(dup2(fd, want) == want);
		close(fd);
	}
	fuzz_check(!ftruncate(want, 0) && lseek(want, 0, SEEK_SET) == 0);
	return want;
}

static uint8_t next(const uint8_t **data, size_t *size)
{
	if (!*size)
		return 0;
	--*size;
	return *(*data)++;
}

static void write_all(int fd, const void *data, size_t size)
{
	fuzz_check(!size || !file_write(fd, data, size));
}

static void build_request(uint8_t how, const uint8_t *data, size_t size)
{
	struct cpi_capture_request q = { .magic = how & 2 ? 1 : CPI_CAPTURE_MAGIC,
					 .author = -1,
					 .all = !!(how & 32),
					 .path = "/usr/bin/app" };
	struct cpi_capture_offset offset[MAX_OFFSETS] = { { 0 } };
	struct elfid id;
	struct stat st;
	uint64_t at = 0;

	q.nr_offsets = next(&data, &size) % (MAX_OFFSETS + 1);
	q.max_bytes = (uint64_t)next(&data, &size) << 12;
	for (uint32_t i = 0; i < q.nr_offsets; i++) {
		at += next(&data, &size);
		at += (uint64_t)next(&data, &size) << 8;
		offset[i] = (struct cpi_capture_offset){ at, 1 + next(&data, &size) };
	}
	write_all(CAPTURE_FD_IMAGE, data, size);
	fuzz_check(!fstat(CAPTURE_FD_IMAGE, &st));
	q.size = (uint64_t)st.st_size + !!(how & 4);
	q.mtime_ns = (uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC +
		     (uint64_t)st.st_mtim.tv_nsec;
	if (!elfid_read(CAPTURE_FD_IMAGE, &id)) {
		memcpy(q.content, id.content, sizeof(q.content));
		memcpy(q.build_id, id.build_id, sizeof(q.build_id));
		q.build_id_size = id.build_id_size;
	}
	q.content[0] ^= !!(how & 8);
	if (how & 16)
		memset(q.path, 'a', sizeof(q.path));
	write_all(CAPTURE_FD_REQUEST, &q, sizeof(q));
	write_all(CAPTURE_FD_REQUEST, offset, q.nr_offsets * sizeof(offset[0]));
}

/* What the worker has written, as the daemon and then reports read it. */
static void check_reply(void)
{
	struct cpi_capture_reply r;
	struct buf memory = { 0 };
	const uint8_t *body;
	struct captured c;
	struct stat st;
	size_t body_size;
	char *data;

	fuzz_check(!fstat(CAPTURE_FD_REPLY, &st));
	fuzz_check(!file_pread(CAPTURE_FD_REPLY, &r, sizeof(r), 0));
	fuzz_check(r.magic == CPI_CAPTURE_MAGIC && r.err <= 0);
	fuzz_check(st.st_size <= MAX_REPLY && r.covers_size <= CPI_CAPTURE_COVERS);
	fuzz_check((uint64_t)st.st_size ==
		   sizeof(r) + (r.err ? 0 : (uint64_t)r.covers_size + r.data_size));
	if (r.err)
		return;
	data = malloc(r.data_size + 1);
	fuzz_check(data && !file_pread(CAPTURE_FD_REPLY, data, r.data_size,
				       (off_t)(sizeof(r) + r.covers_size)));
	fuzz_check(!pack_get(data, r.data_size, MAX_REPLY, &memory, &body, &body_size));
	captured_init(&c);
	fuzz_check(!captured_decode(&c, body, body_size) && !captured_index(&c));
	captured_fini(&c);
	buf_fini(&memory);
	free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool begun;

	if (!begun)
		log_open("/dev/null");
	begun = true;
	if (!size)
		return 0;
	place(CAPTURE_FD_REQUEST, "request");
	place(CAPTURE_FD_IMAGE, "image");
	place(CAPTURE_FD_REPLY, "reply");
	/* Nobody answers questions about debug files. */
	place(CAPTURE_FD_ASK, "ask");
	if (data[0] & 1)
		write_all(CAPTURE_FD_REQUEST, data + 1, size - 1);
	else
		build_request(data[0], data + 1, size - 1);
	if (!capture_work())
		check_reply();
	for (int fd = CAPTURE_FD_REQUEST; fd < CAPTURE_FD_END; fd++)
		close(fd);
	return 0;
}
