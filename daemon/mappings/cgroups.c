/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroups.c - finds the cgroup of each process
 *
 * Paths come from /proc while a process lives, and from the tracepoint of moves. An
 * exec only reports an id. If the process map has that id, nothing needs to be asked.
 * Else the file system resolves the id, as a file handle, to a path.
 */
#include "config.h"

#include "daemon/mappings/cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "daemon/mappings/cgroupevents.h"
#include "db/profile/context.h"

#define MAX_TEXT      (64u << 10) /* enough for the paths of a dozen hierarchies */
#define TOLD_PATH_MAX 1023        /* the tracepoint cuts longer paths */
#define FILEID_KERNFS \
	0xfe /* the type of a file handle that is the cgroup's id, 8 bytes */

struct cgroups {
	struct procmap *procmap;
	struct timed_child *timed_child;
	struct cgroupevents events;
	int nr_events;
	char *mount; /* where cgroup v2 is mounted, or NULL */
};

/* The cgroup of a zombie may be gone already. */
static char *cut_deleted(char *path)
{
	static const char deleted[] = " (deleted)";
	const size_t len = strlen(path), cut = sizeof(deleted) - 1;

	if (len > cut && !strcmp(path + len - cut, deleted))
		path[len - cut] = '\0';
	return path;
}

/* Whether a comma-separated list contains the word. */
static bool has_word(const char *list, const char *word)
{
	for (;;) {
		size_t len = strcspn(list, ",");

		if (len == strlen(word) && !memcmp(list, word, len))
			return true;
		if (!list[len])
			return false;
		list += len + 1;
	}
}

/* Parses a line "NUMBER:CONTROLLERS:PATH". */
static void parse_line(char *line, struct cgroups_paths *out)
{
	char *number = strsep(&line, ":"), *controllers = strsep(&line, ":");

	if (!controllers || !line || line[0] != '/')
		return;
	if (!strcmp(number, "0") && !*controllers)
		out->unified = cut_deleted(line);
	else if (!strcmp(controllers, "name=systemd"))
		out->named = cut_deleted(line);
	out->perf_in_v1 |= has_word(controllers, "perf_event");
}

void cgroups_parse(char *text, struct cgroups_paths *out)
{
	char *line;

	*out = (struct cgroups_paths){ 0 };
	while ((line = strsep(&text, "\n")))
		parse_line(line, out);
}

const char *cgroups_choose(const struct cgroups_paths *p)
{
	return p->named && (!p->unified || !p->unified[1]) ? p->named : p->unified;
}

static int read_paths(uint32_t tgid, struct buf *text, struct cgroups_paths *out)
{
	char name[64];
	int err;

	snprintf(name, sizeof(name), "/proc/%u/cgroup", tgid);
	err = file_read_all(AT_FDCWD, name, MAX_TEXT, text);
	if (!err && !*buf_str(text))
		err = -ENOENT;
	if (!err)
		cgroups_parse(text->data, out);
	return err;
}

/*
 * A read of /proc/PID/cgroup takes the lock of all cgroups, and a look-up in their file
 * system may do so, too. So a timed child reads them. A question names a process, or
 * (with tgid 0) the id of a cgroup below the mount of v2 ("" if there is none).
 */
struct question {
	uint32_t tgid;
	uint64_t id;
	char mount[PATH_MAX]; /* last, because only its used part is sent */
};

/* The path follows, with a NUL. */
struct cgroup_answer {
	uint64_t id; /* the cgroup's id in v2, or 0 if not known */
};

/* The id of the cgroup with this path in v2, or 0 if it is not known. */
static uint64_t id_of(const char *mount, const char *path)
{
	struct stat st;
	uint64_t id = 0;
	int fd;

	if (!*mount || !path)
		return 0;
	fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	path += path[0] == '/';
	if (!fstatat(fd, *path ? path : ".", &st, AT_SYMLINK_NOFOLLOW))
		id = st.st_ino;
	close(fd);
	return id;
}

static void put_answer(struct buf *out, uint64_t id, const char *path)
{
	const struct cgroup_answer a = { id };

	buf_put(out, &a, sizeof(a));
	buf_put(out, path, strlen(path) + 1);
}

static int find_of_process(const struct question *q, struct buf *out)
{
	struct cgroups_paths paths;
	struct buf text = { 0 };
	int err = read_paths(q->tgid, &text, &paths);

	if (!err && !cgroups_choose(&paths))
		err = -ENOENT;
	if (!err)
		put_answer(out, id_of(q->mount, paths.unified), cgroups_choose(&paths));
	buf_fini(&text);
	return err;
}

/* Finds the path of a cgroup that still exists. Returns 0 or -errno. */
static int path_of(const char *mount, uint64_t id, char path[PATH_MAX])
{
	struct {
		struct file_handle head;
		uint64_t id;
	} handle = { .head = { .handle_bytes = sizeof(id),
			       .handle_type = FILEID_KERNFS },
		     .id = id };
	const size_t skip = strlen(mount);
	char link[64];
	ssize_t len;
	int fd, dir = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return -errno;
	fd = open_by_handle_at(dir, &handle.head, O_PATH | O_CLOEXEC);
	close(dir);
	if (fd < 0)
		return -errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, PATH_MAX - 1);
	close(fd);
	if (len < (ssize_t)skip)
		return -ENOENT;
	memmove(path, path + skip, (size_t)len - skip);
	path[len - (ssize_t)skip] = '\0';
	if (!*path)
		strcpy(path, "/");
	return path[0] == '/' ? 0 : -ENOENT;
}

static int find_cgroup(struct timed_child_job *job)
{
	const struct question *q = job->question;
	char path[PATH_MAX];
	int err;

	if (!memchr(q->mount, '\0', job->size - offsetof(struct question, mount)))
		return -EINVAL;
	if (q->tgid)
		return find_of_process(q, &job->answer);
	err = path_of(q->mount, q->id, path);
	if (!err)
		put_answer(&job->answer, q->id, path);
	return err;
}

/*
 * Answers for the process tgid or, if that is 0, for the cgroup with this id. Returns 0
 * or -errno.
 */
static int ask(const struct cgroups *c, uint32_t tgid, uint64_t id, struct buf *answer)
{
	struct question asked = { .tgid = tgid, .id = id };
	struct timed_child_question q = { .fn = find_cgroup,
					  .data = &asked,
					  .tgid = (pid_t)tgid };
	const size_t head = sizeof(struct cgroup_answer);
	int err;

	snprintf(asked.mount, sizeof(asked.mount), "%s", c->mount ? c->mount : "");
	q.size = offsetof(struct question, mount) + strlen(asked.mount) + 1;
	err = timed_child_ask(c->timed_child, &q, answer);
	if (!err && (answer->len <= head ||
		     !memchr(answer->data + head, '\0', answer->len - head)))
		err = -CPI_ECORRUPT;
	return err;
}

static void set_path(struct cgroups *c, uint32_t tgid, const char *path, uint64_t id)
{
	procmap_set_cgroup(c->procmap, tgid,
			   strlen(path) <= CONTEXT_VALUE_MAX ? path : CONTEXT_OTHER,
			   id);
}

static void take_answer(struct cgroups *c, uint32_t tgid, const struct buf *answer)
{
	struct cgroup_answer a;

	memcpy(&a, answer->data, sizeof(a));
	set_path(c, tgid, answer->data + sizeof(a), a.id);
}

static void read_process(struct cgroups *c, uint32_t tgid)
{
	struct buf answer = { 0 };

	if (!ask(c, tgid, 0, &answer))
		take_answer(c, tgid, &answer);
	buf_fini(&answer);
}

static void read_one(void *ctx, uint32_t tgid)
{
	read_process(ctx, tgid);
}

void cgroups_read_all(struct cgroups *c)
{
	procmap_for_each(c->procmap, read_one, c);
}

int cgroups_find_mount(char **out)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	char *dir;

	if (!f)
		return -errno;
	while ((m = getmntent(f)) && strcmp(m->mnt_type, "cgroup2"))
		;
	dir = m ? strdup(m->mnt_dir) : NULL;
	endmntent(f);
	if (m && !dir)
		return -ENOMEM;
	*out = dir;
	return 0;
}

/* With v1, an exec's sample has an id of perf's hierarchy, which names no service. */
static bool has_perf_in_v1(void)
{
	struct cgroups_paths paths;
	struct buf text = { 0 };
	bool is = !read_paths((uint32_t)getpid(), &text, &paths) && paths.perf_in_v1;

	buf_fini(&text);
	return is;
}

int cgroups_open(struct procmap *pm, struct timed_child *a, bool follow,
		 struct cgroups **out)
{
	struct cgroups *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->procmap = pm;
	c->timed_child = a;
	err = cgroups_find_mount(&c->mount);
	if (err == -ENOMEM) {
		cgroups_close(c);
		return err;
	}
	err = follow ? cgroupevents_find(&c->events) : 0;
	if (err)
		cgroups_give_up(c, err);
	else if (follow)
		c->nr_events = has_perf_in_v1() || !c->mount ? 1 : 2;
	*out = c;
	return 0;
}

void cgroups_close(struct cgroups *c)
{
	if (!c)
		return;
	free(c->mount);
	free(c);
}

void cgroups_note_exec(struct cgroups *c, uint32_t tgid)
{
	if (c->nr_events < CGROUPS_MAX_EVENTS)
		read_process(c, tgid);
}

int cgroups_nr_events(const struct cgroups *c)
{
	return c ? c->nr_events : 0;
}

void cgroups_attr(const struct cgroups *c, int event, struct perf_event_attr *attr)
{
	cgroupevents_attr(event ? c->events.executed : c->events.moved, attr);
}

void cgroups_give_up(struct cgroups *c, int err)
{
	log_info("cgroups: the kernel does not report moves (%s): the cgroup of a "
		 "process "
		 "is read when it calls exec, if it lives long enough",
		 err_str(err));
	c->nr_events = 0;
}

static void apply_exec(struct cgroups *c, const struct cgroupevent *e)
{
	const struct process *p = procmap_find(c->procmap, e->tgid, 0, UINT64_MAX);
	struct buf answer = { 0 };

	if (!p || p->cgroup_id == e->id)
		return;
	if (!ask(c, 0, e->id, &answer) && answer.data[sizeof(struct cgroup_answer) + 1])
		take_answer(c, e->tgid, &answer);
	else /* the root of v2 does not say which cgroup of v1 */
		read_process(c, e->tgid);
	buf_fini(&answer);
}

/* The kernel may have cut this path, so ask for it again; moves are rare. */
static void apply_move(struct cgroups *c, const struct cgroupevent *e)
{
	struct buf answer = { 0 };

	if (strlen(e->path) < TOLD_PATH_MAX)
		set_path(c, e->tgid, e->path, e->id);
	else if (!ask(c, 0, e->id, &answer))
		take_answer(c, e->tgid, &answer);
	else
		set_path(c, e->tgid, CONTEXT_OTHER, e->id);
	buf_fini(&answer);
}

void cgroups_apply(struct cgroups *c, const struct perf_event_header *h)
{
	struct cgroupevent e;

	if (!cgroupevents_read(&c->events, h, &e))
		return;
	if (!e.path) {
		apply_exec(c, &e);
		return;
	}
	if (!e.hierarchy)
		apply_move(c, &e);
	if (e.hierarchy ||
	    !e.path[1]) /* hierarchies of v1 have other numbers on other machines */
		read_process(c, e.tgid);
}
