/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containers_main.c - asks container runtimes for names, and tells cpid
 *
 * Whoever may connect to a runtime's socket may do everything on this machine, so cpid
 * cannot: this program is a service of its own, for those who want names. It sends only
 * fixed requests. For each runtime it forks a worker, which gets the answer, closes its
 * connection, locks itself in, and only then reads the answer. The server reads nothing
 * but rows of a fixed size.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/text.h"
#include "base/times.h"
#include "helpers/containers.h"
#include "helpers/sandbox.h"
#include "report/select/client.h"

#define MAX_SOURCES   8
#define REQUEST_S     5  /* a runtime that is silent for so long is left out */
#define WORKER_S      20 /* two requests, and reading */
#define CPU_S         5
#define MEMORY        ((rlim_t)256 << 20) /* of a worker */
#define TELL_NS       (5 * NSEC_PER_SEC)
#define TELL_AGAIN_NS (600 * NSEC_PER_SEC)
#define LOG_AGAIN_NS  (3600 * NSEC_PER_SEC)

struct source {
	enum containers_kind kind;
	const char *path;
};

static const struct source usual[] = {
	{ CONTAINERS_CRI, "/run/containerd/containerd.sock" },
	{ CONTAINERS_CRI, "/run/crio/crio.sock" },
	{ CONTAINERS_CRI, "/run/k3s/containerd/containerd.sock" },
	{ CONTAINERS_DOCKER, "/run/docker.sock" },
	{ CONTAINERS_STORAGE,
	  "/var/lib/containers/storage/overlay-containers/containers.json" },
	{ CONTAINERS_STORAGE, "/var/lib/containers/storage/overlay-containers/"
			      "volatile-containers.json" },
};

struct known {
	struct container_row row;
	size_t source; /* whose name it is */
	bool told;     /* cpid has it */
};

struct known_list {
	struct known *at; /* MAX_SOURCES * CONTAINERS_MAX */
	size_t nr;
};

struct service {
	struct curlcall call;
	struct source source[MAX_SOURCES];
	size_t nr_sources;
	const char *socket; /* NULL: cpid's usual one */
	uint64_t every_s;
	bool once, list;
	struct known_list now, before;
	uint64_t told_all_ns;
	uint64_t failed_ns[MAX_SOURCES]; /* when that was logged; 0: never */
	pid_t stuck[MAX_SOURCES]; /* a worker that could not be ended yet; 0: none */
};

static int write_row(void *ctx, const struct container_row *row)
{
	return file_write(STDOUT_FILENO, row, sizeof(*row));
}

/* Keeps the answer and standard output, to which it writes rows. */
static int work(const struct curlcall *call, const struct source *s)
{
	const struct rlimit memory = { MEMORY, MEMORY };
	struct containers_answer answer = { 0 };
	sqlite3 *json = NULL;
	int err = containers_ask(call, s->kind, s->path, REQUEST_S, &answer);

	if (err)
		return err;
	if (sqlite3_open(":memory:", &json))
		return -ENOMEM;
#ifndef SANITIZERS
	if (setrlimit(RLIMIT_AS, &memory) < 0)
		return -errno;
#else
	(void)memory;
#endif
	err = sandbox_lock_in(0, CPU_S);
	if (!err)
		err = containers_read(s->kind, &answer, json, write_row, NULL);
	if (err)
		log_warn("%s: %s", s->path, err_str(err));
	sqlite3_close(json);
	buf_fini(&answer.containers);
	buf_fini(&answer.pods);
	return err;
}

/* The last row has no id, and a name only if the worker failed, which it has logged. */
static _Noreturn void run_worker(const struct curlcall *call, const struct source *s)
{
	const struct container_row last = { .name = { work(call, s) ? '!' : '\0' } };

	_exit(write_row(NULL, &last) ? 1 : 0);
}

/* Takes rows until the last one. Returns 0 or a negative error, logged. */
static int take_rows(struct service *v, size_t source, int fd)
{
	const uint64_t end_ns = time_mono_ns() + WORKER_S * NSEC_PER_SEC;
	const char *path = v->source[source].path;
	struct known_list *list = &v->now;
	struct container_row row;
	size_t have = 0, nr = 0;

	for (;;) {
		const uint64_t now_ns = time_mono_ns();
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t got;

		if (now_ns >= end_ns ||
		    !poll(&p, 1, (int)((end_ns - now_ns) / NSEC_PER_MSEC) + 1)) {
			log_warn("%s: no answer in %d s", path, WORKER_S);
			return -ETIMEDOUT;
		}
		got = read(fd, (char *)&row + have, sizeof(row) - have);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			log_warn("%s: its worker ended before its last row", path);
			return got < 0 ? -errno : -CPI_ETRUNCATED;
		}
		have += (size_t)got;
		if (have < sizeof(row))
			continue;
		have = 0;
		if (row.id[sizeof(row.id) - 1] || row.name[sizeof(row.name) - 1])
			break;
		if (!*row.id)
			return *row.name ? -EIO : 0;
		if (nr++ == CONTAINERS_MAX || !text_is_clean(row.id) ||
		    !text_is_clean(row.name))
			break;
		list->at[list->nr++] = (struct known){ .row = row, .source = source };
	}
	log_warn("%s: its worker wrote a false row", path);
	return -CPI_ECORRUPT;
}

static void ask(struct service *v, size_t source)
{
	const struct source *s = &v->source[source];
	const uint64_t now_ns = time_mono_ns(), failed_ns = v->failed_ns[source];
	const bool quiet = failed_ns && now_ns - failed_ns < LOG_AGAIN_NS;
	int fd[2], err = 0;
	pid_t worker;

	if (v->stuck[source] && !waitpid(v->stuck[source], NULL, WNOHANG))
		return;
	v->stuck[source] = 0;
	if (access(s->path, F_OK) < 0)
		return;
	if (pipe2(fd, O_CLOEXEC) < 0) {
		log_err("pipe: %s", err_str(-errno));
		return;
	}
	worker = fork();
	if (!worker) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (quiet)
			log_set_level(LOG_LEVEL_ERROR);
		if (dup2(fd[1], STDOUT_FILENO) < 0)
			_exit(1);
		run_worker(&v->call, s);
	}
	close(fd[1]);
	if (worker < 0)
		log_err("fork: %s", err_str(-errno));
	else
		err = take_rows(v, source, fd[0]);
	close(fd[0]);
	if (worker > 0 && !sandbox_end_worker(worker))
		v->stuck[source] = worker;
	if (err && !quiet)
		v->failed_ns[source] = now_ns;
}

static int compare(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return strcmp(x->row.id, y->row.id);
}

static int compare_with_source(const void *a, const void *b)
{
	const struct known *x = a, *y = b;
	const int ids = compare(a, b);

	return ids ? ids : (x->source > y->source) - (x->source < y->source);
}

/* Sorts by id. If several runtimes have a container, the first one's name counts. */
static void sort_rows(struct known_list *list)
{
	size_t nr = 0;

	qsort(list->at, list->nr, sizeof(*list->at), compare_with_source);
	for (size_t i = 0; i < list->nr; i++) {
		if (!nr || compare(&list->at[nr - 1], &list->at[i]))
			list->at[nr++] = list->at[i];
	}
	list->nr = nr;
}

static int tell(const struct service *v, const struct container_row *row)
{
	struct cpi_control_container request = {
		.head = { .magic = CPI_CONTROL_MAGIC,
			  .version = CPI_CONTROL_VERSION,
			  .op = CPI_CONTROL_CONTAINER },
	};
	struct buf reply = { 0 };
	int err;

	memcpy(request.id, row->id, sizeof(request.id));
	memcpy(request.name, row->name, sizeof(request.name));
	err = client_send(v->socket, &request, sizeof(request), TELL_NS, &reply);
	if (err && !client_is_absent(err))
		log_warn("cpid: %s: %s", err_str(err), buf_str(&reply));
	buf_fini(&reply);
	return err;
}

/* Tells cpid what it does not have. What cpid does not take waits for the next round.
 */
static void tell_new(struct service *v)
{
	for (size_t i = 0; i < v->now.nr; i++) {
		struct known *k = &v->now.at[i], *old;

		old = v->before.nr ? bsearch(k, v->before.at, v->before.nr, sizeof(*k),
					     compare)
				   : NULL;
		k->told = old && old->told && !strcmp(old->row.name, k->row.name);
	}
	for (size_t i = 0; i < v->now.nr; i++) {
		struct known *k = &v->now.at[i];

		if (k->told)
			continue;
		if (tell(v, &k->row))
			return;
		k->told = true;
	}
}

static void print_rows(const struct known_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		printf("%s %s\n", list->at[i].row.id, list->at[i].row.name);
	fflush(stdout);
}

static void do_round(struct service *v)
{
	const struct known_list before = v->before;
	const uint64_t now_ns = time_mono_ns();

	v->before = v->now;
	v->now = before;
	v->now.nr = 0;
	if (now_ns - v->told_all_ns > TELL_AGAIN_NS) {
		v->before.nr = 0;
		v->told_all_ns = now_ns;
	}
	for (size_t i = 0; i < v->nr_sources; i++)
		ask(v, i);
	sort_rows(&v->now);
	if (v->list)
		print_rows(&v->now);
	else
		tell_new(v);
}

static void usage(FILE *to)
{
	fputs("usage: cpi-containers [--cri PATH] [--docker PATH] [--storage FILE]\n"
	      "                      [--every SECONDS] [--socket PATH] [--once] "
	      "[--list]\n",
	      to);
}

static int parse(struct service *v, int argc, char **argv)
{
	static const struct option options[] = {
		{ "cri", required_argument, NULL, CONTAINERS_CRI },
		{ "docker", required_argument, NULL, CONTAINERS_DOCKER },
		{ "storage", required_argument, NULL, CONTAINERS_STORAGE },
		{ "every", required_argument, NULL, 'e' },
		{ "socket", required_argument, NULL, 's' },
		{ "once", no_argument, NULL, 'o' },
		{ "list", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (c) {
		case CONTAINERS_CRI:
		case CONTAINERS_DOCKER:
		case CONTAINERS_STORAGE:
			if (v->nr_sources == MAX_SOURCES)
				return -EINVAL;
			v->source[v->nr_sources++] =
				(struct source){ (enum containers_kind)c, optarg };
			break;
		case 'e':
			if (number_parse(optarg, 10, &v->every_s) || !v->every_s ||
			    v->every_s > 86400)
				return -EINVAL;
			break;
		case 's':
			v->socket = optarg;
			break;
		case 'l':
			v->list = true;
			/* fall through */
		case 'o':
			v->once = true;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		case 'V':
			puts("cpi-containers " PACKAGE_VERSION);
			exit(0);
		default:
			return -EINVAL;
		}
	}
	return optind < argc ? -EINVAL : 0;
}

static int begin(struct service *v)
{
	if (!v->nr_sources) {
		memcpy(v->source, usual, sizeof(usual));
		v->nr_sources = sizeof(usual) / sizeof(usual[0]);
	}
	v->now.at = calloc(MAX_SOURCES * CONTAINERS_MAX, sizeof(*v->now.at));
	v->before.at = calloc(MAX_SOURCES * CONTAINERS_MAX, sizeof(*v->before.at));
	if (!v->now.at || !v->before.at)
		return -ENOMEM;
	/* For the worker's filter; and nothing here starts a program. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0L) < 0)
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	return curlcall_load(&v->call);
}

int main(int argc, char **argv)
{
	struct service v = { .every_s = 30, .told_all_ns = time_mono_ns() };
	int err;

	log_set_name("cpi-containers");
	log_limit_repeats(3600 * NSEC_PER_SEC);
	if (parse(&v, argc, argv)) {
		usage(stderr);
		return 2;
	}
	err = begin(&v);
	if (err) {
		log_err("cannot start: %s", err_str(err));
		return 1;
	}
	for (;;) {
		do_round(&v);
		if (v.once)
			break;
		sleep((unsigned int)v.every_s);
	}
	free(v.now.at);
	free(v.before.at);
	return 0;
}
