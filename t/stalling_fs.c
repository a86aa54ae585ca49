/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stalling_fs - a file system that answers nobody but its own command
 *
 *	stalling_fs [-o OPERATION] [-w FILE] [-d MS] DIRECTORY FILE COMMAND...
 *
 *	-o OPERATION  only this is not answered to others: read, flush, or root, which
 *	              are the attributes of the root directory
 *	-w FILE       all is answered until this file exists
 *	-d MS         everybody is answered, so much later
 *
 * Mounts itself at DIRECTORY, with FILE's contents as its only file, "program", and
 * runs COMMAND in a session of its own. What others ask is taken and never answered:
 * they hang, and no signal ends them, until the command has ended and all is
 * unmounted. The caller's mount namespace should be one of its own.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILE_INODE 2
#define FOREVER_S  3600 /* answers stay valid */
#define MAX_READ   (1u << 20)

static struct {
	uint32_t operation; /* 0: all of them */
	const char *when;   /* NULL: from the beginning */
	int delay_ms;       /* 0: for ever */
} stalls;

static struct {
	int fd;
	pid_t command;
	char *content;
	size_t size;
} fs;

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static void reply(const struct fuse_in_header *in, int error, const void *data,
		  size_t size)
{
	static char message[sizeof(struct fuse_out_header) + MAX_READ];
	struct fuse_out_header out = { .len = sizeof(out) + size,
				       .error = error,
				       .unique = in->unique };

	memcpy(message, &out, sizeof(out));
	if (size)
		memcpy(message + sizeof(out), data, size);
	if (write(fs.fd, message, out.len) < 0 && errno != ENOENT)
		die("write");
}

static struct fuse_attr attr_of(uint64_t node)
{
	bool is_root = node == FUSE_ROOT_ID;

	return (struct fuse_attr){
		.ino = node,
		.size = is_root ? 0 : fs.size,
		.blocks = is_root ? 0 : fs.size / 512 + 1,
		.mode = is_root ? S_IFDIR | 0755 : S_IFREG | 0755,
		.nlink = 1,
		.blksize = 4096,
	};
}

static void on_init(const struct fuse_in_header *in, const void *body)
{
	const struct fuse_init_in *asked = body;
	struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION,
				     .minor = 31,
				     .max_readahead = asked->max_readahead,
				     .max_write = 4096 };

	reply(in, 0, &out, sizeof(out));
}

static void on_lookup(const struct fuse_in_header *in, const void *body)
{
	struct fuse_entry_out out = { .nodeid = FILE_INODE,
				      .entry_valid = FOREVER_S,
				      .attr_valid = FOREVER_S,
				      .attr = attr_of(FILE_INODE) };

	if (strcmp(body, "program"))
		reply(in, -ENOENT, NULL, 0);
	else
		reply(in, 0, &out, sizeof(out));
}

static void on_getattr(const struct fuse_in_header *in)
{
	/* Those of the root are asked for each time. */
	struct fuse_attr_out out = { .attr_valid =
					     in->nodeid == FUSE_ROOT_ID ? 0 : FOREVER_S,
				     .attr = attr_of(in->nodeid) };

	reply(in, 0, &out, sizeof(out));
}

static void on_read(const struct fuse_in_header *in, const void *body)
{
	const struct fuse_read_in *asked = body;
	size_t left = asked->offset < fs.size ? fs.size - asked->offset : 0;

	left = left < asked->size ? left : asked->size;
	reply(in, 0, fs.content + asked->offset, left < MAX_READ ? left : MAX_READ);
}

static bool is_stalling_operation(const struct fuse_in_header *in)
{
	return !stalls.operation ||
	       (in->opcode == stalls.operation &&
		(in->opcode != FUSE_GETATTR || in->nodeid == FUSE_ROOT_ID));
}

/* A request of 0 is the kernel's own, when nobody waits. */
static bool is_stalled(const struct fuse_in_header *in)
{
	return in->opcode != FUSE_INIT && in->pid && !stalls.delay_ms &&
	       is_stalling_operation(in) && getsid((pid_t)in->pid) != fs.command &&
	       (!stalls.when || !access(stalls.when, F_OK));
}

static void delay(void)
{
	const struct timespec t = { .tv_nsec = stalls.delay_ms * 1000000L };

	if (stalls.delay_ms)
		nanosleep(&t, NULL);
}

static void answer(const struct fuse_in_header *in)
{
	static const struct fuse_open_out opened = { .open_flags = FOPEN_KEEP_CACHE };
	static const struct fuse_statfs_out statfs = { .st = { .bsize = 4096,
							       .namelen = 255 } };
	const void *body = in + 1;

	if (is_stalled(in))
		return;
	delay();
	switch (in->opcode) {
	case FUSE_INIT:
		return on_init(in, body);
	case FUSE_LOOKUP:
		return on_lookup(in, body);
	case FUSE_GETATTR:
		return on_getattr(in);
	case FUSE_OPEN:
		return reply(in, 0, &opened, sizeof(opened));
	case FUSE_READ:
		return on_read(in, body);
	case FUSE_STATFS:
		return reply(in, 0, &statfs, sizeof(statfs));
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	case FUSE_RELEASE:
	case FUSE_FLUSH:
		return reply(in, 0, NULL, 0);
	default:
		return reply(in, -ENOSYS, NULL, 0);
	}
}

/* Answers until the command has ended. */
static void serve(void)
{
	static _Alignas(8) char request[MAX_READ];
	struct pollfd p = { .fd = fs.fd, .events = POLLIN };

	while (!waitpid(fs.command, NULL, WNOHANG)) {
		if (poll(&p, 1, 10) > 0 && read(fs.fd, request, sizeof(request)) > 0)
			answer((const struct fuse_in_header *)request);
	}
}

static void load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		die(path);
	fs.size = st.st_size;
	fs.content = malloc(fs.size);
	if (!fs.content || read(fd, fs.content, fs.size) != (ssize_t)fs.size)
		die(path);
	close(fd);
}

static void mount_at(const char *directory)
{
	char options[128];

	fs.fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fs.fd < 0)
		die("/dev/fuse");
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other", fs.fd,
		 getuid(), getgid());
	if (mount("stalling", directory, "fuse.stalling", MS_NOSUID | MS_NODEV,
		  options))
		die(directory);
}

static void choose_operation(const char *name)
{
	if (!strcmp(name, "read"))
		stalls.operation = FUSE_READ;
	else if (!strcmp(name, "flush"))
		stalls.operation = FUSE_FLUSH;
	else if (!strcmp(name, "root"))
		stalls.operation = FUSE_GETATTR;
	else
		die(name);
}

static bool parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "+o:w:d:")) != -1) {
		switch (c) {
		case 'o':
			choose_operation(optarg);
			break;
		case 'w':
			stalls.when = optarg;
			break;
		case 'd':
			stalls.delay_ms = atoi(optarg);
			break;
		default:
			return false;
		}
	}
	return argc - optind >= 3;
}

int main(int argc, char **argv)
{
	if (!parse(argc, argv)) {
		fprintf(stderr, "usage: stalling_fs [-o OPERATION] [-w FILE] [-d MS] "
				"DIRECTORY FILE COMMAND...\n");
		return 2;
	}
	argv += optind;
	load(argv[1]);
	mount_at(argv[0]);
	fs.command = fork();
	if (!fs.command) {
		setsid();
		execvp(argv[2], argv + 2);
		die(argv[2]);
	}
	serve();
	umount2(argv[0], MNT_DETACH);
	return 0;
}
