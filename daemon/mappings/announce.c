/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * announce.c - the daemon's end of the loader hook's socket
 */
#include "config.h"

#include "daemon/mappings/announce.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

#include "abi/announce.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/mappings/announced.h"
#include "daemon/os/foreignfds.h"
#include "daemon/os/listener.h"

#define QUEUE_FILE   "/proc/sys/net/unix/max_dgram_qlen"
#define QUEUE_WANTED 128 /* ten times as many fit in a second */

/* After so long without a datagram, the next one wakes the daemon again. */
#define SILENCE_NS (5 * NSEC_PER_SEC)

static const struct time_quota_limit limit = { 20, 200 * NSEC_PER_MSEC };

struct announce {
	struct listener *listener;
	int epoll_fd;
	bool wakes;        /* whether epoll_fd watches the socket */
	uint64_t heard_ns; /* when the last datagram was taken */
	uint64_t nr_datagrams;
	uint64_t nr_descriptors; /* datagrams that came with descriptors */
	struct time_quota quota;
	struct foreignfds foreign;
	struct announced announced;
	char data[CPI_ANNOUNCE_MAX];
};

/* The kernel's default is 10; systemd sets 512. */
static void check_queue(void)
{
	FILE *f = fopen(QUEUE_FILE, "re");
	unsigned int length;

	if (!f)
		return;
	if (fscanf(f, "%u", &length) == 1 && length < QUEUE_WANTED)
		log_info("announce: only %u of the loader hook's datagrams can wait: "
			 "set net.unix.max_dgram_qlen to 512 if it is in use",
			 length);
	fclose(f);
}

static int set_wakes(struct announce *a, bool wakes)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int fd = listener_fd(a->listener);

	if (wakes == a->wakes)
		return 0;
	ev.data.fd = fd;
	if (epoll_ctl(a->epoll_fd, wakes ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, fd, &ev) < 0)
		return -errno;
	a->wakes = wakes;
	return 0;
}

bool announce_wakes(const struct announce *a)
{
	return a->wakes;
}

int announce_open(const char *path, int epoll_fd, struct procmap *procmap,
		  struct images *images, struct announce **out)
{
	struct announce *a = calloc(1, sizeof(*a));
	const int on = 1;
	int fd, err;

	if (!a)
		return -ENOMEM;
	a->announced.procmap = procmap;
	a->announced.images = images;
	err = listener_open_datagrams(path, &a->listener);
	if (err)
		goto out;
	fd = listener_fd(a->listener);
	a->foreign.refused = listener_refuses_fds(a->listener);
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) < 0) {
		err = -errno;
		log_err("announce: %s: %m", path);
		goto out;
	}
	a->epoll_fd = epoll_fd;
	err = set_wakes(a, true);
	if (err)
		goto out;
	*out = a;
	return 0;
out:
	announce_close(a);
	return err;
}

/* Converts a time of the real-time clock to the monotonic one; never in the future. */
static uint64_t to_mono(const struct timespec *ts)
{
	uint64_t real_ns = time_to_ns(ts);
	uint64_t now_ns = time_mono_ns(), real_now_ns = time_real_ns(), ago_ns;

	ago_ns = real_now_ns > real_ns ? real_now_ns - real_ns : 0;
	return ago_ns < now_ns ? now_ns - ago_ns : 0;
}

/*
 * Reads who sent the datagram, and when. Both may be missing in a datagram that arrived
 * between bind() and setsockopt(); else they are always there.
 */
static bool read_source(struct msghdr *msg, struct announced_source *out)
{
	struct timespec sent = { 0 };
	struct ucred sender = { 0 };

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_CREDENTIALS)
			memcpy(&sender, CMSG_DATA(c), sizeof(sender));
		else if (c->cmsg_type == SCM_TIMESTAMPNS)
			memcpy(&sent, CMSG_DATA(c), sizeof(sent));
	}
	out->tgid = (uint32_t)sender.pid;
	out->when_ns = to_mono(&sent);
	return sender.pid > 0 && sent.tv_sec;
}

/* Takes a datagram. Returns whether there may be another one. */
static bool take_one(struct announce *a, bool is_gap)
{
	/* Room for what the kernel adds, and for nothing that the sender attaches. */
	union {
		struct cmsghdr aligned;
		char space[CMSG_SPACE(sizeof(struct ucred)) +
			   CMSG_SPACE(sizeof(struct timespec))];
	} control;
	struct iovec part = { a->data, sizeof(a->data) };
	struct msghdr msg = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct announced_source from = { .in_gap = is_gap };
	ssize_t size;

	if (foreignfds_came(&a->foreign, listener_fd(a->listener), sizeof(control))) {
		if (foreignfds_drop(&a->foreign, listener_fd(a->listener)))
			return false; /* it stays in the socket, and is dropped later */
		a->nr_datagrams++;
		a->nr_descriptors++;
		return false;
	}
	/* with MSG_TRUNC the result is the size of the datagram */
	size = recvmsg(listener_fd(a->listener), &msg, MSG_DONTWAIT | MSG_TRUNC);
	if (size < 0)
		return errno == EINTR;
	if (!a->nr_datagrams++)
		check_queue();
	if (read_source(&msg, &from) && size <= (ssize_t)sizeof(a->data))
		announced_take(&a->announced, &from, a->data, (size_t)size);
	else
		a->announced.nr[ANNOUNCED_MALFORMED]++;
	return true;
}

/* Takes as many datagrams as the time quota allows. Returns whether there was none. */
static bool take_all(struct announce *a, bool is_gap, uint64_t begun_ns)
{
	int nr = 0;

	if (!time_quota_has(&a->quota, &limit, begun_ns) ||
	    (!a->foreign.refused && foreignfds_is_dropping(&a->foreign)))
		return false; /* the socket is not empty, or may not be */
	while (nr < ANNOUNCE_BATCH && take_one(a, is_gap))
		nr++;
	time_quota_spend(&a->quota, time_mono_ns() - begun_ns);
	return !nr;
}

void announce_run(struct announce *a, bool is_gap)
{
	uint64_t begun_ns = time_mono_ns();

	if (!take_all(a, is_gap, begun_ns))
		a->heard_ns = begun_ns;
	set_wakes(a, begun_ns - a->heard_ns >= SILENCE_NS);
}

void announce_status(const struct announce *a, struct buf *out)
{
	buf_printf(out, "announcements %llu\n", (unsigned long long)a->nr_datagrams);
	if (a->nr_descriptors)
		buf_printf(out, "refused.descriptors %llu\n",
			   (unsigned long long)a->nr_descriptors);
	for (int i = 0; i < NR_ANNOUNCED_FATES; i++) {
		if (a->announced.nr[i])
			buf_printf(out, "%s.%s %llu\n",
				   i < ANNOUNCED_REFUSED ? "stated" : "refused",
				   announced_fate_name(i),
				   (unsigned long long)a->announced.nr[i]);
	}
}

void announce_close(struct announce *a)
{
	if (!a)
		return;
	listener_close(a->listener);
	free(a);
}
