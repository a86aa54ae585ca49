/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_peer - asks cpi-capture for what no collector would
 *
 *	sandbox			what is left to a process that has locked itself in
 *	ask IMAGE AS FROM TO STEP [NAME]
 *				captures IMAGE, with the identity of the file AS, for a
 *				sample at each STEP bytes of [FROM, TO); says whether
 *				NAME is in what comes back
 *	stuck IMAGE FROM TO STEP
 *				the same, but nobody reads the reply: says what the
 *				kernel knows of the worker, kills it, and asks again
 *
 * An alarm ends it after ten minutes.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fdpass.h"
#include "base/file.h"
#include "base/times.h"
#include "daemon/procmap/imagefile.h"
#include "daemon/store/capture_child.h"
#include "db/profile/pack.h"
#include "decode/elfid.h"
#include "helpers/capture.h"

#define MAX_BYTES (8u << 20)

struct asking {
	struct capture_child child;
	struct cpi_capture_request request;
	struct cpi_capture_offset offset[CPI_CAPTURE_OFFSETS];
	int image;
};

static int fail(const char *what, int err)
{
	fprintf(stderr, "capture_peer: %s: %s\n", what, err_str(err));
	return EXIT_FAILURE;
}

static void say(const char *what, int result)
{
	printf("%s %s\n", what, result < 0 ? strerror(errno) : "works");
}

static int sandbox(void)
{
	static const char file[] = "/etc/passwd";
	const int null = open("/dev/null", O_RDWR);
	int err;

	for (int fd = CAPTURE_FD_REQUEST; fd < CAPTURE_FD_END; fd++)
		dup2(null, fd);
	err = sandbox_give_up(CAPTURE_USER, true, CAPTURE_NICE);
	if (!err)
		err = sandbox_lock_in(CAPTURE_NR_FDS, CAPTURE_CPU_S);
	if (err)
		return fail("sandbox", err);
	say("open", open(file, O_RDONLY));
	say("socket", socket(AF_INET, SOCK_STREAM, 0));
	say("fork", fork());
	say("exec", execl("/bin/true", "true", NULL));
	say("kill", kill(getppid(), 0));
	say("unlink", unlink(file));
	say("write", (int)write(CAPTURE_FD_REPLY, "", 1));
	fflush(stdout);
	_exit(EXIT_SUCCESS);
}

/* The identity of a file, as far as it has one. */
static void identify(struct cpi_capture_request *q, const char *path)
{
	struct elfid id = { 0 };
	struct stat st;
	int fd = open(path, O_RDONLY | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &st) < 0)
		exit(fail(path, -errno));
	elfid_read(fd, &id);
	close(fd);
	q->size = (uint64_t)st.st_size;
	q->author = imagefile_author(&st);
	q->mtime_ns = (uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC +
		      (uint64_t)st.st_mtim.tv_nsec;
	memcpy(q->content, id.content, sizeof(q->content));
	memcpy(q->build_id, id.build_id, sizeof(q->build_id));
	q->build_id_size = id.build_id_size;
}

static int prepare(struct asking *a, const char *image, const char *as, char **range)
{
	const uint64_t to = strtoull(range[1], NULL, 0),
		       step = strtoull(range[2], NULL, 0);
	struct cpi_capture_request *q = &a->request;

	q->magic = CPI_CAPTURE_MAGIC;
	q->max_bytes = MAX_BYTES;
	identify(q, as);
	snprintf(q->path, sizeof(q->path), "%s", image);
	for (uint64_t at = strtoull(range[0], NULL, 0);
	     at < to && step && q->nr_offsets < CPI_CAPTURE_OFFSETS; at += step)
		a->offset[q->nr_offsets++] = (struct cpi_capture_offset){ at, 1 };
	a->image = open(image, O_RDONLY | O_NONBLOCK);
	if (a->image < 0)
		return -errno;
	a->child.socket = a->child.reply = -1;
	return capture_child_start(&a->child);
}

/* As the daemon does: the image's descriptor goes within a socket. */
static int send_job(struct asking *a)
{
	int other, err, fd = fdpass_wrap(&other);

	if (fd < 0)
		return fd;
	err = fdpass_send(other, "", 1, &a->image, 1);
	close(other);
	if (!err)
		err = capture_child_send(&a->child, &a->request, a->offset, fd);
	close(fd);
	return err;
}

static bool has_name(const void *data, size_t size, const char *name)
{
	struct buf memory = { 0 };
	const uint8_t *body;
	size_t body_size;
	bool has = !pack_get(data, size, MAX_BYTES, &memory, &body, &body_size) &&
		   memmem(body, body_size, name, strlen(name));

	buf_fini(&memory);
	return has;
}

/* Asks, and says what came. */
static int ask(struct asking *a, const char *name)
{
	struct cpi_capture_reply reply;
	const void *covers, *data;
	int err = send_job(a);

	if (err)
		return fail("send", err);
	do {
		struct pollfd p = { .fd = a->child.reply, .events = POLLIN };

		poll(&p, 1, 1000);
		err = capture_child_take(&a->child, &reply, &covers, &data);
	} while (err == -EAGAIN);
	if (err)
		printf("error: %s\n", err_str(err));
	else
		printf("procedures %u, left out %u, data %s%s%s%s\n",
		       reply.nr_procedures, reply.nr_left_out,
		       reply.data_size ? "some" : "none", name ? ", " : "",
		       name ? name : "",
		       !name                                   ? ""
		       : has_name(data, reply.data_size, name) ? " there"
							       : " not there");
	fflush(stdout);
	return EXIT_SUCCESS;
}

/* The worker: the server's only child. */
static pid_t find_worker(pid_t server)
{
	struct buf text = { 0 };
	char path[64];
	long pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)server,
		 (int)server);
	if (file_read_all(AT_FDCWD, path, 4096, &text))
		return 0;
	pid = strtol(buf_str(&text), NULL, 10);
	buf_fini(&text);
	return (pid_t)pid;
}

static void say_status(pid_t pid)
{
	static const char *const names[] = { "Uid:",    "CapInh:", "CapPrm:",
					     "CapEff:", "CapAmb:", "NoNewPrivs:",
					     "Seccomp:" };
	struct buf text = { 0 };
	char path[64], *line, *rest = NULL;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (file_read_all(AT_FDCWD, path, 65536, &text))
		return;
	buf_putc(&text, '\0');
	for (line = strtok_r(text.data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (!strncmp(line, names[i], strlen(names[i])))
				puts(line);
	buf_fini(&text);
}

static int stuck(struct asking *a)
{
	struct pollfd p = { .events = POLLIN };
	int err = send_job(a);
	pid_t worker;

	if (err)
		return fail("send", err);
	p.fd = a->child.reply;
	poll(&p, 1, -1); /* it writes, and the pipe is soon full */
	worker = find_worker(a->child.pid);
	if (worker <= 0)
		return fail("worker", -ESRCH);
	say_status(worker);
	kill(worker, SIGKILL);
	close(a->child.reply);
	a->child.reply = -1;
	return ask(a, NULL);
}

int main(int argc, char **argv)
{
	static struct asking a;
	int err, status = EXIT_FAILURE;

	alarm(600);
	if (argc == 2 && !strcmp(argv[1], "sandbox"))
		return sandbox();
	if ((argc == 7 || argc == 8) && !strcmp(argv[1], "ask")) {
		err = prepare(&a, argv[2], argv[3], argv + 4);
		status = err ? fail(argv[2], err) : ask(&a, argv[7]);
	} else if (argc == 6 && !strcmp(argv[1], "stuck")) {
		err = prepare(&a, argv[2], argv[2], argv + 3);
		status = err ? fail(argv[2], err) : stuck(&a);
	} else {
		fprintf(stderr, "usage: see capture_peer.c\n");
	}
	capture_child_stop(&a.child);
	return status;
}
