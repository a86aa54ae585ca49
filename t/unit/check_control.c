/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server's thread runs in the test's own process, whose main thread does what it
 * is handed; clients are sockets of the same process, or of a child where they are
 * somebody else. The session below only notes what it was asked for.
 */
#include "config.h"

#include "daemon/control/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/control.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/control/askers.h"
#include "daemon/mappings/registration.h"
#include "daemon/os/foreignfds.h"
#include "t/unit/unit.h"

#define NR_CROWD    100
#define PATIENCE_MS 20000

struct session {
	int nr_flushes;
	int nr_epochs;
	int nr_marks;
	int nr_containers;
	char label[CPI_CONTROL_TEXT];
	double hz;
	struct registration registered; /* its path is in label */
	int err;                        /* what the next call returns */
	size_t status_bytes;            /* of the status, about */
};

static struct session the_session;
static struct control *the_control;
static struct heartbeat the_heartbeat;
static char dir[] = "/tmp/cpi-control.XXXXXX";
static char path[64];

int session_flush(struct session *s)
{
	s->nr_flushes++;
	return s->err;
}

int session_new_epoch(struct session *s, const char *label)
{
	s->nr_epochs++;
	snprintf(s->label, sizeof(s->label), "%s", label);
	return s->err;
}

int session_container(struct session *s, const char *id, const char *name)
{
	s->nr_containers++;
	snprintf(s->label, sizeof(s->label), "%.12s %s", id, name);
	return s->err;
}

int session_mark(struct session *s, const char *text, uint64_t *at_ns)
{
	s->nr_marks++;
	snprintf(s->label, sizeof(s->label), "%s", text);
	*at_ns = 1000000000 * NSEC_PER_SEC;
	return s->err;
}

int session_set_rate(struct session *s, double hz)
{
	s->hz = hz;
	return s->err;
}

int session_register(struct session *s, const struct registration *r, struct buf *text)
{
	s->registered = *r;
	snprintf(s->label, sizeof(s->label), "%s", r->path);
	return s->err;
}

void session_status(struct session *s, struct buf *out)
{
	buf_puts(out, "state sampling\n");
	while (out->len < s->status_bytes)
		buf_puts(out, "filler twenty bytes.\n");
}

static void setup(void)
{
	log_open("/dev/null"); /* complaints about rubbish are expected */
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/cpid.sock", dir);
	ck_assert_int_eq(control_open(path, (gid_t)-1, &the_heartbeat, &the_control),
			 0);
}

static void teardown(void)
{
	struct stat st;

	control_close(the_control);
	ck_assert_int_eq(lstat(path, &st), -1);
	rmdir(dir);
}

static int connect_client(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	strcpy(addr.sun_path, path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static struct cpi_control_request make_request(enum cpi_control_op op, const char *text)
{
	struct cpi_control_request r = {
		.magic = CPI_CONTROL_MAGIC,
		.version = CPI_CONTROL_VERSION,
		.op = op,
	};

	snprintf(r.text, sizeof(r.text), "%s", text);
	return r;
}

/* Does what the server hands on, until fd has something, or its end, to read. */
static bool serve_until(int fd)
{
	struct pollfd p[] = { { .fd = fd, .events = POLLIN },
			      { .fd = control_fd(the_control), .events = POLLIN } };
	bool quit = false;

	do {
		ck_assert_int_gt(poll(p, 2, PATIENCE_MS), 0);
		if (p[1].revents)
			control_run(the_control, &the_session, &quit);
	} while (!p[0].revents);
	return quit;
}

struct answer {
	struct cpi_control_reply head;
	char text[CPI_CONTROL_REPLY];
};

/* The reply's size, or 0 when the server closed without one. */
static ssize_t receive(int fd, struct answer *a)
{
	ssize_t n = recv(fd, a, sizeof(*a) - 1, MSG_DONTWAIT);

	if (n <= 0) {
		ck_assert_int_eq(n, 0);
		return 0;
	}
	ck_assert_int_ge(n, (ssize_t)sizeof(a->head));
	ck_assert_uint_eq(a->head.magic, CPI_CONTROL_MAGIC);
	ck_assert_uint_eq(a->head.version, CPI_CONTROL_VERSION);
	ck_assert_uint_eq(a->head.size, n - sizeof(a->head));
	((char *)a)[n] = '\0';
	return n;
}

static int ask(const struct cpi_control_request *r, struct answer *a, bool *quit)
{
	int fd = connect_client();

	ck_assert_int_eq(send(fd, r, sizeof(*r), 0), sizeof(*r));
	*quit = serve_until(fd);
	ck_assert_int_gt(receive(fd, a), 0);
	close(fd);
	return a->head.status;
}

START_TEST(each_request_reaches_the_session)
{
	struct cpi_control_request r;
	struct answer a;
	bool quit;

	r = make_request(CPI_CONTROL_STATUS, "");
	ck_assert_int_eq(ask(&r, &a, &quit), 0);
	ck_assert_ptr_nonnull(strstr(a.text, "version " PACKAGE_VERSION "\n"));
	ck_assert_ptr_nonnull(strstr(a.text, "\nstate sampling\n"));
	r = make_request(CPI_CONTROL_FLUSH, "");
	ck_assert_int_eq(ask(&r, &a, &quit), 0);
	ck_assert_int_eq(the_session.nr_flushes, 1);
	r = make_request(CPI_CONTROL_EPOCH, "before the change");
	ck_assert_int_eq(ask(&r, &a, &quit), 0);
	ck_assert_str_eq(the_session.label, "before the change");
	r = make_request(CPI_CONTROL_MARK, "release \xc3\xa9");
	ck_assert_int_eq(ask(&r, &a, &quit), 0);
	ck_assert_str_eq(the_session.label, "release \xc3\xa9");
	ck_assert_str_eq(a.text, "marked 2001-09-09T01:46:40Z\n");
	the_session.err = -EINPROGRESS;
	ck_assert_int_eq(ask(&r, &a, &quit), 0);
	ck_assert_ptr_nonnull(strstr(a.text, "it waits in memory"));
	the_session.err = 0;
	r = make_request(CPI_CONTROL_RATE, "12.5");
	ck_assert_int_eq(ask(&r, &a, &quit), 0);
	ck_assert_double_eq(the_session.hz, 12.5);
	ck_assert(!quit);
	r = make_request(CPI_CONTROL_QUIT, "");
	ck_assert_int_eq(ask(&r, &a, &quit), 0);
	ck_assert(quit);
}
END_TEST

static struct cpi_control_register make_registration(void)
{
	return (struct cpi_control_register){
		.head = make_request(CPI_CONTROL_REGISTER, ""),
		.pid = 7,
		.base = 0x1000,
		.size = 0x200,
		.offset = 0x30,
		.path = "/lib/x.so",
	};
}

/* Sends a request, and returns the status of its answer; -ENOMSG: there was none. */
static int ask_sized(const void *request, size_t size)
{
	struct answer a;
	int fd = connect_client();
	ssize_t got;

	ck_assert_int_eq(send(fd, request, size, 0), (ssize_t)size);
	serve_until(fd);
	got = receive(fd, &a);
	close(fd);
	return got ? a.head.status : -ENOMSG;
}

START_TEST(a_registration_reaches_the_session_with_who_asks)
{
	struct cpi_control_register r = make_registration();

	the_session.registered.uid = 12345;
	ck_assert_int_eq(ask_sized(&r, sizeof(r)), 0);
	ck_assert_int_eq(the_session.registered.tgid, 7);
	ck_assert_uint_eq(the_session.registered.uid, geteuid());
	ck_assert_uint_eq(the_session.registered.base, 0x1000);
	ck_assert_uint_eq(the_session.registered.size, 0x200);
	ck_assert_uint_eq(the_session.registered.offset, 0x30);
	ck_assert_str_eq(the_session.label, "/lib/x.so");
}
END_TEST

START_TEST(a_registration_has_its_size_and_an_end_to_its_path)
{
	struct cpi_control_register r = make_registration();

	ck_assert_int_eq(ask_sized(&r, sizeof(r) - 1), -ENOMSG);
	ck_assert_int_eq(ask_sized(&r, sizeof(r.head)), -ENOMSG);
	r.head.op = CPI_CONTROL_FLUSH;
	ck_assert_int_eq(ask_sized(&r, sizeof(r)), -ENOMSG);
	r.head.op = CPI_CONTROL_REGISTER;
	memset(r.path, 'x', sizeof(r.path));
	ck_assert_int_eq(ask_sized(&r, sizeof(r)), -ENAMETOOLONG);
	ck_assert_int_eq(the_session.registered.tgid, 0);
}
END_TEST

static struct cpi_control_container make_container(const char *name)
{
	struct cpi_control_container c = {
		.head = make_request(CPI_CONTROL_CONTAINER, ""),
		.id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"
		      "f",
	};

	snprintf(c.name, sizeof(c.name), "%s", name);
	return c;
}

START_TEST(the_name_of_a_container_reaches_the_session)
{
	struct cpi_control_container c = make_container("shop/cart/web");

	ck_assert_int_eq(ask_sized(&c, sizeof(c)), 0);
	ck_assert_str_eq(the_session.label, "0123456789ab shop/cart/web");
	the_session.err = -ENOBUFS;
	ck_assert_int_eq(ask_sized(&c, sizeof(c)), -ENOBUFS);
}
END_TEST

static const char *const bad_names[] = { "", "two\nlines", "\x1b[31m", "\xff",
					 "\xe2\x80\xae" };
static const char *const bad_ids[] = {
	"",
	"0123456789ab",
	"0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde/",
};

START_TEST(a_bad_name_of_a_container_is_refused)
{
	struct cpi_control_container c;

	for (size_t i = 0; i < NR(bad_names); i++) {
		c = make_container(bad_names[i]);
		ck_assert_int_eq(ask_sized(&c, sizeof(c)), -EINVAL);
	}
	for (size_t i = 0; i < NR(bad_ids); i++) {
		c = make_container("web");
		snprintf(c.id, sizeof(c.id), "%s", bad_ids[i]);
		ck_assert_int_eq(ask_sized(&c, sizeof(c)), -EINVAL);
	}
	c = make_container("web");
	ck_assert_int_eq(ask_sized(&c, sizeof(c) - 1), -ENOMSG);
	ck_assert_int_eq(ask_sized(&c, sizeof(c.head)), -ENOMSG);
	memset(c.id, '0', sizeof(c.id));
	ck_assert_int_eq(ask_sized(&c, sizeof(c)), -ENAMETOOLONG);
	c = make_container("");
	memset(c.name, 'x', sizeof(c.name));
	ck_assert_int_eq(ask_sized(&c, sizeof(c)), -ENAMETOOLONG);
	ck_assert_int_eq(the_session.nr_containers, 0);
}
END_TEST

static const struct {
	int op;
	const char *text;
	int session_err, want;
	const char *why; /* part of the reply */
} failures[] = {
	{ CPI_CONTROL_FLUSH, "", -ENOSPC, -ENOSPC, "No space left" },
	{ CPI_CONTROL_EPOCH, "x", -EIO, -EIO, "cannot begin an epoch" },
	{ CPI_CONTROL_EPOCH, "two\nlines", 0, -EINVAL, "control characters" },
	{ CPI_CONTROL_EPOCH, "\xc2\x9b[31m", 0, -EINVAL, "control characters" },
	{ CPI_CONTROL_MARK, "x", -ENOBUFS, -ENOBUFS, "cannot take the mark" },
	{ CPI_CONTROL_MARK, "", 0, -EINVAL, "a mark has a text" },
	{ CPI_CONTROL_MARK, "two\nlines", 0, -EINVAL, "control characters" },
	{ CPI_CONTROL_MARK, "\xff", 0, -EINVAL, "control characters" },
	{ CPI_CONTROL_RATE, "100", -EACCES, -EACCES, "100 Hz" },
	{ CPI_CONTROL_RATE, "", 0, -EINVAL, "no rate" },
	{ CPI_CONTROL_RATE, "fast", 0, -EINVAL, "\"fast\" is no rate" },
	{ CPI_CONTROL_RATE, "-5", 0, -EINVAL, "no rate" },
	{ CPI_CONTROL_RATE, "0", 0, -EINVAL, "no rate" },
	{ CPI_CONTROL_RATE, "nan", 0, -EINVAL, "no rate" },
	{ CPI_CONTROL_RATE, "1e999", 0, -EINVAL, "no rate" },
	{ CPI_CONTROL_RATE, "100 Hz", 0, -EINVAL, "no rate" },
	{ CPI_CONTROL_RATE, "budgets", 0, -EINVAL, "no rate" },
	{ 0, "", 0, -EOPNOTSUPP, "no operation 0" },
	{ CPI_CONTROL_CONTAINER + 1, "", 0, -EOPNOTSUPP, "no operation" },
	{ 0xffff, "", 0, -EOPNOTSUPP, "no operation" },
};

START_TEST(a_failure_says_why)
{
	struct cpi_control_request r = make_request(failures[_i].op, failures[_i].text);
	struct answer a;
	bool quit;

	the_session.err = failures[_i].session_err;
	ck_assert_int_eq(ask(&r, &a, &quit), failures[_i].want);
	ck_assert_ptr_nonnull(strstr(a.text, failures[_i].why));
	ck_assert(!quit);
}
END_TEST

START_TEST(another_version_is_told_ours)
{
	struct { /* with whatever that version appends */
		struct cpi_control_request r;
		char more[100];
	} next = { .r = make_request(CPI_CONTROL_QUIT, "") };
	struct answer a;
	int fd = connect_client();

	next.r.version = CPI_CONTROL_VERSION + 1;
	ck_assert_int_eq(send(fd, &next, sizeof(next), 0), sizeof(next));
	ck_assert(!serve_until(fd));
	ck_assert_int_gt(receive(fd, &a), 0);
	ck_assert_int_eq(a.head.status, -EPROTONOSUPPORT);
	close(fd);
}
END_TEST

START_TEST(an_argument_without_an_end_is_refused)
{
	struct cpi_control_request r = make_request(CPI_CONTROL_EPOCH, "");
	struct answer a;
	bool quit;

	memset(r.text, 'x', sizeof(r.text));
	ck_assert_int_eq(ask(&r, &a, &quit), -ENAMETOOLONG);
	r.op = CPI_CONTROL_MARK;
	ck_assert_int_eq(ask(&r, &a, &quit), -ENAMETOOLONG);
	ck_assert_int_eq(the_session.nr_epochs + the_session.nr_marks, 0);
}
END_TEST

START_TEST(a_request_of_another_size_is_dropped)
{
	char bytes[200000] = { 0 };
	struct cpi_control_request r = make_request(CPI_CONTROL_FLUSH, "");
	static const size_t sizes[] = {
		1, 4, 6, 7, 8, 71, 73, 144, 4096, 65536, 150000
	};
	struct answer a;

	memcpy(bytes, &r, sizeof(r));
	for (size_t i = 0; i < NR(sizes); i++) {
		int fd = connect_client();

		ck_assert_int_eq(send(fd, bytes, sizes[i], 0), sizes[i]);
		serve_until(fd);
		ck_assert_int_eq(receive(fd, &a), 0);
		close(fd);
	}
	ck_assert_int_eq(the_session.nr_flushes, 0);
}
END_TEST

START_TEST(rubbish_is_dropped)
{
	uint64_t seed = unit_seed(), rng = seed | 1;
	struct answer a;

	for (int i = 0; i < 500; i++) {
		uint64_t bytes[16];
		size_t size = 1 + unit_random(&rng) % sizeof(bytes);
		int fd = connect_client();

		for (size_t k = 0; k < NR(bytes); k++)
			bytes[k] = unit_random(&rng);
		ck_assert_int_eq(send(fd, bytes, size, 0), size);
		if (serve_until(fd) || receive(fd, &a))
			ck_abort_msg("seed %llu: rubbish was taken for a request",
				     (unsigned long long)seed);
		close(fd);
	}
}
END_TEST

/* Sends r with the descriptor attached. 0 or -errno. */
static int send_with(int socket, const struct cpi_control_request *r, int attached)
{
	struct iovec part = { (void *)r, sizeof(*r) };
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct msghdr msg = { .msg_iov = &part,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &attached, sizeof(int));
	return sendmsg(socket, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Refused by the kernel, or else dropped with its sender. */
START_TEST(a_descriptor_that_is_sent_is_not_kept)
{
	struct cpi_control_request r = make_request(CPI_CONTROL_STATUS, "");
	int fd = connect_client(), ends[2], err;
	struct answer a;
	bool quit;
	char byte;

	ck_assert_int_eq(pipe(ends), 0);
	err = send_with(fd, &r, ends[1]);
	close(ends[1]);
	if (err)
		ck_assert_int_eq(err, -EPERM);
	else
		serve_until(fd);
	ck_assert_int_eq(read(ends[0], &byte, 1), 0); /* no writer is left */
	close(ends[0]);
	close(fd);
	ck_assert_int_eq(ask(&r, &a, &quit), 0);
}
END_TEST

/* Does one thing that the server hands on. */
static void serve_once(void)
{
	struct pollfd p = { .fd = control_fd(the_control), .events = POLLIN };
	bool quit = false;

	ck_assert_int_eq(poll(&p, 1, PATIENCE_MS), 1);
	control_run(the_control, &the_session, &quit);
}

/* ---- a socket that cannot be closed at once ---- */

static atomic_int nr_refused, nr_busy; /* how often these are still to fail */

int __real_foreignfds_close(struct foreignfds *f, int socket);
int __wrap_foreignfds_close(struct foreignfds *f, int socket);
int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t size);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t size);

int __wrap_foreignfds_close(struct foreignfds *f, int socket)
{
	if (nr_busy <= 0)
		return __real_foreignfds_close(f, socket);
	nr_busy--;
	return -EBUSY;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
	if (name != SO_SNDBUF || nr_refused <= 0)
		return __real_setsockopt(fd, level, name, value, size);
	nr_refused--;
	errno = ENOBUFS;
	return -1;
}

START_TEST(a_client_that_is_not_accepted_is_closed_later)
{
	struct pollfd p;

	nr_refused = nr_busy = 1;
	p = (struct pollfd){ .fd = connect_client(), .events = POLLIN };
	ck_assert_int_eq(poll(&p, 1, PATIENCE_MS), 1);
	ck_assert(p.revents & POLLHUP);
	ck_assert_int_eq(nr_busy, 0);
	close(p.fd);
}
END_TEST

START_TEST(a_client_that_left_costs_nothing)
{
	struct cpi_control_request r = make_request(CPI_CONTROL_FLUSH, "");
	int fd = connect_client();

	close(fd);
	fd = connect_client();
	ck_assert_int_eq(send(fd, &r, sizeof(r), 0), sizeof(r));
	close(fd);
	while (!the_session.nr_flushes)
		serve_once();
	ck_assert_int_eq(the_session.nr_flushes, 1);
}
END_TEST

START_TEST(a_crowd_is_served)
{
	struct cpi_control_request r = make_request(CPI_CONTROL_FLUSH, "");
	int ends[2], status;
	bool quit = false;
	pid_t pid;
	char byte;

	/* a child, because whoever does not fit the backlog waits in connect */
	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		static int fd[NR_CROWD];
		struct answer a;

		for (int i = 0; i < NR_CROWD; i++) {
			fd[i] = connect_client();
			ck_assert_int_eq(send(fd[i], &r, sizeof(r), 0), sizeof(r));
		}
		for (int i = 0; i < NR_CROWD; i++) {
			if (recv(fd[i], &a, sizeof(a), 0) != sizeof(a.head))
				_exit(1);
		}
		_exit(0);
	}
	close(ends[1]);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct pollfd p[] = { { control_fd(the_control), POLLIN, 0 },
				      { ends[0], 0, 0 } };

		ck_assert_int_ge(poll(p, 2, PATIENCE_MS), 1);
		if (p[0].revents)
			control_run(the_control, &the_session, &quit);
	}
	ck_assert_int_eq(read(ends[0], &byte, 1), 0);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(the_session.nr_flushes, NR_CROWD);
	close(ends[0]);
}
END_TEST

START_TEST(a_silent_client_goes_after_its_time)
{
	int fd = connect_client();
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct answer a;

	ck_assert_int_eq(poll(&p, 1, 500), 0);
	ck_assert_int_eq(poll(&p, 1, PATIENCE_MS), 1);
	ck_assert_int_eq(receive(fd, &a), 0);
	close(fd);
}
END_TEST

/* At once: the one that has been silent for longest is dropped. */
START_TEST(the_silent_make_room_for_a_new_client)
{
	struct cpi_control_request r = make_request(CPI_CONTROL_FLUSH, "");
	uint64_t begun_ns = time_mono_ns();
	struct answer a;
	int silent[200];
	bool quit;

	for (size_t i = 0; i < NR(silent); i++)
		silent[i] = connect_client();
	ck_assert_int_eq(ask(&r, &a, &quit), 0);
	ck_assert_uint_lt(time_mono_ns() - begun_ns, NSEC_PER_SEC / 2);
	ck_assert_int_eq(receive(silent[0], &a), 0);
	for (size_t i = 0; i < NR(silent); i++)
		close(silent[i]);
}
END_TEST

/* Whether somebody else's client is answered; in a child that is nobody. */
static bool nobody_is_answered(const struct cpi_control_request *r)
{
	struct answer a;
	int fd = connect_client();

	if (send(fd, r, sizeof(*r), MSG_NOSIGNAL) != sizeof(*r) ||
	    recv(fd, &a, sizeof(a), 0) < (ssize_t)sizeof(a.head))
		return false;
	close(fd);
	return true;
}

/* It has so many clients that say nothing, and more as these are dropped. */
static void be_slow_for_ever(int told)
{
	int fd[ASKERS_MAX_OF_USER * 2];

	if (setresuid(65534, 65534, 65534) < 0)
		_exit(2);
	for (size_t i = 0; i < NR(fd); i++)
		fd[i] = connect_client();
	(void)!write(told, "", 1);
	for (size_t i = 0;; i++) {
		close(fd[i % NR(fd)]);
		fd[i % NR(fd)] = connect_client();
	}
}

START_TEST(a_user_that_connects_all_the_time_delays_nobody)
{
	struct cpi_control_request r = make_request(CPI_CONTROL_STATUS, "");
	uint64_t begun_ns, worst_ns = 0;
	int told[2], status;
	struct answer a;
	pid_t slow, other;
	bool quit;
	char byte;

	ck_assert_int_eq(chmod(dir, 0755), 0);
	ck_assert_int_eq(chmod(path, 0666), 0);
	ck_assert_int_eq(pipe(told), 0);
	slow = fork();
	if (!slow)
		be_slow_for_ever(told[1]);
	ck_assert_int_eq(read(told[0], &byte, 1), 1);
	for (int i = 0; i < 20; i++) {
		begun_ns = time_mono_ns();
		ck_assert_int_eq(ask(&r, &a, &quit), 0);
		if (time_mono_ns() - begun_ns > worst_ns)
			worst_ns = time_mono_ns() - begun_ns;
	}
	ck_assert_uint_lt(worst_ns, 10 * NSEC_PER_SEC);
	other = fork();
	if (!other) {
		if (setresuid(65533, 65533, 65533) < 0)
			_exit(2);
		_exit(nobody_is_answered(&r) ? 0 : 1);
	}
	while (waitpid(other, &status, WNOHANG) == 0) {
		struct pollfd p = { .fd = control_fd(the_control), .events = POLLIN };

		if (poll(&p, 1, 10) > 0)
			control_run(the_control, &the_session, &quit);
	}
	ck_assert_int_eq(status, 0);
	kill(slow, SIGKILL);
	waitpid(slow, &status, 0);
	close(told[0]);
	close(told[1]);
}
END_TEST

/* The main thread of this test does nothing. */
START_TEST(the_status_is_answered_while_the_main_thread_waits)
{
	struct cpi_control_request r = make_request(CPI_CONTROL_STATUS, "");
	uint64_t begun_ns = time_mono_ns();
	struct timeval patience = { .tv_sec = 1 };
	struct answer a;
	int fd;

	heartbeat_begin(&the_heartbeat, "looking out");
	if (_i)
		control_publish(the_control, &the_session);
	fd = connect_client();
	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
				    sizeof(patience)),
			 0);
	ck_assert_int_eq(send(fd, &r, sizeof(r), 0), sizeof(r));
	ck_assert_int_gt(recv(fd, &a, sizeof(a) - 1, MSG_PEEK), 0);
	ck_assert_int_gt(receive(fd, &a), 0);
	ck_assert_uint_ge(time_mono_ns() - begun_ns, NSEC_PER_SEC / 4);
	ck_assert_ptr_eq(strstr(a.text, "main_waits_s 0."), a.text);
	ck_assert_ptr_nonnull(strstr(a.text, "\nmain_activity looking out\n"));
	ck_assert_ptr_nonnull(
		strstr(a.text, _i ? "\nstate sampling\n" : "\nstate starting\n"));
	close(fd);
}
END_TEST

START_TEST(what_is_left_at_the_end_is_answered)
{
	struct cpi_control_request r = make_request(CPI_CONTROL_FLUSH, "");
	struct pollfd p = { .fd = control_fd(the_control), .events = POLLIN };
	int fd = connect_client();
	struct answer a;

	ck_assert_int_eq(send(fd, &r, sizeof(r), 0), sizeof(r));
	ck_assert_int_eq(poll(&p, 1, PATIENCE_MS), 1); /* the server has handed it on */
	control_end(the_control);
	p.fd = fd;
	ck_assert_int_eq(poll(&p, 1, PATIENCE_MS), 1);
	ck_assert_int_gt(receive(fd, &a), 0);
	ck_assert_int_eq(a.head.status, -ESHUTDOWN);
	ck_assert_int_eq(the_session.nr_flushes, 0);
	close(fd);
}
END_TEST

START_TEST(a_long_reply_is_cut_at_a_line)
{
	struct cpi_control_request r = make_request(CPI_CONTROL_STATUS, "");
	static struct answer a;
	size_t len;
	bool quit;

	the_session.status_bytes = 3 * CPI_CONTROL_REPLY;
	ck_assert_int_eq(ask(&r, &a, &quit), 0);
	len = strlen(a.text);
	ck_assert_uint_eq(len, a.head.size);
	ck_assert_uint_le(len + sizeof(a.head), CPI_CONTROL_REPLY);
	ck_assert_uint_gt(len + sizeof(a.head), CPI_CONTROL_REPLY - 22);
	ck_assert_int_eq(a.text[len - 1], '\n');
}
END_TEST

START_TEST(clients_that_never_read_do_not_hold_it_up)
{
	struct cpi_control_request r = make_request(CPI_CONTROL_STATUS, "");
	int fd[20];
	struct answer a;
	bool quit;

	the_session.status_bytes = CPI_CONTROL_REPLY;
	for (size_t i = 0; i < NR(fd); i++) {
		fd[i] = connect_client();
		ck_assert_int_eq(send(fd[i], &r, sizeof(r), 0), sizeof(r));
		serve_until(fd[i]);
	}
	ck_assert_int_eq(ask(&r, &a, &quit), 0);
	for (size_t i = 0; i < NR(fd); i++)
		close(fd[i]);
}
END_TEST

/* Exit status of a client that is somebody else: 0 if r was answered by want. */
static int ask_as_nobody(const struct cpi_control_request *r, int want)
{
	pid_t pid = fork();
	bool quit = false;
	int status;

	if (pid == 0) {
		struct answer a;
		int fd;

		if (setresuid(65534, 65534, 65534) < 0)
			_exit(2);
		fd = connect_client();
		if (send(fd, r, sizeof(*r), 0) != sizeof(*r) ||
		    recv(fd, &a, sizeof(a), 0) < (ssize_t)sizeof(a.head))
			_exit(3);
		_exit(a.head.status == want ? 0 : 1);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct pollfd p = { .fd = control_fd(the_control), .events = POLLIN };

		if (poll(&p, 1, 10) > 0)
			control_run(the_control, &the_session, &quit);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const struct {
	enum cpi_control_op op;
	int want;
} strangers[] = {
	{ CPI_CONTROL_STATUS, 0 },     { CPI_CONTROL_FLUSH, -EPERM },
	{ CPI_CONTROL_EPOCH, -EPERM }, { CPI_CONTROL_RATE, -EPERM },
	{ CPI_CONTROL_QUIT, -EPERM },  { CPI_CONTROL_MARK, -EPERM },
};

START_TEST(a_stranger_learns_the_status_and_changes_nothing)
{
	struct cpi_control_request r = make_request(strangers[_i].op, "1");

	ck_assert_int_eq(chmod(dir, 0755), 0);
	ck_assert_int_eq(chmod(path, 0666), 0);
	ck_assert_int_eq(ask_as_nobody(&r, strangers[_i].want), 0);
	ck_assert_int_eq(the_session.nr_flushes + the_session.nr_epochs +
				 the_session.nr_marks,
			 0);
	ck_assert_double_eq(the_session.hz, 0);
}
END_TEST

START_TEST(the_socket_is_the_groups)
{
	struct control *second = NULL;
	struct stat st;
	char other[80];
	mode_t before = umask(0);

	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600); /* without a group */
	snprintf(other, sizeof(other), "%s/made/cpid.sock", dir);
	ck_assert_int_eq(control_open(other, getegid(), NULL, &second), 0);
	ck_assert_int_eq(lstat(other, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0660);
	ck_assert_uint_eq(st.st_gid, getegid());
	ck_assert_uint_eq(umask(before), 0);
	control_close(second);
	*strrchr(other, '/') = '\0';
	ck_assert_int_eq(rmdir(other), 0);
}
END_TEST

START_TEST(a_second_server_is_refused)
{
	struct cpi_control_request r = make_request(CPI_CONTROL_STATUS, "");
	struct control *second = NULL;
	struct answer a;
	bool quit;

	ck_assert_int_eq(control_open(path, (gid_t)-1, NULL, &second), -EADDRINUSE);
	ck_assert_ptr_null(second);
	ck_assert_int_eq(ask(&r, &a, &quit), 0); /* the first one is unharmed */
}
END_TEST

START_TEST(a_stale_socket_is_replaced)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct control *second = NULL;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/stale", dir);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);
	ck_assert_int_eq(control_open(addr.sun_path, (gid_t)-1, NULL, &second), 0);
	control_close(second);
	ck_assert_int_eq(access(addr.sun_path, F_OK), -1);
}
END_TEST

START_TEST(what_is_no_socket_stays)
{
	struct control *second = NULL;
	char other[80];
	int fd;

	snprintf(other, sizeof(other), "%s/file", dir);
	fd = open(other, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(control_open(other, (gid_t)-1, NULL, &second), -EADDRINUSE);
	ck_assert_int_eq(unlink(other), 0);
}
END_TEST

START_TEST(anothers_socket_is_not_removed)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct control *first = NULL;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/taken", dir);
	ck_assert_int_eq(control_open(addr.sun_path, (gid_t)-1, NULL, &first), 0);
	ck_assert_int_eq(unlink(addr.sun_path), 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	control_close(first);
	ck_assert_int_eq(unlink(addr.sun_path), 0);
	close(fd);
}
END_TEST

static const struct {
	const char *path;
	int err;
} bad_paths[] = {
	{ "", -ENOENT },
	{ "/nonexistent/deeper/cpid.sock", -ENOENT },
	{ "/dev/null/cpid.sock", -ENOTDIR },
	{ "/tmp/0123456789012345678901234567890123456789012345678901234567890123456789"
	  "01234567890123456789012345678901234567",
	  -ENAMETOOLONG },
};

START_TEST(a_bad_path_is_an_error)
{
	struct control *c = NULL;

	ck_assert_int_eq(control_open(bad_paths[_i].path, (gid_t)-1, NULL, &c),
			 bad_paths[_i].err);
	ck_assert_ptr_null(c);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("control");
	TCase *tc = tcase_create("control");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, each_request_reaches_the_session);
	tcase_add_test(tc, a_registration_reaches_the_session_with_who_asks);
	tcase_add_test(tc, a_registration_has_its_size_and_an_end_to_its_path);
	tcase_add_test(tc, the_name_of_a_container_reaches_the_session);
	tcase_add_test(tc, a_bad_name_of_a_container_is_refused);
	tcase_add_loop_test(tc, a_failure_says_why, 0, NR(failures));
	tcase_add_test(tc, another_version_is_told_ours);
	tcase_add_test(tc, an_argument_without_an_end_is_refused);
	tcase_add_test(tc, a_request_of_another_size_is_dropped);
	tcase_add_test(tc, rubbish_is_dropped);
	tcase_add_test(tc, a_descriptor_that_is_sent_is_not_kept);
	tcase_add_test(tc, a_client_that_is_not_accepted_is_closed_later);
	tcase_add_test(tc, a_client_that_left_costs_nothing);
	tcase_add_test(tc, a_crowd_is_served);
	tcase_add_test(tc, a_silent_client_goes_after_its_time);
	tcase_add_test(tc, the_silent_make_room_for_a_new_client);
	tcase_add_loop_test(tc, the_status_is_answered_while_the_main_thread_waits, 0,
			    2);
	tcase_add_test(tc, what_is_left_at_the_end_is_answered);
	tcase_add_test(tc, a_long_reply_is_cut_at_a_line);
	tcase_add_test(tc, clients_that_never_read_do_not_hold_it_up);
	if (geteuid() == 0)
		tcase_add_test(tc, a_user_that_connects_all_the_time_delays_nobody);
	if (geteuid() == 0)
		tcase_add_loop_test(tc,
				    a_stranger_learns_the_status_and_changes_nothing, 0,
				    NR(strangers));
	tcase_add_test(tc, the_socket_is_the_groups);
	tcase_add_test(tc, a_second_server_is_refused);
	tcase_add_test(tc, a_stale_socket_is_replaced);
	tcase_add_test(tc, what_is_no_socket_stays);
	tcase_add_test(tc, anothers_socket_is_not_removed);
	tcase_add_loop_test(tc, a_bad_path_is_an_error, 0, NR(bad_paths));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
