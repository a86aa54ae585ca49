/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timed_child.c - the client side: sends questions, limits the waiting time, and
 * charges it to processes and users
 */
#include "config.h"

#include "daemon/os/timed_child.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fdpass.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/os/procroot.h"
#include "daemon/os/time_quota.h"
#include "daemon/os/timed_child_private.h"

#define NR_SHARES 1024 /* processes; users: they share one where they are more */

/*
 * Time quotas: of a process, of a user, and of all waits for answers that do not
 * come.
 */
static const struct time_quota_limit process_limit = { 5, 250 * NSEC_PER_MSEC };
static const struct time_quota_limit user_limit = { 20, 1000 * NSEC_PER_MSEC };
static const struct time_quota_limit wait_limit = { 20, 2000 * NSEC_PER_MSEC };

/*
 * The limit of all waits that holds even for processes and users that caused none
 * lately.
 */
static const struct time_quota_limit first_wait_limit = { 100, 10000 * NSEC_PER_MSEC };
#define SUSPECT_NS (100 * NSEC_PER_SEC)

/* Users' own users (subuid(5)) come in ranges of so many, and are one user here. */
#define SUBUID_FIRST 100000u
#define SUBUID_RANGE 65536u

/* A worker that was left alone; its end of the socket closes when it is gone. */
struct stuck {
	int fd; /* -1: free */
	timed_child_fn fn;
	pid_t tgid;
	uid_t uid;
};

struct timed_child {
	pid_t server;
	int control; /* to the server */
	int worker;  /* to the worker; -1: there is none */
	struct stuck stuck[TIMED_CHILD_MAX_STUCK];
	struct time_quota process[NR_SHARES], user[NR_SHARES], waits, first_waits;
	uint64_t process_waited_ns[NR_SHARES], user_waited_ns[NR_SHARES]; /* when */
	uint64_t user_cpu_ns[NR_SHARES]; /* since the last accounting */
	uint64_t cpu_ns, nr_asked, nr_timeouts, nr_refused;
	unsigned int patience_ms; /* of questions that say 0 */
};

static int start_server(struct timed_child *a)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	a->server = fork();
	if (!a->server)
		timed_child_serve(pair[1]); /* does not return */
	close(pair[1]);
	if (a->server < 0) {
		close(pair[0]);
		return -EAGAIN;
	}
	a->control = pair[0];
	return 0;
}

static void stop_server(struct timed_child *a)
{
	if (a->control >= 0)
		close(a->control);
	a->control = -1;
	if (a->server > 0) /* it ends when we close its socket */
		while (waitpid(a->server, NULL, 0) < 0 && errno == EINTR)
			;
	a->server = 0;
}

/* Waits until the server has given up its privileges. */
static int await_server(const struct timed_child *a)
{
	ssize_t n;
	char byte;

	do
		n = recv(a->control, &byte, 1, 0);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		return 0;
	log_err("cpi-read: the reading process cannot give up its privileges");
	return -EPERM;
}

int timed_child_new(struct timed_child **out)
{
	struct timed_child *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->control = a->worker = -1;
	a->patience_ms = TIMED_CHILD_PATIENCE_MS;
	for (int i = 0; i < TIMED_CHILD_MAX_STUCK; i++)
		a->stuck[i].fd = -1;
	err = start_server(a);
	if (!err)
		err = await_server(a);
	if (err) {
		timed_child_free(a);
		return err;
	}
	*out = a;
	return 0;
}

void timed_child_set_patience(struct timed_child *a, unsigned int ms)
{
	a->patience_ms = ms;
}

void timed_child_free(struct timed_child *a)
{
	if (!a)
		return;
	if (a->worker >= 0)
		close(a->worker);
	stop_server(a);
	for (int i = 0; i < TIMED_CHILD_MAX_STUCK; i++) {
		if (a->stuck[i].fd >= 0)
			close(a->stuck[i].fd);
	}
	free(a);
}

/* ---- the worker ---- */

/* Has the server leave the worker that there was, and fork another one. */
static int start_worker(struct timed_child *a, enum timed_child_before before)
{
	const char byte = (char)before;
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	err = a->control < 0 ? -EPIPE : fdpass_send(a->control, &byte, 1, &pair[1], 1);
	if (err == -EPIPE || err == -ECONNRESET) {
		log_warn(
			"cpi-read: the reading process has died: starting another one");
		stop_server(a);
		err = start_server(a);
		if (!err)
			err = fdpass_send(a->control, &byte, 1, &pair[1], 1);
	}
	close(pair[1]);
	if (err) {
		close(pair[0]);
		return err;
	}
	a->worker = pair[0];
	return 0;
}

static void drop_worker(struct timed_child *a)
{
	close(a->worker);
	a->worker = -1;
}

/* Starts a worker if none runs. */
static int send_question(struct timed_child *a, const struct timed_child_question *q)
{
	struct {
		struct timed_child_head head;
		char data[TIMED_CHILD_MAX_QUESTION];
	} message;
	int err;

	assert(q->size <= TIMED_CHILD_MAX_QUESTION);
	message.head = (struct timed_child_head){ .fn = q->fn };
	if (q->size)
		memcpy(message.data, q->data, q->size);
	for (int try = 0; try < 2; try++) {
		err = a->worker < 0 ? start_worker(a, TIMED_CHILD_KILL) : 0;
		if (!err)
			err = fdpass_send(a->worker, &message,
					  sizeof(message.head) + q->size, q->fd,
					  q->fd != NULL);
		if (err != -EPIPE && err != -ECONNRESET)
			break;
		drop_worker(a); /* it died since: one more try */
	}
	return err;
}

/* 0 when something has come, or -ETIMEDOUT. */
static int await(int fd, uint64_t end_ns)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t now_ns;

	while ((now_ns = time_mono_ns()) < end_ns) {
		if (poll(&p, 1, (int)((end_ns - now_ns) / NSEC_PER_MSEC) + 1) > 0)
			return 0;
	}
	return -ETIMEDOUT;
}

/* One message: the head of an answer and its beginning, or what follows. */
static ssize_t take_message(int socket, uint64_t end_ns, void *data, size_t size)
{
	int err = await(socket, end_ns);

	return err ? err : fdpass_take_some(socket, data, size, NULL, MSG_DONTWAIT);
}

/*
 * Takes what the worker says. 0; -ETIMEDOUT, or -ECHILD: then the worker is no good any
 * more.
 */
static int take_answer(struct timed_child *a, uint64_t end_ns,
		       struct timed_child_reply *reply, struct buf *out)
{
	char *message = malloc(TIMED_CHILD_CHUNK);
	size_t taken = 0;
	ssize_t n;
	int err = message ? 0 : -ENOMEM;

	if (err)
		return err;
	n = take_message(a->worker, end_ns, message, TIMED_CHILD_CHUNK);
	if (n < (ssize_t)sizeof(*reply)) {
		err = n == -ETIMEDOUT ? (int)n : -ECHILD;
		goto out;
	}
	memcpy(reply, message, sizeof(*reply));
	taken = (size_t)n - sizeof(*reply);
	if (reply->size > TIMED_CHILD_MAX_ANSWER || taken > reply->size) {
		err = -ECHILD;
		goto out;
	}
	buf_put(out, message + sizeof(*reply), taken);
	while (taken < reply->size) {
		n = take_message(a->worker, end_ns, message, TIMED_CHILD_CHUNK);
		if (n <= 0 || (size_t)n > reply->size - taken) {
			err = n == -ETIMEDOUT ? (int)n : -ECHILD;
			goto out;
		}
		buf_put(out, message, (size_t)n);
		taken += (size_t)n;
	}
out:
	free(message);
	return err;
}

/* ---- who pays ---- */

struct share {
	struct time_quota *quota; /* NULL: no share is charged */
	uint64_t *waited_ns;      /* when it was waited for in vain */
};

struct payer {
	struct share process, parent, user;
	pid_t tgid;
	uid_t uid;
};

static uid_t owner_of(pid_t tgid)
{
	uint32_t uid;

	if (procowner_uid((uint32_t)tgid, &uid))
		return 0;
	return uid < SUBUID_FIRST ? uid : uid - (uid - SUBUID_FIRST) % SUBUID_RANGE;
}

static struct share share_of_process(struct timed_child *a, pid_t tgid)
{
	const size_t i = hash_u64((uint64_t)tgid) % NR_SHARES;

	return (struct share){ &a->process[i], &a->process_waited_ns[i] };
}

static struct share share_of_user(struct timed_child *a, uid_t uid)
{
	const size_t i = hash_u64(uid) % NR_SHARES;

	return (struct share){ &a->user[i], &a->user_waited_ns[i] };
}

static struct payer find_payer(struct timed_child *a,
			       const struct timed_child_question *q)
{
	struct payer p = { .tgid = q->tgid };

	if (!q->tgid)
		return p;
	p.process = share_of_process(a, q->tgid);
	if (q->parent > 1)
		p.parent = share_of_process(a, q->parent);
	p.uid = owner_of(q->tgid);
	if (p.uid)
		p.user = share_of_user(a, p.uid);
	return p;
}

static bool has(const struct share *s, const struct time_quota_limit *limit,
		uint64_t now_ns)
{
	return !s->quota || time_quota_has(s->quota, limit, now_ns);
}

static bool is_suspect(const struct share *s, uint64_t now_ns)
{
	return s->quota && *s->waited_ns && now_ns - *s->waited_ns < SUSPECT_NS;
}

/*
 * Whether the limits of all waits allow a question. Processes and users that caused
 * no wait lately are refused last.
 */
static bool may_wait(struct timed_child *a, const struct payer *p, uint64_t now_ns)
{
	const bool has_some = time_quota_has(&a->waits, &wait_limit, now_ns);

	if (!time_quota_has(&a->first_waits, &first_wait_limit, now_ns))
		return false;
	return has_some ||
	       (p->tgid && !is_suspect(&p->process, now_ns) &&
		!is_suspect(&p->parent, now_ns) && !is_suspect(&p->user, now_ns));
}

static bool can_pay(struct timed_child *a, const struct payer *p, uint64_t now_ns)
{
	return has(&p->process, &process_limit, now_ns) &&
	       has(&p->parent, &process_limit, now_ns) &&
	       has(&p->user, &user_limit, now_ns) && may_wait(a, p, now_ns);
}

static void pay(const struct payer *p, uint64_t ns)
{
	const struct share *const shares[] = { &p->process, &p->parent, &p->user };

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		if (shares[i]->quota)
			time_quota_spend(shares[i]->quota, ns);
	}
}

/* Charges the wait to the common quota, and to the process and user that caused it. */
static void pay_wait(struct timed_child *a, const struct payer *p, uint64_t begun_ns)
{
	const struct share *const shares[] = { &p->process, &p->parent, &p->user };
	const uint64_t now_ns = time_mono_ns();

	pay(p, now_ns - begun_ns);
	time_quota_spend(&a->waits, now_ns - begun_ns);
	time_quota_spend(&a->first_waits, now_ns - begun_ns);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		if (shares[i]->quota)
			*shares[i]->waited_ns = now_ns;
	}
}

/*
 * Returns a free slot for a worker that may get stuck. NULL: too many workers are
 * stuck, or one is stuck with the same question about this process.
 */
static struct stuck *find_room(struct timed_child *a, const struct payer *p,
			       timed_child_fn fn)
{
	const int most =
		p->uid ? TIMED_CHILD_MAX_STUCK_USER : TIMED_CHILD_MAX_STUCK_ROOT;
	struct stuck *room = NULL;
	int nr_of_user = 0;

	for (int i = 0; i < TIMED_CHILD_MAX_STUCK; i++) {
		struct stuck *s = &a->stuck[i];
		struct pollfd gone = { .fd = s->fd };

		if (s->fd >= 0 && poll(&gone, 1, 0) > 0) {
			close(s->fd);
			s->fd = -1;
		}
		if (s->fd < 0) {
			room = s;
			continue;
		}
		if (p->tgid && s->tgid == p->tgid && s->fn == fn)
			return NULL;
		nr_of_user += s->uid == p->uid;
	}
	return nr_of_user < most ? room : NULL;
}

static int nr_stuck(const struct timed_child *a)
{
	int nr = 0;

	for (int i = 0; i < TIMED_CHILD_MAX_STUCK; i++)
		nr += a->stuck[i].fd >= 0;
	return nr;
}

/* ---- one question ---- */

/* The worker has not answered: it is forgotten when it has ended, or answers. */
static void leave_alone(struct timed_child *a, struct stuck *room,
			const struct payer *p, timed_child_fn fn)
{
	*room = (struct stuck){ a->worker, fn, p->tgid, p->uid };
	a->worker = -1;
	a->nr_timeouts++;
	/* Where that fails, the next one tries. */
	start_worker(a, nr_stuck(a) <= TIMED_CHILD_MAX_STUCK / 2 ? TIMED_CHILD_LINGER
								 : TIMED_CHILD_KILL);
}

/*
 * Asks, and charges the payer for the worker's CPU time, or for the time waited in
 * vain.
 */
static int ask(struct timed_child *a, const struct timed_child_question *q,
	       const struct payer *p, struct stuck *room, struct buf *out)
{
	const unsigned int ms = q->patience_ms ? q->patience_ms : a->patience_ms;
	const uint64_t begun_ns = time_mono_ns();
	struct timed_child_reply reply;
	int err = send_question(a, q);

	if (err)
		return err;
	a->nr_asked++;
	err = take_answer(a, begun_ns + ms * NSEC_PER_MSEC, &reply, out);
	if (!err) {
		a->cpu_ns += reply.cpu_ns;
		a->user_cpu_ns[hash_u64(p->uid) % NR_SHARES] += reply.cpu_ns;
		pay(p, reply.cpu_ns);
		return reply.err;
	}
	pay_wait(a, p, begun_ns);
	if (err == -ETIMEDOUT)
		leave_alone(a, room, p, q->fn);
	else
		drop_worker(a);
	return err;
}

int timed_child_ask(struct timed_child *a, const struct timed_child_question *q,
		    struct buf *out)
{
	const uint64_t now_ns = time_mono_ns();
	const struct payer payer = find_payer(a, q);
	struct stuck *room = find_room(a, &payer, q->fn);
	struct buf answer = { 0 };
	int err;

	if (!room || !can_pay(a, &payer, now_ns)) {
		a->nr_refused++;
		return -EBUSY;
	}
	err = ask(a, q, &payer, room, &answer);
	if (!err && answer.err)
		err = answer.err;
	if (!err && out)
		buf_put(out, answer.data, answer.len);
	if (!err && out && out->err)
		err = out->err;
	buf_fini(&answer);
	return err;
}

int timed_child_ask_for(struct timed_child *a, const struct timed_child_question *q,
			void *out, size_t size)
{
	struct buf answer = { 0 };
	int err = timed_child_ask(a, q, &answer);

	if (!err && answer.len != size)
		err = -CPI_ECORRUPT;
	if (!err && size)
		memcpy(out, answer.data, size);
	buf_fini(&answer);
	return err;
}

static int do_nothing(struct timed_child_job *job)
{
	(void)job;
	return 0;
}

/*
 * The worker keeps the descriptor until the next question. By then it is closed
 * here, so the worker closes the last copy. That question follows at once and is
 * charged to no process; if it is refused, any later question will do. Without a
 * worker, the close here is the last.
 */
void timed_child_dispose(struct timed_child *a, int fd)
{
	const struct timed_child_question keep = { .fn = NULL, .fd = &fd };
	const struct timed_child_question next = { .fn = do_nothing };
	int err;

	if (fd < 0)
		return;
	err = send_question(a, &keep);
	if (err)
		log_debug("cpi-read: a descriptor is closed in this process: %s",
			  err_str(err));
	close(fd);
	if (!err)
		timed_child_ask(a, &next, NULL);
}

uint64_t timed_child_cpu_ns(const struct timed_child *a)
{
	return a->cpu_ns;
}

uint64_t timed_child_take_excess(struct timed_child *a, uint64_t most_ns)
{
	uint64_t above_ns = 0;

	for (int i = 0; i < NR_SHARES; i++) {
		if (a->user_cpu_ns[i] > most_ns)
			above_ns += a->user_cpu_ns[i] - most_ns;
	}
	memset(a->user_cpu_ns, 0, sizeof(a->user_cpu_ns));
	return above_ns;
}

void timed_child_status(struct timed_child *a, struct buf *out)
{
	buf_printf(out, "reads %llu\n", (unsigned long long)a->nr_asked);
	buf_printf(out, "reads_timed_out %llu\n", (unsigned long long)a->nr_timeouts);
	buf_printf(out, "reads_refused %llu\n", (unsigned long long)a->nr_refused);
	buf_printf(out, "readers_stuck %d\n", nr_stuck(a));
	buf_printf(out, "readers_cpu_s %.3f\n", (double)a->cpu_ns / NSEC_PER_SEC);
}
