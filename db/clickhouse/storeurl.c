/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storeurl.c - parses the URL of a store
 */
#include "config.h"

#include "db/clickhouse/storeurl.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN        "clickhouse://"
#define BY_TLS       "clickhouses://"
#define NAME_MAX_LEN 64

static const struct {
	const char *name;
	size_t member;
} names[] = {
	{ "user", offsetof(struct storeurl, user) },
	{ "password-file", offsetof(struct storeurl, password_file) },
	{ "ca", offsetof(struct storeurl, ca) },
	{ "cert", offsetof(struct storeurl, cert) },
	{ "key", offsetof(struct storeurl, key) },
};
#define NR_NAMES (sizeof(names) / sizeof(names[0]))

bool storeurl_is(const char *text)
{
	return !strncmp(text, PLAIN, strlen(PLAIN)) ||
	       !strncmp(text, BY_TLS, strlen(BY_TLS));
}

/* "name" or "name:port", or an address in brackets. */
static bool is_host(const char *text)
{
	const char *port;

	if (*text == '[') {
		text += strspn(text + 1, "0123456789abcdefABCDEF:.") + 1;
		if (*text++ != ']')
			return false;
	} else {
		const char *name = text;

		while (isalnum((unsigned char)*text) || *text == '.' || *text == '-' ||
		       *text == '_')
			text++;
		if (text == name)
			return false;
	}
	if (!*text)
		return true;
	port = text + 1;
	return *text == ':' && *port && !port[strspn(port, "0123456789")] &&
	       atol(port) > 0 && atol(port) < 65536;
}

static int add_hosts(struct storeurl *u, char *hosts, struct buf *why)
{
	char *host;

	while ((host = strsep(&hosts, ","))) {
		if (!is_host(host)) {
			buf_printf(why, "'%s' is no HOST or HOST:PORT", host);
			return -EINVAL;
		}
		if (u->nr_hosts == STOREURL_MAX_HOSTS) {
			buf_printf(why, "it has more than %d hosts",
				   STOREURL_MAX_HOSTS);
			return -EINVAL;
		}
		u->host[u->nr_hosts++] = host;
	}
	return 0;
}

static int set_value(struct storeurl *u, char *value, struct buf *why)
{
	const char *name = strsep(&value, "=");

	for (size_t i = 0; i < NR_NAMES; i++) {
		if (strcmp(name, names[i].name))
			continue;
		if (!value || !*value) {
			buf_printf(why, "'%s' has no value", name);
			return -EINVAL;
		}
		memcpy((char *)u + names[i].member, &value, sizeof(value));
		return 0;
	}
	buf_printf(why, "'%s' is not among user, password-file, ca, cert and key",
		   name);
	return -EINVAL;
}

static int set_database(struct storeurl *u, const char *name, struct buf *why)
{
	const size_t len = strlen(name);

	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			goto bad;
	}
	if (!len || len > NAME_MAX_LEN || isdigit((unsigned char)*name))
		goto bad;
	u->database = name;
	return 0;
bad:
	buf_printf(why, "'%s' is no name of a database: letters, digits and '_'", name);
	return -EINVAL;
}

static int take_apart(struct storeurl *u, struct buf *why)
{
	char *rest, *hosts, *values;
	const char *database;
	int err;

	u->tls = !strncmp(u->text, BY_TLS, strlen(BY_TLS));
	values = u->text + strlen(u->tls ? BY_TLS : PLAIN);
	rest = strsep(&values, "?");
	hosts = strsep(&rest, "/");
	database = rest ? rest : "";
	err = add_hosts(u, hosts, why);
	if (!err)
		err = set_database(u, database, why);
	while (!err && values)
		err = set_value(u, strsep(&values, "&"), why);
	if (!err && !u->tls && (u->ca || u->cert || u->key)) {
		buf_puts(why, "certificates need " BY_TLS);
		err = -EINVAL;
	}
	return err;
}

int storeurl_parse(const char *text, struct storeurl *out, struct buf *why)
{
	struct storeurl u = { 0 };
	int err;

	if (!storeurl_is(text)) {
		buf_puts(why, "a store is clickhouse://HOST[:PORT]/DATABASE");
		return -EINVAL;
	}
	u.text = strdup(text);
	err = u.text ? take_apart(&u, why) : -ENOMEM;
	if (err)
		storeurl_fini(&u);
	else
		*out = u;
	return err;
}

void storeurl_fini(struct storeurl *u)
{
	free(u->text);
	u->text = NULL;
}
