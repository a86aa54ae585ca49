/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * passwords.c - reads the file of users, and reads it again after a change
 *
 * Each question compares inode, size and change time of the file with those of the last
 * read, so an editor that replaces the file needs no signal. The text stays in one
 * buffer, into which names and hashes point, and which is overwritten before it is
 * freed.
 */
#include "config.h"

#include "web/auth/passwords.h"

#include <crypt.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/text.h"
#include "service/keyfile.h"

struct user {
	const char *name, *hash; /* in the text */
};

struct passwords {
	const char *path;
	struct stat seen;
	struct buf text;
	struct user *user;
	size_t nr;
	int err; /* of the last read */
};

/* Methods that make each guess expensive; the others of crypt(5) do not. */
static const char *const methods[] = { "$y$", "$gy$", "$7$", "$2b$", "$2y$", "$2a$" };

static bool is_hash(const char *hash)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (!strncmp(hash, methods[i], strlen(methods[i])))
			return crypt_checksalt(hash) == CRYPT_SALT_OK;
	}
	return false;
}

/* Why a line is not valid; NULL if it is taken, or says nothing. */
static const char *take_line(struct passwords *p, char *line)
{
	char *hash = strchr(line, ':');
	size_t width;

	if (!*line || *line == '#')
		return NULL;
	if (!hash)
		return "it is not USER:HASH";
	*hash++ = '\0';
	hash[strcspn(hash, ":")] = '\0';
	width = strlen(line);
	if (!width || width > PASSWORDS_MAX_NAME || !text_is_clean(line))
		return "the user's name is not valid";
	if (!is_hash(hash))
		return "the hash is not one of yescrypt, scrypt or bcrypt";
	if (p->nr == PASSWORDS_MAX_USERS)
		return "there are too many users";
	if (GROW(p->user, p->nr))
		return "out of memory";
	p->user[p->nr++] = (struct user){ .name = line, .hash = hash };
	return NULL;
}

static void take_lines(struct passwords *p)
{
	char *line = p->text.data, *next;
	unsigned int nr = 1;
	const char *why;

	for (; line; line = next, nr++) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		why = take_line(p, line);
		if (why)
			log_warn("web: %s:%u: %s", p->path, nr, why);
	}
}

static void forget(struct passwords *p)
{
	if (p->text.data)
		explicit_bzero(p->text.data, p->text.len);
	buf_fini(&p->text);
	free(p->user);
	p->user = NULL;
	p->nr = 0;
}

/* The status of the file, by which a change is seen; zeros if there is no file. */
static void look(const struct passwords *p, struct stat *st)
{
	if (stat(p->path, st))
		*st = (struct stat){ .st_ino = 0 };
}

static int read_again(struct passwords *p)
{
	forget(p);
	look(p, &p->seen);
	p->err = keyfile_read(p->path, true, &p->text);
	if (!p->err) {
		buf_str(&p->text);
		p->err = p->text.err;
	}
	if (!p->err && strlen(p->text.data) != p->text.len)
		p->err = -EBADMSG;
	if (!p->err)
		take_lines(p);
	else if (p->err == -EPERM)
		log_err("web: %s: other users can read or change it: chmod o= it",
			p->path);
	else
		log_err("web: %s: %s", p->path, err_str(p->err));
	return p->err;
}

static bool has_changed(const struct passwords *p)
{
	struct stat now;

	look(p, &now);
	return now.st_ino != p->seen.st_ino || now.st_dev != p->seen.st_dev ||
	       now.st_size != p->seen.st_size ||
	       memcmp(&now.st_ctim, &p->seen.st_ctim, sizeof(now.st_ctim));
}

int passwords_open(const char *path, struct passwords **out)
{
	struct passwords *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->path = path;
	err = read_again(p);
	if (err)
		passwords_free(p);
	else
		*out = p;
	return err;
}

void passwords_free(struct passwords *p)
{
	if (!p)
		return;
	forget(p);
	free(p);
}

const char *passwords_hash(struct passwords *p, const char *user, bool *is_user)
{
	if (has_changed(p) || err_is_shortage(p->err))
		read_again(p);
	for (size_t i = 0; i < p->nr; i++) {
		if (strcmp(p->user[i].name, user))
			continue;
		*is_user = true;
		return p->user[i].hash;
	}
	*is_user = false;
	return p->nr ? p->user[0].hash : NULL;
}
