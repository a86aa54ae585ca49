/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_capture.c - what a worker of cpi-capture may answer, and what a database may
 * have
 *
 * The first byte picks: a reply through the pipe, as cpid takes it, or a body, as
 * reports decode it. What a body has is found only where it is.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "analysis/image/captured.h"
#include "base/err.h"
#include "base/times.h"
#include "daemon/store/capture_child.h"
#include "t/fuzz/fuzz.h"

#define MAX_PIPE 65536 /* what fits in without a reader */

static void look_up(const struct captured *c, uint64_t at)
{
	const struct inlined *inlined;
	uint64_t address, offset;
	uint8_t code[64];
	int n = captured_read(c, at, code, sizeof(code));

	fuzz_check(n <= (int)sizeof(code));
	captured_line_at(c, at);
	captured_inlined_at(c, at, &inlined);
	if (captured_address(c, at, &address) && captured_offset(c, address, &offset))
		captured_read(c, offset, code, 1);
}

static void decode(const uint8_t *body, size_t size)
{
	struct captured c;

	captured_init(&c);
	if (!captured_decode(&c, body, size) && !captured_index(&c)) {
		for (size_t at = 0; at + sizeof(uint64_t) <= size; at++) {
			uint64_t offset;

			memcpy(&offset, body + at, sizeof(offset));
			look_up(&c, offset);
			look_up(&c, body[at]);
		}
	}
	captured_fini(&c);
}

static void take(const uint8_t *data, size_t size)
{
	struct capture_child c = { .socket = -1,
				   .max = MAX_PIPE,
				   .end_ns = UINT64_MAX };
	const void *covers = NULL, *body = NULL;
	struct cpi_capture_reply r;
	int fd[2], err;

	fuzz_check(size < MAX_PIPE && !pipe(fd));
	fuzz_check(write(fd[1], data, size) == (ssize_t)size);
	close(fd[1]);
	c.reply = fd[0];
	do
		err = capture_child_take(&c, &r, &covers, &body);
	while (err == -EAGAIN);
	if (!err) {
		fuzz_check(r.magic == CPI_CAPTURE_MAGIC && !r.err);
		fuzz_check(sizeof(r) + r.covers_size + r.data_size == size);
		fuzz_check((const char *)covers + r.covers_size == body);
		fuzz_check(!memcmp(body, data + size - r.data_size, r.data_size));
	}
	capture_child_stop(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] % 2 && size < MAX_PIPE)
		take(data + 1, size - 1);
	else
		decode(data + 1, size - 1);
	return 0;
}
