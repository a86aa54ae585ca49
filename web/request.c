/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request.c - checks and routes one request, waits for its job, and answers it
 *
 * While a request waits, its connection is suspended, and MHD does not watch it. So the
 * loop watches whether the client closes it. If so, the request leaves its job.
 */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "web/answer.h"
#include "web/header.h"
#include "web/server_private.h"

#define MAX_LOGIN 1024 /* bytes of a user and a password */

/* The characters of a header's name (RFC 9110, 5.6.2). */
#define TOKEN_CHARACTERS                                      \
	"!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"abcdefghijklmnopqrstuvwxyz"

static struct conn *conn_of(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void leave_all(struct request *r)
{
	if (r->waiter.job)
		jobs_leave(&r->waiter);
	if (r->stamp.job)
		jobs_leave(&r->stamp);
	if (r->login.login)
		logins_leave(&r->login);
}

static void stop_waiting(struct request *r)
{
	leave_all(r);
	if (!r->is_suspended)
		return;
	r->is_suspended = false;
	loop_remove(&r->listener->server->loop, &r->watch);
	MHD_resume_connection(r->mhd);
}

static void on_gone(struct watch *w, uint32_t events)
{
	struct request *r = container_of(w, struct request, watch);

	r->is_gone = true;
	stop_waiting(r);
}

static void on_done(struct job_waiter *w, struct reply *reply)
{
	struct request *r = container_of(w, struct request, waiter);

	if (r->is_stamping) {
		r->is_stamping = false; /* route() finds the stamp in the cache */
	} else {
		if (reply)
			reply_take(reply);
		r->reply = reply;
		r->is_gone = !reply;
		if (r->stamp.job && reply && reply->status == MHD_HTTP_OK)
			return; /* it is sent when its key in the cache is known */
	}
	stop_waiting(r);
}

static void on_stamp(struct job_waiter *w, struct reply *reply)
{
	struct request *r = container_of(w, struct request, stamp);

	if (reply)
		route_stamped(r, reply);
	if (r->reply)
		stop_waiting(r);
}

static struct reply *say_unknown(void)
{
	return reply_error(MHD_HTTP_UNAUTHORIZED, "no such user and password");
}

static void on_login(struct login_waiter *w, bool is_right)
{
	struct request *r = container_of(w, struct request, login);

	r->may_ask = is_right;
	if (!is_right) {
		r->reply = say_unknown();
		r->is_gone = !r->reply;
	}
	stop_waiting(r);
}

void *request_begin(void *cls, const char *uri, struct MHD_Connection *mhd)
{
	struct request *r = calloc(1, sizeof(*r));
	const size_t len = strnlen(uri, TARGET_MAX + 1);

	if (!r)
		return NULL;
	r->listener = cls;
	r->mhd = mhd;
	r->waiter.done = on_done;
	r->stamp.done = on_stamp;
	r->login.done = on_login;
	r->may_ask = !r->listener->has_tls;
	r->is_long = len > TARGET_MAX;
	if (!r->is_long)
		memcpy(r->text, uri, len);
	return r;
}

void request_end(void *cls, struct MHD_Connection *mhd, void **request,
		 enum MHD_RequestTerminationCode why)
{
	struct server *s = ((struct server_listener *)cls)->server;
	struct request *r = *request;

	conn_waits(&s->conns, conn_of(mhd), time_mono_ns());
	if (!r)
		return;
	leave_all(r);
	if (r->is_suspended)
		loop_remove(&s->loop, &r->watch);
	reply_drop(r->reply);
	free(r);
	*request = NULL;
}

/* Headers that another server might understand in another way. */
struct count {
	int hosts, bodies, odd_names;
};

static enum MHD_Result count_header(void *cls, enum MHD_ValueKind kind,
				    const char *name, const char *value)
{
	struct count *count = cls;

	if (!strcasecmp(name, "Host"))
		count->hosts++;
	if (!strcasecmp(name, "Transfer-Encoding") ||
	    (!strcasecmp(name, "Content-Length") && strcmp(value, "0")))
		count->bodies++;
	/* "Content-Length : 3": the library takes the space as a part of the name. */
	if (!*name || name[strspn(name, TOKEN_CHARACTERS)])
		count->odd_names++;
	return MHD_YES;
}

/* Whether another site's page sent the request. Links to our own page are allowed. */
static bool is_cross_site(struct MHD_Connection *mhd)
{
	const char *site =
		MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, "Sec-Fetch-Site");
	const char *dest =
		MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, "Sec-Fetch-Dest");

	if (!site || !strcmp(site, "same-origin") || !strcmp(site, "none"))
		return false;
	return !dest || strcmp(dest, "document");
}

static struct reply *check(struct request *r, const char *method)
{
	const char *host = MHD_lookup_connection_value(r->mhd, MHD_HEADER_KIND, "Host");
	const struct server_config *config = r->listener->server->config;
	struct count count = { 0 };

	MHD_get_connection_values(r->mhd, MHD_HEADER_KIND, count_header, &count);
	if (r->is_long)
		return reply_error(MHD_HTTP_URI_TOO_LONG,
				   "the address is longer than %d bytes", TARGET_MAX);
	if (count.hosts != 1 || count.bodies || count.odd_names || !host)
		return reply_error(MHD_HTTP_BAD_REQUEST,
				   "a request has one Host header, plain names of "
				   "headers, and no body");
	if (!header_host_is_ours(host, r->listener->port, &config->hosts))
		return reply_error(
			MHD_HTTP_MISDIRECTED_REQUEST,
			"this is no name of the server: start it with --host");
	if (strcmp(method, "GET") && strcmp(method, "HEAD")) {
		reply_take(r->listener->server->not_allowed);
		return r->listener->server->not_allowed;
	}
	if (is_cross_site(r->mhd))
		return reply_error(MHD_HTTP_FORBIDDEN,
				   "another site's page must not ask this server");
	if (target_parse(r->text, &r->target))
		return reply_error(MHD_HTTP_BAD_REQUEST, "the address is not valid");
	return NULL;
}

/* Returns the reply to a client that may not ask; NULL if it may, or must wait. */
static struct reply *ask_password(struct request *r)
{
	const char *value =
		MHD_lookup_connection_value(r->mhd, MHD_HEADER_KIND, "Authorization");
	struct logins *logins = &r->listener->server->logins;
	struct login_attempt a;
	char text[MAX_LOGIN];
	int err = header_basic(value, text, sizeof(text), &a.user, &a.password);

	if (!err) {
		a.peer = conn_of(r->mhd)->peer;
		err = logins_ask(logins, &a, time_mono_ns(), &r->login);
	}
	explicit_bzero(text, sizeof(text));
	r->may_ask = err == 1;
	if (err == -EBUSY)
		return reply_error(MHD_HTTP_SERVICE_UNAVAILABLE,
				   "too many passwords are being checked");
	return err == -EINVAL ? say_unknown() : NULL;
}

static struct reply *authenticate(struct request *r)
{
	const struct server_config *config = r->listener->server->config;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(r->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);

	if (config->tls->ca.len && info && tls_knows_client(info->tls_session)) {
		r->may_ask = true;
		return NULL;
	}
	if (config->passwords)
		return ask_password(r);
	return reply_error(MHD_HTTP_FORBIDDEN,
			   "a certificate for clients is needed that is valid here");
}

static enum MHD_Result wait_suspended(struct request *r)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(r->mhd, MHD_CONNECTION_INFO_CONNECTION_FD);

	r->watch = (struct watch){ .fd = info->connect_fd, .fn = on_gone };
	if (loop_add(&r->listener->server->loop, &r->watch, EPOLLRDHUP))
		return MHD_NO;
	r->is_suspended = true;
	MHD_suspend_connection(r->mhd);
	return MHD_YES;
}

/* The metrics of cpid and the database, if there are any, and the server's own. */
static struct reply *add_metrics(const struct request *r)
{
	struct content_reader *reader = NULL;
	struct reply *reply = NULL;
	struct buf text = { 0 };
	char piece[4096];
	ssize_t got;

	metrics_put(r->listener->server, &text);
	if (r->reply->status == MHD_HTTP_OK)
		reader = content_reader_new(r->reply->content, 0);
	while (reader && (got = content_read(reader, piece, sizeof(piece))) > 0)
		buf_put(&text, piece, (size_t)got);
	content_reader_free(reader);
	if (!text.err)
		reply = reply_text(MHD_HTTP_OK,
				   "text/plain; version=0.0.4; charset=utf-8",
				   buf_str(&text));
	buf_fini(&text);
	return reply;
}

static struct reply *say_ready(const struct request *r)
{
	if (r->reply->status == MHD_HTTP_OK)
		return reply_text(MHD_HTTP_OK, "text/plain", "ready\n");
	content_take(r->reply->content);
	return reply_new(MHD_HTTP_SERVICE_UNAVAILABLE, r->reply->type,
			 r->reply->content);
}

/* Replaces the job's reply by the one for this kind of request. */
static void shape_reply(struct request *r)
{
	struct reply *reply;

	if (r->kind == REQUEST_REPORT)
		return;
	reply = r->kind == REQUEST_METRICS ? add_metrics(r) : say_ready(r);
	reply_drop(r->reply);
	r->reply = reply;
}

static const char *location(const struct request *r, char *out, size_t size)
{
	snprintf(out, size, "%s/", r->target.path);
	return out;
}

/*
 * Whether the connection uses the former certificate. It is closed after its next
 * answer, because the files are read again only when no such connection is left.
 */
static bool has_former_certificate(const struct request *r)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(r->mhd, MHD_CONNECTION_INFO_DAEMON);

	return info && r->listener->former.daemon &&
	       info->daemon == r->listener->former.daemon;
}

static enum MHD_Result send_reply(struct request *r)
{
	struct server *s = r->listener->server;
	struct answer_extra extra = { .file = *r->file ? r->file : NULL,
				      .close = r->is_refused ||
					       has_former_certificate(r) };
	char path[SERVER_TOKEN_SIZE + 3];

	shape_reply(r);
	if (!r->reply)
		return MHD_NO;
	s->nr_requests++;
	s->nr_errors += r->reply->status >= 400;
	if (r->reply->status == MHD_HTTP_SERVICE_UNAVAILABLE) {
		extra.name = "Retry-After";
		extra.value = "1";
	} else if (r->reply->status == MHD_HTTP_UNAUTHORIZED) {
		extra.name = "WWW-Authenticate";
		extra.value = "Basic realm=\"CPI\", charset=\"UTF-8\"";
	} else if (r->reply->status == MHD_HTTP_METHOD_NOT_ALLOWED) {
		extra.name = "Allow";
		extra.value = "GET, HEAD";
	} else if (r->reply->status == MHD_HTTP_PERMANENT_REDIRECT) {
		extra.name = "Location";
		extra.value = location(r, path, sizeof(path));
	}
	conn_is_answered(&s->conns, conn_of(r->mhd), time_mono_ns());
	return answer_send(r->mhd, r->reply, &extra);
}

enum MHD_Result request_handle(void *cls, struct MHD_Connection *mhd, const char *url,
			       const char *method, const char *version,
			       const char *upload, size_t *nr_upload, void **request)
{
	struct request *r = *request;
	struct reply *reply;

	if (!r || r->is_gone || r->listener->server->is_ending)
		return MHD_NO;
	conn_is_busy(conn_of(mhd));
	if (!r->is_checked) {
		r->is_checked = true;
		r->reply = check(r, method);
		r->is_refused = r->reply;
		/* MHD calls again; only a reply then lets the connection stay open. */
		return r->reply ? send_reply(r) : MHD_YES;
	}
	if (!r->reply && !r->may_ask) {
		r->reply = authenticate(r);
		if (!r->reply && !r->may_ask)
			return r->login.login ? wait_suspended(r) : MHD_NO;
	}
	if (!r->reply) {
		reply = route(r); /* on_done() may have set r->reply meanwhile */
		r->reply = reply ? reply : r->reply;
	}
	if (r->reply)
		return send_reply(r);
	return r->waiter.job ? wait_suspended(r) : MHD_NO;
}
