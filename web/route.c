/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * route.c - decides by the path how a request is answered
 *
 * If there is a token, every path begins with it. Any other path gets the same "not
 * found" as a missing page, so a guess tells nothing about the token.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/times.h"
#include "web/api.h"
#include "web/assets.h"
#include "web/header.h"
#include "web/server_private.h"
#include "web/stamp.h"

#define API        "/api/v1/"
#define STAMP_SIZE 64 /* length of the hash that "epoch stamp" prints */

static struct reply *shared(struct reply *reply)
{
	reply_take(reply);
	return reply;
}

/* The part of the path after the token; NULL if the token is missing or wrong. */
static const char *behind_token(const char *token, const char *path)
{
	char given[SERVER_TOKEN_SIZE];
	size_t len = strcspn(path + 1, "/");

	if (!token)
		return path;
	snprintf(given, sizeof(given), "%.*s", (int)len, path + 1);
	if (len != strlen(token) || !header_is_secret(given, token))
		return NULL;
	return path + 1 + len;
}

static struct reply *find_asset(struct server *s, const char *name)
{
	if (!*name)
		name = "index.html";
	for (int i = 0; assets[i].name; i++) {
		if (!strcmp(assets[i].name, name))
			return shared(s->asset[i]);
	}
	return shared(s->not_found);
}

/* Returns the cached answer to a call; if there is none, r waits. Ends the call. */
static struct reply *ask_with_key(struct request *r, const struct job_key *key,
				  struct api_call *call)
{
	struct server *s = r->listener->server;
	struct reply *kept = cache_find(&s->cache, key);
	int err;

	if (kept) {
		api_call_fini(call);
		return shared(kept);
	}
	err = jobs_ask(&s->jobs, key, call, &r->waiter);
	if (err == -EBUSY)
		return reply_error(MHD_HTTP_SERVICE_UNAVAILABLE,
				   "too many questions wait: ask again in a second");
	return NULL;
}

/* Reads the stamp from a reply to "epoch stamp". */
static int read_stamp(const struct reply *reply, char out[STAMP_SIZE + 1])
{
	struct content_reader *reader = content_reader_new(reply->content, 0);
	ssize_t got = reader ? content_read(reader, out, STAMP_SIZE) : -1;

	content_reader_free(reader);
	out[STAMP_SIZE] = '\0';
	return reply->status == MHD_HTTP_OK && got == STAMP_SIZE ? 0 : -EBADMSG;
}

/*
 * Asks for the stamp of a call's epochs, and makes the call's key from it. Returns 0;
 * -EAGAIN if w waits for the stamp; or another error, and then the key must be made
 * from the whole database (stamp_call()).
 */
static int find_content(struct request *r, const struct api_call *call,
			struct job_waiter *w, struct job_key *out)
{
	struct server *s = r->listener->server;
	char name[STAMP_SIZE + 1];
	struct api_call stamp;
	struct reply *kept;
	struct job_key key;
	int err = api_stamp_make(call, &r->target, &s->config->dbs, &stamp);

	if (err)
		return err;
	stamp_call(&stamp, &s->config->dbs, &key);
	kept = cache_find(&s->cache, &key);
	if (kept || r->was_stamped) {
		api_call_fini(&stamp);
		err = kept ? read_stamp(kept, name) : -ENOENT;
		if (!err)
			stamp_content(&r->question, name,
				      time_mono_ns() - s->started_ns, out);
		return err;
	}
	r->was_stamped = true;
	r->is_stamping =
		w == &r->waiter; /* w->done() may be called before jobs_ask() returns */
	err = jobs_ask(&s->jobs, &key, &stamp, w);
	if (!err && w->job)
		return -EAGAIN;
	r->is_stamping = false;
	return err ? err : -ENOENT;
}

void route_stamped(struct request *r, const struct reply *reply)
{
	struct server *s = r->listener->server;
	char name[STAMP_SIZE + 1];
	struct reply *kept;
	struct job_key key;

	if (read_stamp(reply, name))
		return;
	stamp_content(&r->question, name, time_mono_ns() - s->started_ns, &key);
	kept = cache_find(&s->cache, &key);
	if (r->reply && r->nr_reloads == s->nr_reloads)
		cache_put(&s->cache, &key, r->reply);
	else if (r->reply)
		return; /* it was made with former options */
	else if (kept)
		r->reply = shared(kept);
	else if (r->waiter.job)
		jobs_rename(&r->waiter, &key);
}

/* Whether r's question was asked before. Only some questions are remembered. */
static bool was_asked(const struct request *r)
{
	struct job_key *at = r->listener->server->asked;
	size_t hash;
	bool was;

	memcpy(&hash, r->question.bytes, sizeof(hash));
	at += hash % SERVER_NR_ASKED;
	was = !memcmp(at, &r->question, sizeof(*at));
	*at = r->question;
	return was;
}

/*
 * The key of a report is made from the stamp of its epochs. The stamp of closed epochs
 * does not change while cpid writes. Stamps are cached, too, until the database is
 * written to. A new question has no cached answer. So its report does not wait for the
 * stamp, if a place is free.
 */
static struct reply *ask(struct request *r, struct api_call *call)
{
	struct server *s = r->listener->server;
	struct job_key key, content;
	struct reply *reply;
	bool at_once = false;
	int err = -ENODATA;

	stamp_question(call, &r->question);
	r->nr_reloads = s->nr_reloads;
	if (r->kind == REQUEST_REPORT && !r->was_stamped)
		at_once = !was_asked(r) && jobs_are_free(&s->jobs);
	if (r->kind == REQUEST_REPORT)
		err = find_content(r, call, at_once ? &r->stamp : &r->waiter, &content);
	if (err == -EAGAIN && !at_once) {
		api_call_fini(call);
		return NULL;
	}
	stamp_call(call, &s->config->dbs, &key);
	reply = ask_with_key(r, err ? &key : &content, call);
	if (reply && r->stamp.job)
		jobs_leave(&r->stamp);
	return reply;
}

static struct reply *ask_report(struct request *r, const char *report,
				const struct target *t)
{
	struct server *s = r->listener->server;
	struct buf why = { 0 };
	struct reply *reply = NULL;
	struct api_call call;
	int err = api_call_make(report, t, &s->config->dbs, &call, &why);

	if (!err) {
		if (call.as_file)
			snprintf(r->file, sizeof(r->file), "cpi-%s.%s", call.report,
				 call.suffix);
		reply = ask(r, &call);
	} else if (err == -ENOENT) {
		reply = reply_error(MHD_HTTP_NOT_FOUND,
				    "there is no such report: " API " lists them");
	} else if (err == -EINVAL) {
		reply = reply_error(MHD_HTTP_BAD_REQUEST, "%s", buf_str(&why));
	}
	buf_fini(&why);
	return reply;
}

static struct reply *describe(const struct server *s)
{
	struct reply *reply = NULL;
	struct buf text = { 0 };

	api_describe(&s->config->dbs, &text);
	if (!text.err)
		reply = reply_text(MHD_HTTP_OK, "application/json", buf_str(&text));
	buf_fini(&text);
	return reply;
}

static struct reply *ask_metrics(struct request *r)
{
	const struct target t = { .nr_args = 1, .arg = { { "format", "prometheus" } } };

	r->kind = REQUEST_METRICS;
	return ask_report(r, "status", &t);
}

static struct reply *ask_ready(struct request *r)
{
	const struct target t = { .nr_args = 1, .arg = { { "limit", "1" } } };

	r->kind = REQUEST_READY;
	return ask_report(r, "epochs", &t);
}

/* For a path that is only the token: the page's addresses need the '/' after it. */
static struct reply *redirect(void)
{
	return reply_text(MHD_HTTP_PERMANENT_REDIRECT, "text/plain", "");
}

struct reply *route(struct request *r)
{
	struct server *s = r->listener->server;
	const bool is_open = r->listener->port && !r->listener->has_tls;
	const char *token = is_open ? s->config->token : NULL;
	const char *path = behind_token(token, r->target.path);

	if (!path)
		return shared(s->not_found);
	if (!*path)
		return redirect();
	if (!strcmp(path, API))
		return describe(s);
	if (!strncmp(path, API, strlen(API)))
		return ask_report(r, path + strlen(API), &r->target);
	if (!strcmp(path, "/metrics"))
		return ask_metrics(r);
	if (!strcmp(path, "/-/healthy"))
		return reply_text(MHD_HTTP_OK, "text/plain", "healthy\n");
	if (!strcmp(path, "/-/ready"))
		return ask_ready(r);
	return find_asset(s, path + 1);
}
