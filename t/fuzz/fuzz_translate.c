/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_translate.c - what a worker of cpi-translate is asked, and what cpid hears back
 *
 * The first byte chooses the direction. A request is the bytes as they are; its answer
 * must pass the checks of cpid. Replies are built from the input, because few random
 * bytes are a page: each is a head of 8 bytes (cookie, error, micro-ops, a wrong size,
 * a wrong magic, entries of the index), the entries, and the micro-ops. Helpers are
 * replaced by a socket, on which this target answers.
 */
#include "config.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "abi/translate.h"
#include "analysis/translate/translate.h"
#include "base/log.h"
#include "daemon/os/helper.h"
#include "daemon/windows/translate_check.h"
#include "daemon/windows/translate_child.h"
#include "helpers/translate.h"
#include "t/fuzz/fuzz.h"

#define REPLY_HEAD 8

static int helper_end; /* the helper's end of the socket */

int helper_start(const char *name, pid_t *pid, int *fd)
{
	int pair[2];

	fuzz_check(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	*pid = 1;
	*fd = pair[0];
	helper_end = pair[1];
	return 0;
}

void helper_stop(pid_t *pid, int *fd)
{
	if (*pid)
		close(*fd);
	*pid = 0;
}

/* ---- requests ---- */

/* Of one that the daemon takes. */
static void check_reply(const struct cpi_translate_reply *r)
{
	fuzz_check(r->nr_uops <= CPI_UOPS_PER_PAGE);
	if (r->nr_forms)
		fuzz_check(r->nr_forms <= CPI_TRANSLATE_FORMS &&
			   !translate_check_forms(&r->forms, r->nr_forms, r->nr_uops));
	else
		fuzz_check(!translate_check_page(&r->page, r->nr_uops));
}

static void check_answer(const struct cpi_translate_request *q, const void *answer,
			 size_t size)
{
	const struct cpi_translate_reply *r = answer;

	fuzz_check(r->magic == CPI_TRANSLATE_MAGIC && r->cookie == q->cookie &&
		   !r->err);
	fuzz_check(r->nr_uops <= CPI_UOPS_PER_PAGE && size <= sizeof(*r));
	fuzz_check(size == (q->nr_forms
				    ? offsetof(struct cpi_translate_reply, forms.uop)
				    : offsetof(struct cpi_translate_reply, page.uop)) +
				   r->nr_uops * sizeof(struct cpi_uop));
	check_reply(r);
}

static void ask_worker(unsigned int machine, const uint8_t *data, size_t size)
{
	static struct translator *kept[2]; /* as a worker keeps its own */
	struct translator **t = &kept[machine == EM_AARCH64];
	void *message = malloc(size + !size);
	const void *answer;
	size_t made;

	fuzz_check(message && (*t || !translator_open(machine, t)));
	memcpy(message, data, size);
	if (!translate_take(*t, message, size, &answer, &made))
		check_answer(message, answer, made);
	free(message);
}

/* ---- replies ---- */

/* Takes bytes of the input; missing ones are 0. */
static void take_bytes(const uint8_t **data, size_t *size, void *to, size_t n)
{
	const size_t some = n < *size ? n : *size;

	memset(to, 0, n);
	memcpy(to, *data, some);
	*data += some;
	*size -= some;
}

static void send_reply(const uint8_t **data, size_t *size)
{
	static struct cpi_translate_reply r;
	uint8_t head[REPLY_HEAD];
	long bytes;

	take_bytes(data, size, head, sizeof(head));
	memset(&r, 0, sizeof(r));
	r.magic = head[5] ? CPI_TRANSLATE_MAGIC : 0;
	r.cookie = head[0] % (TRANSLATE_CHILD_MAX_ASKED + 2);
	r.err = (int8_t)head[1];
	r.nr_uops = head[2] | (uint32_t)head[3] << 8;
	for (int i = 0; i < head[6]; i++) {
		uint16_t entry[2];

		take_bytes(data, size, entry, sizeof(entry));
		r.page.index[entry[0] % CPI_CODE_PAGE] = entry[1];
	}
	for (uint32_t i = 0; i < r.nr_uops && i < CPI_UOPS_PER_PAGE && *size; i++)
		take_bytes(data, size, &r.page.uop[i], sizeof(r.page.uop[i]));
	bytes = (long)(offsetof(struct cpi_translate_reply, page.uop) +
		       r.nr_uops * sizeof(struct cpi_uop)) +
		(int8_t)head[4] * 64L;
	if (bytes < 0 || bytes > (long)sizeof(r))
		bytes = sizeof(r);
	fuzz_check(send(helper_end, &r, (size_t)bytes, MSG_NOSIGNAL) == bytes);
}

/* Answers come in the order of requests, and each request gets at most one. */
static void take_answers(struct translate_child *t, uint32_t *next)
{
	struct cpi_translate_reply *r;
	uint32_t cookie;
	int err;

	while (!translate_child_take(t, &cookie, &err, &r)) {
		fuzz_check(cookie == (*next)++ && err <= 0);
		if (!err)
			check_reply(r);
	}
}

static void answer_child(int epoll_fd, int nr_asked, const uint8_t *data, size_t size)
{
	static struct cpi_translate_request q;
	struct translate_child *t;
	uint32_t cookie, next = 0;

	fuzz_check(!translate_child_open(epoll_fd, &t));
	for (int i = 0; i < nr_asked; i++)
		fuzz_check(!translate_child_ask(t, &q, &cookie));
	while (size) {
		send_reply(&data, &size);
		take_answers(t, &next);
	}
	close(helper_end);
	take_answers(t, &next);
	fuzz_check(next == (uint32_t)nr_asked);
	translate_child_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int epoll_fd;

	if (!epoll_fd) {
		log_open("/dev/null");
		epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	}
	if (!size)
		return 0;
	if (data[0] & 1)
		ask_worker(data[0] & 2 ? EM_AARCH64 : EM_X86_64, data + 1, size - 1);
	else
		answer_child(epoll_fd, data[0] / 2 % TRANSLATE_CHILD_MAX_ASKED,
			     data + 1, size - 1);
	return 0;
}
