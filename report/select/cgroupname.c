/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroupname.c - finds the container and the unit in the path of a cgroup
 *
 * Each container manager has its own pattern, and each pattern is one try_ function.
 * The innermost match counts, because containers can run in containers. The managers
 * are not asked, because the container may no longer exist when a report is made.
 */
#include "config.h"

#include "report/select/cgroupname.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PARTS 64
#define ID_SIZE   64 /* hexadecimal digits of a container's id */
#define SHORT_ID  12
#define UUID_SIZE 36

/* The components of a path, each unescaped. */
struct parts {
	char part[MAX_PARTS][CGROUPNAME_MAX];
	int nr;
};

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = strchr(digits, tolower(c));

	return c && at ? (int)(at - digits) : -1;
}

/*
 * systemd escapes characters that a unit's name may not have, for example as \x2d; it
 * also adds a leading _. Escaped control characters stay escaped.
 */
static void unescape(const char *from, size_t len, char out[CGROUPNAME_MAX])
{
	size_t n = 0;

	if (len && *from == '_')
		from++, len--;
	for (size_t i = 0; i < len && n < CGROUPNAME_MAX - 1; i++) {
		if (len - i >= 4 && from[i] == '\\' && from[i + 1] == 'x' &&
		    hex_digit(from[i + 2]) >= 2 && hex_digit(from[i + 3]) >= 0) {
			out[n++] = (char)(hex_digit(from[i + 2]) << 4 |
					  hex_digit(from[i + 3]));
			i += 3;
		} else {
			out[n++] = from[i];
		}
	}
	out[n] = '\0';
}

/* Splits a path. Components after the first MAX_PARTS are ignored. */
static void split(const char *path, struct parts *out)
{
	out->nr = 0;
	while (*path && out->nr < MAX_PARTS) {
		size_t len = strcspn(path, "/");

		if (len)
			unescape(path, len, out->part[out->nr++]);
		path += len + (path[len] == '/');
	}
}

/* Returns the text after the prefix, or NULL if text does not begin with it. */
static const char *behind(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) ? NULL : text + len;
}

static bool ends_with(const char *text, const char *suffix)
{
	size_t len = strlen(text), n = strlen(suffix);

	return len > n && !strcmp(text + len - n, suffix);
}

static bool is_hex(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (hex_digit(text[i]) < 0)
			return false;
	}
	return true;
}

/* Whether text is an id, alone or with ".scope" after it. */
static bool is_id(const char *text)
{
	return is_hex(text, ID_SIZE) &&
	       (!text[ID_SIZE] || !strcmp(text + ID_SIZE, ".scope"));
}

/* 8-4-4-4-12 digits, with any separators between. */
static bool is_uuid(const char *text)
{
	static const int end[] = { 8, 13, 18, 23, 36 };

	for (int i = 0, at = 0; i < 5; at = end[i++] + 1) {
		if (!is_hex(text + at, end[i] - at))
			return false;
	}
	return true;
}

static bool found(struct cgroup_container *c, const char *runtime, const char *id,
		  size_t len)
{
	snprintf(c->runtime, sizeof(c->runtime), "%s", runtime);
	snprintf(c->id, sizeof(c->id), "%.*s", (int)len, id);
	if (len == SHORT_ID && is_id(id))
		snprintf(c->whole_id, sizeof(c->whole_id), "%s", id);
	return *c->id && *c->runtime;
}

/* docker-ID.scope, libpod-ID, cri-containerd-ID.scope, slice:cri-containerd:ID. */
static bool try_prefixed(const char *part, struct cgroup_container *c)
{
	static const struct {
		const char *prefix,
			*runtime; /* NULL: a process that monitors a container */
	} known[] = {
		{ "libpod-conmon", NULL },
		{ "crio-conmon", NULL },
		{ "libpod-payload", "podman" },
		{ "libpod", "podman" },
		{ "crio", "cri-o" },
		{ "cri-containerd", "containerd" },
		{ "nerdctl", "containerd" },
	};
	size_t len = strlen(part) - (ends_with(part, ".scope") ? 6 : 0), from = 0;
	const char *id = part + len - ID_SIZE, *name = part;
	char prefix[sizeof(c->runtime)];

	if (len <= ID_SIZE + 1 || !is_id(id) || (id[-1] != '-' && id[-1] != ':'))
		return false;
	if (id[-1] == ':') /* kubepods-….slice:RUNTIME:ID */
		for (const char *p = part; p < id - 1; p++)
			name = *p == ':' ? p + 1 : name;
	from = (size_t)(id - 1 - name);
	snprintf(prefix, sizeof(prefix), "%.*s", (int)from, name);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(prefix, known[i].prefix))
			continue;
		return known[i].runtime && found(c, known[i].runtime, id, SHORT_ID);
	}
	return found(c, prefix, id, SHORT_ID);
}

/* An id alone: the components before it say which manager made it. */
static bool try_bare(const struct parts *p, int i, struct cgroup_container *c)
{
	const char *runtime = "oci";

	if (strlen(p->part[i]) != ID_SIZE || !is_id(p->part[i]))
		return false;
	for (int n = 0; n < i; n++) {
		if (!strcmp(p->part[n], "docker") || !strcmp(p->part[n], "ecs") ||
		    !strcmp(p->part[n], "garden"))
			runtime = p->part[n];
		else if (behind(p->part[n], "libpod"))
			runtime = "podman";
		else if (strstr(p->part[n], "kubepods"))
			runtime = "kubernetes";
	}
	return found(c, runtime, p->part[i], SHORT_ID);
}

/* lxc/NAME, lxc.payload/NAME, lxc.payload.NAME; lxc.monitor.NAME monitors it. */
static bool try_lxc(const struct parts *p, int i, struct cgroup_container *c)
{
	const char *name = behind(p->part[i], "lxc.payload.");

	if (!name && i &&
	    (!strcmp(p->part[i - 1], "lxc") || !strcmp(p->part[i - 1], "lxc.payload")))
		name = p->part[i];
	return name && found(c, "lxc", name, strlen(name));
}

/* machine-NAME.scope, systemd-nspawn@NAME.service; its supervisor is not inside. */
static bool try_machine(const struct parts *p, int i, struct cgroup_container *c)
{
	const char *name = behind(p->part[i], "systemd-nspawn@"), *inner;
	const char *end = name ? ".service" : ".scope";
	size_t len;

	if (!name)
		name = behind(p->part[i], "machine-");
	if (!name || !ends_with(name, end) ||
	    (i + 1 < p->nr && !strcmp(p->part[i + 1], "supervisor")))
		return false;
	len = strlen(name) - strlen(end);
	inner = behind(name, "qemu-");
	if (inner)
		return found(c, "qemu", inner, len - 5);
	inner = behind(name, "lxc-");
	return inner ? found(c, "libvirt-lxc", inner, len - 4)
		     : found(c, "nspawn", name, len);
}

/* nomad.slice/…/UUID.TASK.scope, nomad/UUID.TASK: 8 digits of it, as nomad shows. */
static bool try_nomad(const struct parts *p, int i, struct cgroup_container *c)
{
	const char *part = p->part[i], *task = part + UUID_SIZE + 1;
	size_t len;
	char id[CGROUPNAME_MAX];

	if (!i || (strcmp(p->part[0], "nomad") && strcmp(p->part[0], "nomad.slice")) ||
	    strlen(part) <= UUID_SIZE + 1 || !is_uuid(part) || part[UUID_SIZE] != '.')
		return false;
	len = strlen(task) - (ends_with(task, ".scope") ? 6 : 0);
	snprintf(id, sizeof(id), "%.8s.%.*s", part, (int)len, task);
	return found(c, "nomad", id, strlen(id));
}

/* mesos/ID, buildkit/ID, and ecs/TASK/TASK-NUMBER of Amazon's newer agents. */
static bool try_below(const struct parts *p, int i, struct cgroup_container *c)
{
	const char *part = p->part[i], *above = i ? p->part[i - 1] : "";

	if (!strcmp(above, "mesos") || !strcmp(above, "buildkit"))
		return found(c, above, part, strlen(part));
	if (i >= 2 && strlen(part) > 33 && is_hex(part, 32) && part[32] == '-' &&
	    behind(part, above))
		return found(c, "ecs", part, strlen(part));
	return false;
}

static bool is_container(const struct parts *p, int i, struct cgroup_container *c)
{
	return try_prefixed(p->part[i], c) || try_bare(p, i, c) || try_lxc(p, i, c) ||
	       try_machine(p, i, c) || try_nomad(p, i, c) || try_below(p, i, c);
}

/* kubepods/burstable/podUID, kubepods-burstable-podUID.slice, and what contains it. */
static void find_pod(const char *path, struct cgroup_container *c)
{
	const char *pods = strstr(path, "kubepods"), *pod = NULL, *at;
	size_t n = 0;

	for (at = pods; at && (at = strstr(at, "pod")); at += 3) {
		if (strchr("-/", at[-1]) && is_hex(at + 3, 8))
			pod = at + 3;
	}
	if (!pod)
		return;
	for (; n < UUID_SIZE &&
	       (hex_digit(pod[n]) >= 0 || pod[n] == '_' || pod[n] == '-');
	     n++)
		c->pod[n] = pod[n] == '_' ? '-' : pod[n];
	c->qos = strstr(pods, "burstable")    ? "burstable"
		 : strstr(pods, "besteffort") ? "besteffort"
					      : "guaranteed";
}

bool cgroupname_container(const char *path, struct cgroup_container *out)
{
	struct parts parts;

	memset(out, 0, sizeof(*out));
	split(path, &parts);
	for (int i = parts.nr - 1; i >= 0; i--) {
		if (!is_container(&parts, i, out))
			continue;
		find_pod(path, out);
		return true;
	}
	memset(out, 0, sizeof(*out));
	return false;
}

/* A slice groups units; what runs in it directly has no better name. */
static bool is_unit(const char *part, bool slices)
{
	static const char *const kinds[] = { ".service", ".scope", ".mount", ".socket",
					     ".swap" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (ends_with(part, kinds[i]))
			return true;
	}
	return slices && ends_with(part, ".slice");
}

static int find_unit(const struct parts *p, bool slices)
{
	int i = p->nr - 1;

	while (i >= 0 && !is_unit(p->part[i], slices))
		i--;
	return i;
}

bool cgroupname_unit(const char *path, char out[CGROUPNAME_MAX])
{
	struct parts parts;
	int unit;

	split(path, &parts);
	unit = find_unit(&parts, false);
	if (unit < 0)
		unit = find_unit(&parts, true);
	if (unit < 0)
		return false;
	for (int i = 0; i < unit; i++) {
		if (!behind(parts.part[i], "user@") || !is_unit(parts.part[i], false))
			continue;
		snprintf(out, CGROUPNAME_MAX, "%.60s: %.190s", parts.part[i],
			 parts.part[unit]);
		return true;
	}
	memcpy(out, parts.part[unit], CGROUPNAME_MAX);
	return true;
}

int cgroupname_copy(const struct cgroup_container *from, struct cgroup_container **to)
{
	struct cgroup_container *copy = from ? malloc(sizeof(*copy)) : NULL;

	if (copy)
		*copy = *from;
	*to = copy;
	return from && !copy ? -ENOMEM : 0;
}
