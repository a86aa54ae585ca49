/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The socket lives for the length of one datagram. A socket that stayed open would
 * disturb programs that close unknown descriptors, rely on the next descriptor's
 * number, or fork. Its number might also belong to another file by the next time.
 *
 * A seccomp filter may kill a program for an unknown system call, so nothing is sent
 * from a program with a filter. Before the program runs, it can only have its parent's
 * filter, and prctl() tells whether there is one; a filter that kills for prctl() would
 * hardly let a program start. A running program may have any filter of its own. So the
 * check for a filter, and the check before it for a socket, use only system calls that
 * the linker itself has just made to load an object. They cost more than everything
 * else here.
 */
#include "config.h"

#include "loader-hook/send.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "loader-hook/sys.h"

#define STATUS_BYTES \
	1536 /* the line is in the first KB, unless Groups: has 100 entries */

static bool begins_with(const char *text, const char *end, const char *word)
{
	while (*word) {
		if (text == end || *text++ != *word++)
			return false;
	}
	return true;
}

static long open_file(const char *path)
{
	return sys_call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0,
			0);
}

/* Whether the kernel says that there is no seccomp filter. */
static bool is_unfiltered(void)
{
	char status[STATUS_BYTES];
	long fd = open_file("/proc/self/status");
	long size;

	if (fd < 0)
		return false;
	size = sys_call(SYS_read, fd, (long)status, sizeof(status), 0, 0, 0);
	sys_call(SYS_close, fd, 0, 0, 0, 0, 0);
	for (long i = 0; i < size; i++) {
		if (status[i] == '\n' &&
		    begins_with(&status[i], status + size, "\nSeccomp:\t0\n"))
			return true;
	}
	return false;
}

static bool set_path(struct sockaddr_un *address, const char *path)
{
	for (size_t i = 0; i < sizeof(address->sun_path); i++) {
		address->sun_path[i] = path[i];
		if (!path[i])
			return i > 0;
	}
	return false;
}

/* open() of a socket fails with ENXIO. */
static bool is_socket(const char *path)
{
	long fd = open_file(path);

	if (fd >= 0)
		sys_call(SYS_close, fd, 0, 0, 0, 0, 0);
	return fd == -ENXIO;
}

void send_datagram(const char *path, bool is_running, const void *data, size_t size)
{
	struct sockaddr_un address;
	long fd;

	address.sun_family = AF_UNIX;
	if (!set_path(&address, path) || !is_socket(path))
		return;
	if (is_running ? !is_unfiltered()
		       : sys_call(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0) != 0)
		return;
	fd = sys_call(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		      0, 0, 0);
	if (fd < 0)
		return;
	sys_call(SYS_sendto, fd, (long)data, (long)size, MSG_DONTWAIT | MSG_NOSIGNAL,
		 (long)&address, sizeof(address));
	sys_call(SYS_close, fd, 0, 0, 0, 0, 0);
}
