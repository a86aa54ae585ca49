/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control_request.c - what may be asked for over the control socket, and by whom
 *
 * The control thread checks, the main thread performs.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/text.h"
#include "base/times.h"
#include "daemon/control/control_private.h"
#include "daemon/mappings/registration.h"
#include "db/store/store.h"

static int do_flush(struct session *s, const char *arg, struct buf *text)
{
	int err = session_flush(s);

	if (err)
		buf_printf(text,
			   "cannot store the samples: %s; they are kept in memory\n",
			   err_str(err));
	return err;
}

static int do_epoch(struct session *s, const char *arg, struct buf *text)
{
	int err;

	if (!text_is_clean(arg)) {
		buf_puts(text, "a label holds no control characters\n");
		return -EINVAL;
	}
	err = session_new_epoch(s, arg);
	if (err)
		buf_printf(text, "cannot begin an epoch: %s\n", err_str(err));
	return err;
}

static int do_mark(struct session *s, const char *arg, struct buf *text)
{
	char when[TIME_TEXT_SIZE];
	uint64_t at_ns;
	int err;

	if (!*arg || !text_is_clean(arg)) {
		buf_puts(text, "a mark has a text, and no control characters\n");
		return -EINVAL;
	}
	err = session_mark(s, arg, &at_ns);
	if (err && err != -EINPROGRESS) {
		buf_printf(text, "cannot take the mark: %s\n", err_str(err));
		return err;
	}
	buf_printf(text, "marked %s%s\n", time_format(at_ns, when),
		   err ? "; it waits in memory until the database can be written" : "");
	return 0;
}

static int do_rate(struct session *s, const char *arg, struct buf *text)
{
	char *end;
	double hz = strtod(arg, &end);
	int err;

	if (!strcmp(arg, "budget"))
		return session_set_rate(s, 0);
	if (end == arg || *end || !isfinite(hz) || hz <= 0) {
		buf_printf(text, "\"%s\" is no rate in samples per second\n", arg);
		return -EINVAL;
	}
	err = session_set_rate(s, hz);
	if (err)
		buf_printf(text, "cannot sample at %g Hz: %s\n", hz, err_str(err));
	return err;
}

static int do_quit(struct session *s, const char *arg, struct buf *text)
{
	return 0; /* control.c ends the daemon if this succeeds */
}

static int do_register(const struct job *job, struct session *s, struct buf *text)
{
	const struct cpi_control_register *c = &job->request.registration;
	struct registration asked = {
		.tgid = c->pid,
		.uid = job->peer.uid,
		.asker = job->peer.pid,
		.file = c->file,
		.path = c->path,
		.base = c->base,
		.size = c->size,
		.offset = c->offset,
	};

	return session_register(s, &asked, text);
}

static bool container_is_valid(const char *id, const char *name)
{
	return text_hex_digits(id) == CPI_CONTAINER_DIGITS &&
	       !id[CPI_CONTAINER_DIGITS] && *name && text_is_clean(name);
}

static int do_container(const struct job *job, struct session *s, struct buf *text)
{
	const struct cpi_control_container *c = &job->request.container;
	int err;

	if (!container_is_valid(c->id, c->name)) {
		buf_puts(text,
			 "a container has an id of 64 hexadecimal digits, and a name "
			 "without control characters\n");
		return -EINVAL;
	}
	err = session_container(s, c->id, c->name);
	if (err)
		buf_printf(text, "cannot take the name: %s\n", err_str(err));
	return err;
}

/* Those that only root and the daemon's user may ask for. */
typedef int (*operation_fn)(struct session *s, const char *arg, struct buf *text);

static const operation_fn operations[] = {
	[CPI_CONTROL_FLUSH] = do_flush, [CPI_CONTROL_EPOCH] = do_epoch,
	[CPI_CONTROL_RATE] = do_rate,   [CPI_CONTROL_QUIT] = do_quit,
	[CPI_CONTROL_MARK] = do_mark,
};
_Static_assert(STORE_MARK_TEXT == CPI_CONTROL_TEXT,
	       "what a request holds can be stored");
_Static_assert(STORE_CONTAINER_ID == CPI_CONTROL_CONTAINER_ID &&
		       STORE_CONTAINER_NAME == CPI_CONTROL_CONTAINER_NAME,
	       "what a request holds can be stored");

static operation_fn find_operation(unsigned int op)
{
	return op < sizeof(operations) / sizeof(operations[0]) ? operations[op] : NULL;
}

static size_t request_size(unsigned int op)
{
	const union request *r = NULL;

	if (op == CPI_CONTROL_REGISTER)
		return sizeof(r->registration);
	return op == CPI_CONTROL_CONTAINER ? sizeof(r->container) : sizeof(r->head);
}

bool request_is_valid(const union request *r, ssize_t n)
{
	if (n < (ssize_t)offsetof(struct cpi_control_request, op) ||
	    r->head.magic != CPI_CONTROL_MAGIC)
		return false;
	return r->head.version != CPI_CONTROL_VERSION ||
	       n == (ssize_t)request_size(r->head.op);
}

static bool has_end(const char *text, size_t size)
{
	return memchr(text, '\0', size);
}

int request_check(const union request *r, bool privileged, struct buf *text)
{
	const struct cpi_control_request *head = &r->head;

	if (head->version != CPI_CONTROL_VERSION) {
		buf_printf(text,
			   "this cpid speaks version %d of the protocol, not %u\n",
			   CPI_CONTROL_VERSION, head->version);
		return -EPROTONOSUPPORT;
	}
	if (head->op == CPI_CONTROL_REGISTER) {
		if (has_end(r->registration.path, sizeof(r->registration.path)))
			return 0;
		buf_puts(text, "the path is too long\n");
		return -ENAMETOOLONG;
	}
	if (head->op != CPI_CONTROL_STATUS && head->op != CPI_CONTROL_CONTAINER &&
	    !find_operation(head->op)) {
		buf_printf(text, "this cpid knows no operation %u\n", head->op);
		return -EOPNOTSUPP;
	}
	if (head->op != CPI_CONTROL_STATUS && !privileged) {
		buf_puts(text,
			 "only root and the user that cpid runs as may do that\n");
		return -EPERM;
	}
	if (head->op == CPI_CONTROL_CONTAINER
		    ? !has_end(r->container.id, sizeof(r->container.id)) ||
			      !has_end(r->container.name, sizeof(r->container.name))
		    : !has_end(head->text, sizeof(head->text))) {
		buf_puts(text, "the argument is too long\n");
		return -ENAMETOOLONG;
	}
	return 0;
}

void request_perform(struct job *job, struct session *s)
{
	uint64_t begun_ns = time_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	operation_fn operation = find_operation(job->request.head.op);

	if (operation)
		job->status = operation(s, job->request.head.text, &job->text);
	else if (job->request.head.op == CPI_CONTROL_CONTAINER)
		job->status = do_container(job, s, &job->text);
	else
		job->status = do_register(job, s, &job->text);
	job->cost_ns = time_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns;
}
