/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.c - puts loop, libmicrohttpd, jobs, logins and cache together
 *
 * libmicrohttpd has no thread: its epoll descriptor is a watch of the loop, and a
 * request whose report is being made is suspended. It cannot replace a certificate, so
 * new files start a second daemon on the same socket:
 *
 * 	files changed       now -> former (keeps its connections), a new daemon -> now
 * 	former is empty     former is stopped; only then are files looked at again
 *
 * So there are at most two daemons for each socket.
 */
#include "config.h"

#include "web/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "service/signals.h"
#include "web/assets.h"
#include "web/refusal.h"
#include "web/server_private.h"

#define SPARE_CONNECTIONS 64    /* that are closed, but not yet gone */
#define CONNECTION_BYTES  20480 /* for a request's headers and an answer's */
#define IDLE_S            60
#define TICK_MS           1000
#define RENEW_MS          10000 /* between looks at certificates, without clients */
#define TLS_PRIORITIES    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

static const char not_found_text[] = "{\"error\": \"there is nothing here\"}\n";
static const char not_allowed_text[] = "{\"error\": \"only GET and HEAD\"}\n";

static void keep_reply(struct jobs *jobs, const struct job_key *key,
		       struct reply *reply)
{
	struct server *s = container_of(jobs, struct server, jobs);

	/*
	 * Other answers may be caused by a lock or by missing rights, on which the
	 * stamp does not depend.
	 */
	if (reply->status == MHD_HTTP_OK || reply->status == MHD_HTTP_BAD_REQUEST)
		cache_put(&s->cache, key, reply);
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **context,
			  enum MHD_ConnectionNotificationCode what)
{
	struct server *s = ((struct server_listener *)cls)->server;

	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		*context = conn_new(&s->conns, mhd, time_mono_ns());
	else
		conn_free(&s->conns, *context);
}

static void on_daemon(struct watch *w, uint32_t events)
{
	MHD_run(container_of(w, struct server_daemon, watch)->daemon);
}

/* Addresses stay as they were sent: target.h decodes. */
static size_t keep_escaped(void *cls, struct MHD_Connection *mhd, char *text)
{
	return strlen(text);
}

static struct MHD_Daemon *start_daemon(struct server_listener *l, int fd)
{
	const struct conns_config *conns = &l->server->conns.config;
	const struct tls *tls = l->server->config->tls;
	const unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
	const struct MHD_OptionItem secure[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0,
		  l->has_tls ? tls->certificate.data : NULL },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, l->has_tls ? tls->key.data : NULL },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)TLS_PRIORITIES },
		{ l->has_tls && tls->ca.len ? MHD_OPTION_HTTPS_MEM_TRUST
					    : MHD_OPTION_END,
		  0, l->has_tls ? tls->ca.data : NULL },
		{ MHD_OPTION_END, 0, NULL },
	};
	const struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };

	return MHD_start_daemon(
		l->has_tls ? flags | MHD_USE_TLS : flags, 0, NULL, NULL, request_handle,
		l, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		conns->max + SPARE_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)IDLE_S, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_URI_LOG_CALLBACK, request_begin, l,
		MHD_OPTION_UNESCAPE_CALLBACK, keep_escaped, l,
		MHD_OPTION_NOTIFY_COMPLETED, request_end, l,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, l, MHD_OPTION_ARRAY,
		l->has_tls ? secure : none, MHD_OPTION_END);
}

/* A daemon on l's socket, which the loop does not watch yet. 0 or -EIO. */
static int make_daemon(struct server_listener *l, struct server_daemon *out)
{
	const union MHD_DaemonInfo *info;

	out->daemon = start_daemon(l, l->fd);
	if (!out->daemon)
		return -EIO;
	info = MHD_get_daemon_info(out->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	out->watch = (struct watch){ .fd = info->epoll_fd, .fn = on_daemon };
	return 0;
}

/* Begins to accept connections on l's socket. 0, -EIO or -errno. */
static int begin_daemon(struct server_listener *l)
{
	int err = make_daemon(l, &l->now);

	if (!err)
		err = loop_add(&l->server->loop, &l->now.watch, EPOLLIN);
	if (err)
		l->now.watch.fd = -1;
	return err;
}

static int listen_to(struct server *s, const struct server_socket *socket)
{
	struct server_listener *l = &s->listener[s->nr_listeners];
	int err;

	*l = (struct server_listener){ .server = s,
				       .fd = socket->fd,
				       .port = socket->port,
				       .has_tls = s->config->tls && socket->port };
	err = begin_daemon(l);
	s->nr_listeners += l->now.daemon != NULL;
	return err;
}

static void end_former(struct server *s, struct server_listener *l)
{
	if (!l->former.daemon)
		return;
	loop_remove(&s->loop, &l->former.watch);
	MHD_stop_daemon(l->former.daemon);
	l->former.daemon = NULL;
}

/* Ends former daemons without connections. Returns whether others are left. */
static bool has_former(struct server *s)
{
	bool any = false;

	for (int i = 0; i < s->nr_listeners; i++) {
		struct server_listener *l = &s->listener[i];
		const union MHD_DaemonInfo *info =
			l->former.daemon ? MHD_get_daemon_info(
						   l->former.daemon,
						   MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
					 : NULL;

		if (info && info->num_connections)
			any = true;
		else
			end_former(s, l);
	}
	return any;
}

/*
 * A watch must not move, so it is registered anew. If that fails, the daemon's
 * connections wait for the next tick.
 */
static void watch_daemon(struct server_listener *l, struct server_daemon *d)
{
	if (loop_add(&l->server->loop, &d->watch, EPOLLIN))
		log_warn("web: port %u: its connections wait for others", l->port);
}

/* Existing connections keep the former certificate. */
static void replace_daemon(struct server_listener *l, const struct server_daemon *fresh)
{
	loop_remove(&l->server->loop, &l->now.watch);
	MHD_quiesce_daemon(l->now.daemon);
	l->former = l->now;
	l->now = *fresh;
	watch_daemon(l, &l->former);
	watch_daemon(l, &l->now);
}

/* New daemons for all sockets with TLS, or for none: then -EIO, and all is as before.
 */
static int replace_daemons(struct server *s)
{
	struct server_daemon fresh[SERVER_MAX_SOCKETS] = { 0 };
	int err = 0;

	for (int i = 0; !err && i < s->nr_listeners; i++)
		err = s->listener[i].has_tls ? make_daemon(&s->listener[i], &fresh[i])
					     : 0;
	for (int i = 0; i < s->nr_listeners; i++) {
		if (!fresh[i].daemon)
			continue;
		if (err) {
			MHD_quiesce_daemon(fresh[i].daemon); /* the socket stays open */
			MHD_stop_daemon(fresh[i].daemon);
		} else {
			replace_daemon(&s->listener[i], &fresh[i]);
		}
	}
	return err;
}

/* The sockets keep what they have, and are tried again. Says so once. */
static void keep_former(struct server *s, uint64_t now_ns)
{
	if (!s->renew_ns)
		log_err("web: %s: the port cannot be opened with the new certificate, "
			"so the former one stays in use; tried again every %d s",
			s->config->tls_files->certificate, RENEW_MS / 1000);
	s->renew_ns = now_ns + RENEW_MS * NSEC_PER_MSEC;
}

static void set_refused(struct server *s, bool refused)
{
	const char *certificate = s->config->tls_files->certificate;
	int err = refusal_set(s->config->dir_fd, certificate, refused);

	if (err && !s->refuses_files)
		log_warn("web: %s: cannot write %s, which cpi doctor reads: %s",
			 certificate, REFUSAL_FILE, err_str(err));
	s->refuses_files = refused;
}

/*
 * New certificates are for new connections. Files that do not fit are logged once, and
 * the former ones stay.
 */
static void renew_tls(struct server *s, uint64_t now_ns)
{
	struct tls *tls = s->config->tls, fresh, old;
	int err;

	if (!tls || now_ns < s->renew_ns || has_former(s) ||
	    !tls_has_changed(tls, s->config->tls_files))
		return;
	err = tls_load(&fresh, s->config->tls_files);
	if (err) {
		tls_fini(&fresh);
		set_refused(s, true);
		if (err == -EMFILE || err == -ENFILE || err == -ENOMEM)
			keep_former(s, now_ns);
		else /* they are looked at again when they change */
			memcpy(tls->stamp, fresh.stamp, sizeof(tls->stamp));
		return;
	}
	old = *tls;
	*tls = fresh;
	if (replace_daemons(s)) {
		*tls = old;
		tls_fini(&fresh);
		set_refused(s, true);
		keep_former(s, now_ns);
		return;
	}
	s->renew_ns = 0;
	set_refused(s, false);
	tls_fini(&s->former_tls);
	s->former_tls = old;
	log_info("web: %s: read anew", s->config->tls_files->certificate);
}

static int load_assets(struct server *s)
{
	struct content *content;
	int err = 0;

	for (int i = 0; !err && assets[i].name; i++) {
		if (i == SERVER_MAX_ASSETS)
			return -E2BIG;
		err = content_of_gzip(assets[i].gzip, assets[i].nr_gzip, &content);
		if (!err)
			s->asset[i] = reply_new(MHD_HTTP_OK, assets[i].type, content);
		if (!err && !s->asset[i])
			err = -ENOMEM;
	}
	s->not_found =
		reply_text(MHD_HTTP_NOT_FOUND, "application/json", not_found_text);
	s->not_allowed = reply_text(MHD_HTTP_METHOD_NOT_ALLOWED, "application/json",
				    not_allowed_text);
	return err ? err : s->not_found && s->not_allowed ? 0 : -ENOMEM;
}

int server_new(const struct server_config *config, struct server **out)
{
	struct server *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->config = config;
	s->started_ns = time_mono_ns();
	s->jobs = (struct jobs){ .config = &config->jobs,
				 .loop = &s->loop,
				 .finished = keep_reply };
	s->conns.config = config->conns;
	s->cache.max_bytes = config->cache_bytes;
	err = loop_init(&s->loop);
	if (err) {
		free(s);
		return err;
	}
	err = logins_init(&s->logins, &s->loop, config->passwords);
	if (!err)
		err = load_assets(s);
	for (int i = 0; !err && i < config->nr_sockets; i++)
		err = listen_to(s, &config->socket[i]);
	if (err) {
		log_err("web: the server does not start: %s", err_str(err));
		server_free(s);
		return err;
	}
	*out = s;
	return 0;
}

void server_free(struct server *s)
{
	if (!s)
		return;
	s->is_ending = true; /* MHD must not be stopped while a request waits */
	jobs_fini(&s->jobs);
	logins_fini(&s->logins);
	for (int i = 0; i < s->nr_listeners; i++) {
		struct server_listener *l = &s->listener[i];

		if (l->former.daemon)
			MHD_run(l->former.daemon); /* what was suspended goes on */
		end_former(s, l);
		if (l->now.daemon) {
			MHD_run(l->now.daemon);
			MHD_stop_daemon(l->now.daemon);
		}
	}
	if (s->refuses_files)
		set_refused(s, false);
	tls_fini(&s->former_tls);
	cache_fini(&s->cache);
	for (int i = 0; i < SERVER_MAX_ASSETS; i++)
		reply_drop(s->asset[i]);
	reply_drop(s->not_found);
	reply_drop(s->not_allowed);
	loop_fini(&s->loop);
	free(s);
}

/* How long the loop may wait for an event. */
static int timeout_ms(const struct server *s)
{
	MHD_UNSIGNED_LONG_LONG ms,
		least = s->conns.nr || s->jobs.first || s->logins.first ? TICK_MS
			: s->config->tls                                ? RENEW_MS
									: 3600000;

	for (int i = 0; i < s->nr_listeners; i++) {
		const struct server_listener *l = &s->listener[i];

		if (MHD_get_timeout(l->now.daemon, &ms) == MHD_YES && ms < least)
			least = ms;
		if (l->former.daemon &&
		    MHD_get_timeout(l->former.daemon, &ms) == MHD_YES && ms < least)
			least = ms;
	}
	return (int)least;
}

struct signals {
	struct watch watch;
	struct server *server;
	int (*reload)(void *ctx);
	void *ctx;
	int err; /* of a reload */
};

/* Answers depend on the options. */
static int reload_options(struct signals *signals)
{
	struct server *s = signals->server;
	int err = signals->reload(signals->ctx);

	s->nr_reloads++;
	cache_clear(&s->cache);
	s->cache.max_bytes = s->config->cache_bytes;
	jobs_options_changed(&s->jobs);
	return err;
}

static void on_signal(struct watch *w, uint32_t events)
{
	struct signals *signals = container_of(w, struct signals, watch);

	switch (signals_take(w->fd)) {
	case SIGNALS_END:
		signals->server->loop.stop = true;
		break;
	case SIGNALS_RELOAD:
		signals->err = reload_options(signals);
		if (signals->err)
			signals->server->loop.stop = true;
		break;
	default:
		break;
	}
}

int server_run(struct server *s, int fd, int (*reload)(void *ctx), void *ctx)
{
	struct signals signals = { .watch = { .fd = fd, .fn = on_signal },
				   .server = s,
				   .reload = reload,
				   .ctx = ctx };
	uint64_t next_ns = 0, now_ns;
	int err = loop_add(&s->loop, &signals.watch, EPOLLIN);

	while (!err && !s->loop.stop) {
		err = loop_once(&s->loop, timeout_ms(s));
		for (int i = 0; i < s->nr_listeners; i++) {
			MHD_run(s->listener[i].now.daemon);
			if (s->listener[i].former.daemon)
				MHD_run(s->listener[i].former.daemon);
		}
		now_ns = time_mono_ns();
		if (now_ns < next_ns)
			continue;
		conns_tick(&s->conns, now_ns);
		jobs_tick(&s->jobs, now_ns);
		logins_tick(&s->logins, now_ns);
		renew_tls(s, now_ns);
		next_ns = now_ns + TICK_MS * NSEC_PER_MSEC;
	}
	loop_remove(&s->loop, &signals.watch);
	return err ? err : signals.err;
}
