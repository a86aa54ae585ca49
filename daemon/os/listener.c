/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A daemon that was killed leaves its socket behind, and bind() refuses a name
 * that exists. connect() shows whether a process still listens: only ECONNREFUSED
 * proves that none does. The file is removed only if it is a socket. Nobody can
 * connect before listen(), so owner and mode are right by then.
 */
#include "config.h"

#include "daemon/os/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "daemon/os/foreignfds.h"

#define BACKLOG 64

struct listener {
	int fd;
	int type; /* SOCK_SEQPACKET, … */
	bool bound;
	bool refuses_fds;
	struct sockaddr_un addr;
	dev_t dev; /* of the socket's file */
	ino_t ino;
};

static bool is_stale(const struct sockaddr_un *addr, int type)
{
	struct stat st;
	bool stale;
	int fd;

	if (lstat(addr->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return false;
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	stale = connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) < 0 &&
		errno == ECONNREFUSED;
	close(fd);
	return stale;
}

/* Nobody but the daemon's user may open it yet. */
static int bind_privately(int fd, const struct sockaddr_un *addr)
{
	mode_t before = umask(0177);
	int err =
		bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) < 0 ? -errno : 0;

	umask(before);
	return err;
}

/* Everybody may enter: each socket has a mode of its own. */
static int make_directory(const char *path)
{
	char dir[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char *slash;
	mode_t before;
	int err;

	strcpy(dir, path); /* which fits: the caller has it in a sun_path */
	slash = strrchr(dir, '/');
	if (!slash || slash == dir)
		return 0;
	*slash = '\0';
	before = umask(0022);
	err = mkdir(dir, 0755) < 0 && errno != EEXIST ? -errno : 0;
	umask(before);
	return err;
}

static int bind_path(struct listener *l)
{
	struct stat st;
	int err = bind_privately(l->fd, &l->addr);

	if (err == -ENOENT) {
		err = make_directory(l->addr.sun_path);
		if (!err)
			err = bind_privately(l->fd, &l->addr);
	} else if (err == -EADDRINUSE && is_stale(&l->addr, l->type)) {
		err = unlink(l->addr.sun_path) < 0 ? -errno
						   : bind_privately(l->fd, &l->addr);
	}
	if (err)
		return err;
	if (lstat(l->addr.sun_path, &st) < 0)
		return -errno;
	l->bound = true;
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	return 0;
}

static int open_to(const struct listener *l, gid_t group)
{
	if (l->type == SOCK_DGRAM)
		return chmod(l->addr.sun_path, 0666) < 0 ? -errno : 0;
	if (group == (gid_t)-1)
		return 0;
	if (lchown(l->addr.sun_path, (uid_t)-1, group) < 0 ||
	    chmod(l->addr.sun_path, 0660) < 0)
		return -errno;
	return 0;
}

static void log_failure(const char *path, const char *step, int err)
{
	switch (err) {
	case -EADDRINUSE:
		log_err("socket: %s: another process listens there, or it is no "
			"socket; stop that one, or give another --socket",
			path);
		break;
	case -ENAMETOOLONG:
		log_err("socket: %s: a socket's name has at most %zu bytes", path,
			sizeof(((struct sockaddr_un *)0)->sun_path) - 1);
		break;
	default:
		log_err("socket: %s: cannot %s: %s", path, step, err_str(err));
	}
}

static int open_socket(const char *path, int type, gid_t group, struct listener **out)
{
	struct listener *l = calloc(1, sizeof(*l));
	const char *step = "listen there";
	int err;

	if (!l)
		return -ENOMEM;
	l->type = type;
	l->addr.sun_family = AF_UNIX;
	l->fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0) {
		err = -errno;
		goto out;
	}
	l->refuses_fds = foreignfds_refuse(l->fd);
	if (!path[0] || strlen(path) >= sizeof(l->addr.sun_path)) {
		err = path[0] ? -ENAMETOOLONG : -ENOENT;
		goto out;
	}
	strcpy(l->addr.sun_path, path);
	err = bind_path(l);
	if (err)
		goto out;
	err = open_to(l, group);
	if (err) {
		step = "let others talk to it";
		goto out;
	}
	if (type != SOCK_DGRAM && listen(l->fd, BACKLOG) < 0) {
		err = -errno;
		goto out;
	}
	*out = l;
	return 0;
out:
	log_failure(path, step, err);
	listener_close(l);
	return err;
}

int listener_open(const char *path, gid_t group, struct listener **out)
{
	return open_socket(path, SOCK_SEQPACKET, group, out);
}

int listener_open_datagrams(const char *path, struct listener **out)
{
	return open_socket(path, SOCK_DGRAM, (gid_t)-1, out);
}

int listener_fd(const struct listener *l)
{
	return l->fd;
}

bool listener_refuses_fds(const struct listener *l)
{
	return l->refuses_fds;
}

void listener_close(struct listener *l)
{
	struct stat st;

	if (!l)
		return;
	if (l->bound && lstat(l->addr.sun_path, &st) == 0 && st.st_dev == l->dev &&
	    st.st_ino == l->ino)
		unlink(l->addr.sun_path);
	if (l->fd >= 0)
		close(l->fd);
	free(l);
}
