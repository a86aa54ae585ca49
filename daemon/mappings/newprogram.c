/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * newprogram.c - loads kmod/cpi_newprogram.bpf.c and reads its notices
 */
#include "config.h"

#include "daemon/mappings/newprogram.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "abi/newprogram.h"
#include "daemon/collect/bpf_log.h"
#include "daemon/cpi_newprogram.skel.h"

struct newprogram {
	struct cpi_newprogram_bpf *skel;
	struct bpf_link *link;
	struct ring_buffer *ring;
	bool told;      /* a notice came since the last newprogram_take() ... */
	uint64_t inode; /* ... of this program */
};

static int take_notice(void *ctx, void *data, size_t size)
{
	const struct cpi_newprogram_notice *notice = data;
	struct newprogram *n = ctx;

	if (size < sizeof(*notice))
		return 0;
	n->told = true;
	n->inode = notice->inode;
	return 0;
}

static int load(struct newprogram *n)
{
	int err;

	n->skel = cpi_newprogram_bpf__open();
	if (!n->skel)
		return -errno;
	err = bpf_map__set_max_entries(n->skel->maps.cpi_new_programs,
				       sysconf(_SC_PAGESIZE)); /* the smallest size */
	if (!err)
		err = cpi_newprogram_bpf__load(n->skel);
	if (err)
		return err;
	n->link = bpf_program__attach(n->skel->progs.cpi_new_program);
	return n->link ? 0 : -errno;
}

static int notices(const struct newprogram *n)
{
	return bpf_map__fd(n->skel->maps.cpi_new_programs);
}

int newprogram_open(struct newprogram **out)
{
	struct newprogram *n = calloc(1, sizeof(*n));
	int err;

	if (!n)
		return -ENOMEM;
	bpf_log_begin();
	err = load(n);
	if (!err) {
		n->ring = ring_buffer__new(notices(n), take_notice, n, NULL);
		err = n->ring ? 0 : -errno;
	}
	if (err) {
		newprogram_close(n);
		return err;
	}
	*out = n;
	return 0;
}

int newprogram_watch(const struct newprogram *n, int epoll_fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = notices(n) };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, ev.data.fd, &ev) ? -errno : 0;
}

void newprogram_close(struct newprogram *n)
{
	if (!n)
		return;
	ring_buffer__free(n->ring);
	bpf_link__destroy(n->link);
	cpi_newprogram_bpf__destroy(n->skel);
	free(n);
}

bool newprogram_take(struct newprogram *n, uint64_t *inode)
{
	bool told;

	ring_buffer__consume(n->ring);
	told = n->told;
	if (told && inode)
		*inode = n->inode;
	n->told = false;
	return told;
}
