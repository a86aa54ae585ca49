/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock_holder - processes whose mappings cannot be read
 *
 *	lock_holder [-n COUNT] [-u UID] [-t SECONDS] [-s] [-a SOCKET] [-x TIMES] [-e]
 *		DIRECTORY
 *
 *	-n COUNT   so many processes (default 1)
 *	-u UID     their user (default 65534)
 *	-t SECONDS when it ends (default 60)
 *	-s         a thread of each computes all the time, also before
 *	-a SOCKET  each announces itself there without end (abi/announce.h)
 *	-x TIMES   each has called exec so often before
 *	-e         each calls exec, which does not return, while it holds
 *
 * Mounts a FUSE file system at DIRECTORY/locks, in a mount namespace of its own and as
 * that user's, and starts the processes. A thread of each reads a file there, which is
 * not answered: so a page of it stays locked. Another thread maps the file over an
 * executable mapping, from a descriptor that has no cache: so the kernel wants to drop
 * that page, and waits for it with the process's mmap_lock held for writing. No signal
 * ends that.
 *
 * Prints the PID of each process as soon as it holds its lock, and serves until it is
 * killed, its parent ends, or its time is over; that ends the processes as well.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "abi/announce.h"

#define MAX_HOLDERS 1000
#define FIRST_INODE 2 /* of the files "0", "1", ... */
#define FILE_SIZE   (1u << 20)
#define FOREVER_S   3600 /* answers stay valid */
#define GO_FD       10   /* of a process that is to hold: when it is to go on */
#define REPORT_FD   11   /* and where it says which thread holds */
#define FILE_ENV    "LOCK_HOLDER_FILE"
#define EXECS_ENV   "LOCK_HOLDER_EXECS"

static struct {
	int nr;
	unsigned int uid, seconds;
	bool spins, execs;
	const char *announce, *execs_before;
	const char *directory;
} options = { .nr = 1, .uid = 65534, .seconds = 60, .execs_before = "0" };

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

/* ---- a process that holds ---- */

static struct {
	int cached, uncached; /* the same file */
	char *area;
} held;

static void *compute(void *arg)
{
	(void)arg;
	for (;;)
		__asm__ volatile("");
	return NULL;
}

static void *read_page(void *arg)
{
	char byte;

	(void)arg;
	if (read(held.cached, &byte, 1) < 0)
		die("read");
	return NULL;
}

static void *map_page(void *arg)
{
	const pid_t self[2] = { getpid(), gettid() };

	(void)arg;
	if (write(REPORT_FD, self, sizeof(self)) != sizeof(self))
		die("report");
	mmap(held.area, FILE_SIZE, PROT_READ, MAP_PRIVATE | MAP_FIXED, held.uncached,
	     0);
	fprintf(stderr, "the lock is not held any more\n");
	return NULL;
}

static void *announce(void *arg)
{
	static struct {
		struct cpi_announce_head head;
		struct cpi_announce_record record;
		struct cpi_announce_segment segment;
		char rest[4];
	} said = {
		.head = { CPI_ANNOUNCE_MAGIC, CPI_ANNOUNCE_VERSION, 0 },
		.record = { .size = sizeof(said) - sizeof(said.head),
			    .what = CPI_ANNOUNCE_LOADED,
			    .nr_segments = 1,
			    .base = 0x10000 },
		.segment = { 0, 0, 0x1000 },
	};
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	(void)arg;
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", options.announce);
	for (;;) {
		sendto(fd, &said, sizeof(said), MSG_DONTWAIT, (struct sockaddr *)&to,
		       sizeof(to));
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void start(void *(*thread)(void *))
{
	pthread_t t;

	errno = pthread_create(&t, NULL, thread, NULL);
	if (errno)
		die("pthread_create");
}

/* Itself, by its own file; the environment says the rest. */
static void become(char **argv)
{
	execv("/proc/self/exe", argv);
	die("exec");
}

static void count_down_execs(char **argv)
{
	const int left = atoi(getenv(EXECS_ENV));
	char text[16];

	if (!left)
		return;
	snprintf(text, sizeof(text), "%d", left - 1);
	setenv(EXECS_ENV, text, 1);
	become(argv);
}

static void hold(char **argv, const char *file)
{
	char byte;

	count_down_execs(argv);
	prctl(PR_SET_NAME, "holder"); /* not that of the link */
	held.area = mmap(NULL, FILE_SIZE, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	held.cached = open(file, O_RDONLY | O_CLOEXEC);
	held.uncached = open(file, O_RDWR | O_CLOEXEC);
	if (held.area == MAP_FAILED || held.cached < 0 || held.uncached < 0)
		die(file);
	if (options.spins)
		start(compute);
	if (options.announce)
		start(announce);
	start(read_page);
	if (read(GO_FD, &byte, 1) != 1)
		die("server");
	start(map_page);
	if (options.execs && read(GO_FD, &byte, 1) == 1)
		become(argv);
	for (;;)
		pause();
}

/* ---- the file system ---- */

struct holder {
	pid_t pid, tid; /* 0: has not said it */
	int go;         /* to it */
	bool holds;
};

static struct {
	int fd;
	int report; /* from the processes */
	int nr_waiting;
	struct holder holder[MAX_HOLDERS];
} fs;

static void reply(const struct fuse_in_header *in, int error, const void *data,
		  size_t size)
{
	static char message[4096];
	const struct fuse_out_header out = { .len = sizeof(out) + size,
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
	const bool is_root = node == FUSE_ROOT_ID;

	return (struct fuse_attr){
		.ino = node,
		.size = is_root ? 0 : FILE_SIZE,
		.blocks = is_root ? 0 : FILE_SIZE / 512,
		.mode = is_root ? S_IFDIR | 0755 : S_IFREG | 0666,
		.nlink = 1,
		.blksize = 4096,
	};
}

static void on_init(const struct fuse_in_header *in, const void *body)
{
	const struct fuse_init_in *asked = body;
	const struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION,
					   .minor = 31,
					   .max_readahead = asked->max_readahead,
					   .max_write = 4096,
					   .max_background = 4 * MAX_HOLDERS,
					   .congestion_threshold = 4 * MAX_HOLDERS };

	reply(in, 0, &out, sizeof(out));
}

static void on_lookup(const struct fuse_in_header *in, const char *name)
{
	const uint64_t node = FIRST_INODE + strtoull(name, NULL, 10);
	const struct fuse_entry_out out = { .nodeid = node,
					    .entry_valid = FOREVER_S,
					    .attr_valid = FOREVER_S,
					    .attr = attr_of(node) };

	if (node < FIRST_INODE + (uint64_t)options.nr)
		reply(in, 0, &out, sizeof(out));
	else
		reply(in, -ENOENT, NULL, 0);
}

static void on_open(const struct fuse_in_header *in, const struct fuse_open_in *asked)
{
	const bool is_cached = (asked->flags & O_ACCMODE) == O_RDONLY;
	const struct fuse_open_out out = { .open_flags = is_cached ? FOPEN_KEEP_CACHE
								   : FOPEN_DIRECT_IO };

	reply(in, 0, &out, sizeof(out));
}

static void on_getattr(const struct fuse_in_header *in)
{
	const struct fuse_attr_out out = { .attr_valid = FOREVER_S,
					   .attr = attr_of(in->nodeid) };

	reply(in, 0, &out, sizeof(out));
}

/* The page is locked now, and stays so. */
static void on_read(const struct fuse_in_header *in)
{
	const uint64_t i = in->nodeid - FIRST_INODE;

	if (i < (uint64_t)options.nr && write(fs.holder[i].go, "", 1) < 0)
		die("go");
}

static void answer(const struct fuse_in_header *in)
{
	const void *body = in + 1;

	switch (in->opcode) {
	case FUSE_INIT:
		return on_init(in, body);
	case FUSE_LOOKUP:
		return on_lookup(in, body);
	case FUSE_GETATTR:
		return on_getattr(in);
	case FUSE_OPEN:
		return on_open(in, body);
	case FUSE_READ:
		return on_read(in);
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

static void mount_files(void)
{
	char data[128];

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		die("a mount namespace");
	if (chdir(options.directory) || (mkdir("locks", 0755) && errno != EEXIST))
		die(options.directory);
	fs.fd = open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fs.fd < 0)
		die("/dev/fuse");
	snprintf(data, sizeof(data), "fd=%d,rootmode=40000,user_id=%u,group_id=%u",
		 fs.fd, options.uid, options.uid);
	if (mount("locks", "locks", "fuse.locks", MS_NOSUID | MS_NODEV, data))
		die("mount");
}

/* Ends with the server, so keeps nothing of it open: that would keep it from ending. */
static void start_holder(int i, int report, char **argv)
{
	char file[32];
	int go[2];

	if (pipe2(go, O_CLOEXEC))
		die("pipe");
	fs.holder[i].go = go[1];
	fs.holder[i].pid = fork();
	if (fs.holder[i].pid < 0)
		die("fork");
	if (fs.holder[i].pid)
		return (void)close(go[0]);
	if (dup2(go[0], GO_FD) < 0 || dup2(report, REPORT_FD) < 0)
		die("dup2");
	if (setgroups(0, NULL) || setgid(options.uid) || setuid(options.uid) ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL))
		die("setuid");
	snprintf(file, sizeof(file), "locks/%d", i);
	setenv(FILE_ENV, file, 1);
	setenv(EXECS_ENV, options.execs_before, 1);
	become(argv);
}

static void start_holders(char **argv)
{
	int report[2];

	if (pipe2(report, O_CLOEXEC))
		die("pipe");
	fs.report = report[0];
	for (int i = 0; i < options.nr; i++)
		start_holder(i, report[1], argv);
	close(report[1]);
	fs.nr_waiting = options.nr;
}

static void take_report(void)
{
	pid_t said[2];

	if (read(fs.report, said, sizeof(said)) != sizeof(said))
		die("a process has ended");
	for (int i = 0; i < options.nr; i++) {
		if (fs.holder[i].pid == said[0])
			fs.holder[i].tid = said[1];
	}
}

/* Whether the thread waits, and for what no signal ends. */
static bool is_stuck(const struct holder *h)
{
	char path[64], text[256], *state;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)h->pid, (int)h->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	state = strrchr(text, ')');
	return state && !strncmp(state, ") D", 3);
}

static void look_who_holds(void)
{
	for (int i = 0; i < options.nr; i++) {
		struct holder *h = &fs.holder[i];

		if (!h->tid || h->holds || !is_stuck(h))
			continue;
		h->holds = true;
		fs.nr_waiting--;
		printf("%d\n", (int)h->pid);
		fflush(stdout);
		if (options.execs && write(h->go, "", 1) < 0)
			die("go");
	}
}

static void serve(void)
{
	static _Alignas(8) char request[FUSE_MIN_READ_BUFFER];
	struct pollfd p[2] = { { .fd = fs.fd, .events = POLLIN },
			       { .fd = fs.report, .events = POLLIN } };

	for (;;) {
		if (poll(p, 2, fs.nr_waiting ? 10 : -1) < 0)
			die("poll");
		if (p[0].revents && read(fs.fd, request, sizeof(request)) > 0)
			answer((const struct fuse_in_header *)request);
		if (p[1].revents & POLLIN)
			take_report();
		else if (p[1].revents)
			p[1].fd = -1; /* all have ended */
		look_who_holds();
	}
}

static bool parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:u:t:sa:x:e")) != -1) {
		switch (c) {
		case 'n':
			options.nr = atoi(optarg);
			break;
		case 'u':
			options.uid = (unsigned int)atoi(optarg);
			break;
		case 't':
			options.seconds = (unsigned int)atoi(optarg);
			break;
		case 's':
			options.spins = true;
			break;
		case 'a':
			options.announce = optarg;
			break;
		case 'x':
			options.execs_before = optarg;
			break;
		case 'e':
			options.execs = true;
			break;
		default:
			return false;
		}
	}
	options.directory = argv[optind];
	return optind == argc - 1 && options.nr > 0 && options.nr <= MAX_HOLDERS;
}

int main(int argc, char **argv)
{
	if (!parse(argc, argv)) {
		fprintf(stderr, "usage: see the top of t/programs/lock_holder.c\n");
		return 2;
	}
	if (getenv(FILE_ENV))
		hold(argv, getenv(FILE_ENV));
	signal(SIGPIPE, SIG_IGN);
	alarm(options.seconds);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	mount_files();
	start_holders(argv);
	serve();
	return 0;
}
