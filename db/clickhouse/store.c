/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.c - a client of ClickHouse's HTTP interface, with libcurl
 *
 * The server is told to answer only when a statement has ended, so that a failure in
 * its middle is a status and not the end of rows. Rows are sent as columns, compressed
 * by zstd: as a body's encoding, or for old servers in blocks of ClickHouse's clients.
 */
#include "config.h"

#include "db/clickhouse/store.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <zstd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "base/times.h"
#include "db/clickhouse/curlcall.h"
#include "db/clickhouse/native.h"
#include "db/clickhouse/storecluster.h"
#include "db/clickhouse/storeurl.h"
#include "service/keyfile.h"

#define CONNECT_S      10L
#define STALLED_S      120L /* without a byte */
#define VERSION_S      60L  /* for the first answer, which has a few bytes */
#define LONGEST_S      3600L
#define LONG_SQL       ((size_t)128 << 10) /* half of the default max_query_size */
#define DEFAULT_USER   "default"           /* of ClickHouse */
#define MAX_MESSAGE    400                 /* of an error, as shown */
#define MAX_ERROR      (64 << 10)          /* of an error, as read */
#define ZSTD_SINCE     21000
#define ASYNC_SINCE    23000
#define PACK_LEVEL     1
#define PARALLEL_SINCE 20010 /* knows insert_quorum_parallel */
#define QUORUM_MS      "30000"
#define MAX_REPEATS    30
#define MAX_DOUBLED    5
#define WAIT_MS        20

/* Errors of servers. */
enum {
	END_OF_FILE = 32,
	SOCKET_TIMEOUT = 209,
	NETWORK_ERROR = 210,
	ALL_TRIES_FAILED = 279,
	QUORUM_FAILED = 285,  /* too few replicas are alive */
	QUORUM_BUSY = 286,    /* another insert waits for its replicas */
	QUORUM_UNKNOWN = 319, /* a replica did not take it in time */
};

/* Of a compressed block, as ClickHouse's own clients send it. */
#define PACK_CHECKSUM 16
#define PACK_HEAD     (PACK_CHECKSUM + 9)
#define PACK_ZSTD     0x90
#define BLOCKS          \
	"&decompress=1" \
	"&http_native_compression_disable_checksumming_on_decompress=1"
#define PACK_STEP ((size_t)64 << 10)

struct ch_store {
	struct storeurl url;
	struct curlcall call;
	CURL *curl;
	char *password;
	char *name; /* url, for messages: it has no secrets */
	int host;   /* that answered last */
	struct ch_store_wait wait;
	unsigned int version;
	uint64_t sent, carried;
	struct ch_cluster cluster;
};

/* Rows on their way into a request. */
struct packing {
	ZSTD_CCtx *zstd;
	struct buf block, out;
};

/* One request's answer. */
struct store_answer {
	struct ch_store *store;
	struct rowbinary_reader reader; /* types NULL: no rows are expected */
	rowbinary_fn fn;
	void *ctx;
	uint64_t left; /* bytes that may still come */
	struct buf error;
	int err;
	bool begun;    /* some rows of the answer were taken */
	bool once;     /* the statement must not be repeated */
	bool repeated; /* the statement */
	int host;      /* if it was repeated: to which it was sent first */
	int nr_silent; /* how often no answer came in time */
};

const char *ch_store_database(const struct ch_store *s)
{
	return s->url.database;
}

unsigned int ch_store_version(const struct ch_store *s)
{
	return s->version;
}

uint64_t ch_store_sent(const struct ch_store *s)
{
	return s->sent;
}

uint64_t ch_store_carried(const struct ch_store *s)
{
	return s->carried;
}

void ch_store_set_cluster(struct ch_store *s, const struct ch_cluster *c)
{
	s->cluster = *c;
}

const struct ch_cluster *ch_store_cluster(const struct ch_store *s)
{
	return *s->cluster.name ? &s->cluster : NULL;
}

int ch_store_nr_hosts(const struct ch_store *s)
{
	return s->url.nr_hosts;
}

int ch_store_host(const struct ch_store *s)
{
	return s->host;
}

void ch_store_use_host(struct ch_store *s, int host)
{
	s->host = host;
}

void ch_store_limit(struct ch_store *s, uint64_t bytes_per_s)
{
	s->call.setopt(s->curl, CURLOPT_MAX_SEND_SPEED_LARGE, (curl_off_t)bytes_per_s);
}

/* Called by libcurl at least once a second. Not 0: the transfer ends. */
static int look_at_end(void *ctx, curl_off_t total, curl_off_t now, curl_off_t up_total,
		       curl_off_t up_now)
{
	const struct ch_store *s = ctx;
	struct pollfd fd = { .fd = s->wait.end_fd, .events = POLLIN };

	(void)total;
	(void)now;
	(void)up_total;
	(void)up_now;
	if (s->wait.fn)
		s->wait.fn(s->wait.ctx);
	return fd.fd >= 0 && poll(&fd, 1, 0) > 0;
}

void ch_put_literal(struct buf *sql, const char *text)
{
	buf_putc(sql, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			buf_putc(sql, '\\');
		buf_putc(sql, *text);
	}
	buf_putc(sql, '\'');
}

static size_t take(char *data, size_t one, size_t size, void *ctx)
{
	struct store_answer *a = ctx;
	long status = 0;

	a->store->call.getinfo(a->store->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status != 200 || !a->reader.types) {
		if (a->error.len + size > MAX_ERROR) {
			a->err = -EPROTO;
			log_err("%s: the server's answer is too long", a->store->name);
			return 0;
		}
		buf_put(&a->error, data, size);
		return size;
	}
	a->begun = true;
	if (size > a->left)
		a->err = -CPI_ELIMIT;
	else
		a->err = rowbinary_feed(&a->reader, data, size, a->fn, a->ctx);
	a->left -= size;
	return a->err ? 0 : size;
}

/* The number that the server gives to its error; 0 if there is none. */
static int error_code(struct store_answer *a)
{
	int code = 0;

	return sscanf(buf_str(&a->error), "Code: %9d", &code) == 1 ? code : 0;
}

static void show_failure(const struct ch_store *s, struct store_answer *a, long status)
{
	char text[MAX_MESSAGE];

	snprintf(text, sizeof(text), "%s", buf_str(&a->error));
	text_clean(text);
	log_err("%s: %s: the server refused with status %ld: %s", s->name,
		s->url.host[s->host], status, text);
	switch (ch_store_cluster(s) ? error_code(a) : 0) {
	case QUORUM_FAILED:
	case QUORUM_BUSY:
	case QUORUM_UNKNOWN:
		log_err("%s: a server of cluster '%s' is down: inserts wait until it "
			"runs again",
			s->name, s->cluster.name);
	}
}

/*
 * Whether the same statement to a cluster may succeed soon. Of an insert, either no
 * rows were inserted, or the replicas know those that were, and take them once.
 */
static bool is_passing(struct store_answer *a)
{
	if (!ch_store_cluster(a->store))
		return false;
	switch (error_code(a)) {
	case QUORUM_BUSY:
		return true;
	case END_OF_FILE:
	case SOCKET_TIMEOUT:
	case NETWORK_ERROR:
	case ALL_TRIES_FAILED:
		return a->reader.types != NULL;
	default:
		return false;
	}
}

/* An answer's status as an error. */
static int status_error(struct store_answer *a, long status)
{
	if (status == 200)
		return 0;
	if (is_passing(a))
		return -EAGAIN;
	show_failure(a->store, a, status);
	if (status == 401 || status == 403)
		return -EACCES;
	if (strstr(buf_str(&a->error), "Code: 516") ||
	    strstr(buf_str(&a->error), "Code: 193") ||
	    strstr(buf_str(&a->error), "Code: 192"))
		return -EACCES;
	return status >= 400 && status < 600 ? -EIO : -EPROTO;
}

/* Whether no byte of the request was sent. */
static bool is_unsent(const struct ch_store *s)
{
	curl_off_t begun_us = 0, sent = 0;
	long size = 0;

	s->call.getinfo(s->curl, CURLINFO_PRETRANSFER_TIME_T, &begun_us);
	s->call.getinfo(s->curl, CURLINFO_REQUEST_SIZE, &size);
	s->call.getinfo(s->curl, CURLINFO_SIZE_UPLOAD_T, &sent);
	return !begun_us && !size && !sent;
}

/*
 * Whether the request never reached a server. One that is off answers nothing, not
 * even a connection.
 */
static bool is_unreachable(const struct ch_store *s, CURLcode code)
{
	if (code == CURLE_OPERATION_TIMEDOUT)
		return is_unsent(s);
	return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
	       code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_SSL_CONNECT_ERROR ||
	       code == CURLE_PEER_FAILED_VERIFICATION;
}

static int transfer_error(struct store_answer *a, CURLcode code)
{
	struct ch_store *s = a->store;

	if (a->err)
		return a->err;
	if (code == CURLE_ABORTED_BY_CALLBACK)
		return -EINTR;
	log_warn("%s: %s: %s", s->name, s->url.host[s->host], s->call.strerror(code));
	if (is_unreachable(s, code))
		return -ECONNREFUSED;
	/* A query may go to the next server, but each server may time out only once. */
	if (!ch_store_cluster(s) || !a->reader.types || a->begun)
		return -EIO;
	if (code == CURLE_OPERATION_TIMEDOUT && ++a->nr_silent >= s->url.nr_hosts)
		return -EIO;
	s->host = (s->host + 1) % s->url.nr_hosts;
	return -EAGAIN;
}

/*
 * How long the server may be silent, as it is until a statement ends. A report waits up
 * to LONGEST_S: its user can interrupt it. A service tries again after STALLED_S.
 */
static long silence_s(const struct ch_store *s, const struct store_answer *a,
		      const char *query)
{
	return s->wait.end_fd >= 0 && (a->reader.types || *query) ? STALLED_S
								  : LONGEST_S;
}

/* The table that a statement inserts into; "" if it does not insert. */
static void inserted_table(const char *sql, char *table, size_t size)
{
	static const char words[] = "INSERT INTO ";

	*table = '\0';
	if (strncmp(sql, words, strlen(words)) != 0)
		return;
	sql += strlen(words);
	snprintf(table, size, "%.*s", (int)strcspn(sql, " ("), sql);
}

/* The settings of an insert into a cluster, and of other statements. */
static void put_settings(const struct ch_store *s, const char *sql, char *out,
			 size_t size)
{
	const struct ch_cluster *c = ch_store_cluster(s);
	char table[64];

	*out = '\0';
	if (!c)
		return;
	inserted_table(sql, table, sizeof(table));
	snprintf(out, size, "&connect_timeout_with_failover_ms=3000");
	if (*table)
		snprintf(out, size,
			 "&connect_timeout_with_failover_ms=3000"
			 "&insert_distributed_sync=1&insert_quorum=%llu"
			 "&insert_quorum_timeout=" QUORUM_MS "%s",
			 (unsigned long long)(storecluster_divides(table) ? c->replicas
									  : c->servers),
			 s->version >= PARALLEL_SINCE ? "&insert_quorum_parallel=0"
						      : "");
}

/* Sends one request to the current host. query goes into the URL. */
static int send_once(struct store_answer *a, const char *query, const char *database,
		     const void *body, size_t size, struct curl_slist *headers)
{
	struct ch_store *s = a->store;
	char *escaped = s->call.escape(s->curl, query, 0), *url = NULL,
	     longest[48] = "", settings[192];
	long status = 0;
	CURLcode code;

	/* Not for short statements: the user may not be allowed to change settings. */
	if (!*query && size > LONG_SQL)
		snprintf(longest, sizeof(longest), "&max_query_size=%zu", size + 1);
	put_settings(s, *query ? query : body, settings, sizeof(settings));
	if (!escaped ||
	    asprintf(&url, "%s://%s/?wait_end_of_query=1%s%s%s%s%s%s%s%s",
		     s->url.tls ? "https" : "http", s->url.host[s->host], longest,
		     *database ? "&database=" : "", database, settings,
		     s->version >= ASYNC_SINCE && *query && !*settings
			     ? "&async_insert=1&wait_for_async_insert=1"
			     : "",
		     s->version < ZSTD_SINCE && *query ? BLOCKS : "",
		     *query ? "&query=" : "", escaped) < 0) {
		s->call.free(escaped);
		return -ENOMEM;
	}
	s->call.setopt(s->curl, CURLOPT_URL, url);
	s->call.setopt(s->curl, CURLOPT_HTTPHEADER, headers);
	s->call.setopt(s->curl, CURLOPT_POSTFIELDS, body);
	s->call.setopt(s->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
	s->call.setopt(s->curl, CURLOPT_WRITEDATA, a);
	/*
	 * If a reused connection ends without an answer, libcurl repeats the
	 * request, although an insert may have been done. So inserts use a new
	 * connection.
	 */
	s->call.setopt(s->curl, CURLOPT_FRESH_CONNECT, a->reader.types ? 0L : 1L);
	s->call.setopt(s->curl, CURLOPT_LOW_SPEED_TIME, silence_s(s, a, query));
	code = s->call.perform(s->curl);
	s->call.getinfo(s->curl, CURLINFO_RESPONSE_CODE, &status);
	curlcall_count(&s->call, s->curl, &s->sent, &s->carried);
	s->call.free(escaped);
	free(url);
	return code ? transfer_error(a, code) : status_error(a, status);
}

int ch_store_pause(struct ch_store *s, int ms)
{
	struct pollfd fd = { .fd = s->wait.end_fd, .events = POLLIN };

	if (s->wait.fn)
		s->wait.fn(s->wait.ctx);
	return poll(&fd, 1, ms) > 0 ? -EINTR : 0;
}

/* Waits a random time that grows. 0, or -EINTR. */
static int wait_before(struct ch_store *s, int try)
{
	const int most_ms = WAIT_MS << (try < MAX_DOUBLED ? try : MAX_DOUBLED);
	unsigned char n = 0;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		n = (unsigned char)time_mono_ns();
	return ch_store_pause(s, most_ms / 2 + most_ms * n / UINT8_MAX);
}

/* To each host until one can be reached. */
static int send_round(struct store_answer *a, const char *query, const char *database,
		      const void *body, size_t size, struct curl_slist *headers)
{
	struct ch_store *s = a->store;
	int err = -ECONNREFUSED;

	for (int i = 0; err == -ECONNREFUSED && i < s->url.nr_hosts; i++) {
		err = send_once(a, query, database, body, size, headers);
		if (err == -ECONNREFUSED)
			s->host = (s->host + 1) % s->url.nr_hosts;
	}
	return err;
}

/* Repeats what a cluster could not do at that moment. */
static int send_to_any(struct store_answer *a, const char *query, const char *database,
		       const void *body, size_t size, const char *encoding)
{
	struct ch_store *s = a->store;
	struct curl_slist *headers = s->call.slist_append(NULL, "Expect:"), *more;
	char line[64];
	int err = headers ? -ECONNREFUSED : -ENOMEM;

	if (headers && encoding) {
		snprintf(line, sizeof(line), "Content-Encoding: %s", encoding);
		more = s->call.slist_append(headers, line);
		err = more ? err : -ENOMEM;
	}
	if (err == -ECONNREFUSED)
		err = send_round(a, query, database, body, size, headers);
	for (int try = 0; err == -EAGAIN && !a->once; try++) {
		if (try == MAX_REPEATS) {
			if (a->error.len)
				show_failure(s, a, 500);
			err = -EIO;
			break;
		}
		buf_reset(&a->error);
		if (!a->repeated)
			a->host = s->host;
		a->repeated = true;
		err = wait_before(s, try);
		if (!err)
			err = send_round(a, query, database, body, size, headers);
	}
	s->call.slist_free_all(headers);
	buf_fini(&a->error);
	return err;
}

int ch_store_exec(struct ch_store *s, const char *sql)
{
	struct store_answer a = { .store = s };

	return send_to_any(&a, "", s->url.database, sql, strlen(sql), NULL);
}

int ch_store_admin(struct ch_store *s, const char *sql)
{
	struct store_answer a = { .store = s };

	return send_to_any(&a, "", "", sql, strlen(sql), NULL);
}

static int query_in(struct ch_store *s, const char *database, const char *sql,
		    const char *types, uint64_t max_bytes, rowbinary_fn fn, void *ctx)
{
	struct store_answer a = {
		.store = s,
		.reader = { .types = types },
		.fn = fn,
		.ctx = ctx,
		.left = max_bytes,
	};
	int err = send_to_any(&a, "", database, sql, strlen(sql), NULL);

	if (!err)
		err = rowbinary_end(&a.reader);
	if (err == -CPI_ECORRUPT || err == -CPI_ETRUNCATED)
		log_err("%s: the server's rows are damaged", s->name);
	else if (err == -CPI_ELIMIT)
		log_err("%s: the answer is larger than %llu MB: choose fewer hosts, a "
			"shorter time, or an image",
			s->name, (unsigned long long)(max_bytes >> 20));
	rowbinary_fini(&a.reader);
	return err;
}

int ch_store_query(struct ch_store *s, const char *sql, const char *types,
		   uint64_t max_bytes, rowbinary_fn fn, void *ctx)
{
	return query_in(s, s->url.database, sql, types, max_bytes, fn, ctx);
}

int ch_store_admin_query(struct ch_store *s, const char *sql, const char *types,
			 uint64_t max_bytes, rowbinary_fn fn, void *ctx)
{
	return query_in(s, "", sql, types, max_bytes, fn, ctx);
}

int ch_store_query_buf(struct ch_store *s, struct buf *sql, const char *types,
		       uint64_t max_bytes, rowbinary_fn fn, void *ctx)
{
	const char *text = buf_str(sql);

	return sql->err ? sql->err : ch_store_query(s, text, types, max_bytes, fn, ctx);
}

int ch_store_exec_buf(struct ch_store *s, struct buf *sql)
{
	const char *text = buf_str(sql);

	return sql->err ? sql->err : ch_store_exec(s, text);
}

int ch_store_insert_selected(struct ch_store *s, struct buf *sql)
{
	struct store_answer a = { .store = s, .once = true };
	const char *text = buf_str(sql);

	return sql->err
		       ? sql->err
		       : send_to_any(&a, "", s->url.database, text, strlen(text), NULL);
}

/*
 * Appends a compressed block in the form that all versions accept: a checksum, which
 * BLOCKS tells the server not to check; the method; the compressed size, which includes
 * the method and the two sizes; the uncompressed size; and the data.
 */
static int pack_block(struct packing *p)
{
	const size_t bound = ZSTD_compressBound(p->block.len);
	uint8_t *to;
	uint32_t le;
	size_t size;

	to = buf_reserve(&p->out, PACK_HEAD + bound);
	if (!to || p->block.err)
		return -ENOMEM;
	size = ZSTD_compressCCtx(p->zstd, to + PACK_HEAD, bound, p->block.data,
				 p->block.len, PACK_LEVEL);
	if (ZSTD_isError(size))
		return -ENOMEM;
	memset(to, 0, PACK_CHECKSUM);
	to[PACK_CHECKSUM] = PACK_ZSTD;
	le = htole32((uint32_t)(size + PACK_HEAD - PACK_CHECKSUM));
	memcpy(to + PACK_CHECKSUM + 1, &le, sizeof(le));
	le = htole32((uint32_t)p->block.len);
	memcpy(to + PACK_CHECKSUM + 5, &le, sizeof(le));
	p->out.len += PACK_HEAD + size;
	return 0;
}

/* Appends a block to the request's only zstd frame, which need not end with it. */
static int pack_part(struct packing *p, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { p->block.data, p->block.len, 0 };
	ZSTD_outBuffer out;
	size_t left;

	if (p->block.err)
		return -ENOMEM;
	do {
		out = (ZSTD_outBuffer){ buf_reserve(&p->out, PACK_STEP), PACK_STEP, 0 };
		if (!out.dst)
			return -ENOMEM;
		left = ZSTD_compressStream2(p->zstd, &out, &in, end);
		if (ZSTD_isError(left))
			return -ENOMEM;
		p->out.len += out.pos;
	} while (end == ZSTD_e_end ? left : in.pos < in.size);
	return 0;
}

/* Rows as blocks of columns, compressed. */
static int pack(const struct ch_store *s, const char *columns, const char *types,
		const struct buf *rows, struct packing *p)
{
	const bool blocks = s->version < ZSTD_SINCE;
	size_t at = 0, used;
	int err = 0;

	while (!err && at < rows->len) {
		buf_reset(&p->block);
		err = native_put(columns, types, rows->data + at, rows->len - at, &used,
				 &p->block);
		if (err)
			break;
		at += used;
		if (blocks)
			err = pack_block(p);
		else
			err = pack_part(p,
					at < rows->len ? ZSTD_e_continue : ZSTD_e_end);
	}
	return err;
}

/*
 * Replicas know the rows of an insert that is repeated if it is divided among the same
 * shards. If shards were added meanwhile, or another server did it, which may know
 * other shards, some rows may be there twice: -EIO, logged.
 */
static int check_shards(struct ch_store *s, int host)
{
	const struct ch_cluster *c = ch_store_cluster(s);
	uint64_t shards = 0;
	int err;

	if (!c)
		return 0;
	err = s->host == host ? storecluster_shards(s, c->name, &shards) : 0;
	if (err || (s->host == host && shards == c->shards))
		return err;
	log_warn("%s: the servers of cluster '%s' changed while rows were inserted: "
		 "they are sent again at another address",
		 s->name, c->name);
	return -EIO;
}

int ch_store_insert(struct ch_store *s, const char *columns, const char *types,
		    const struct buf *rows)
{
	struct packing p = { .zstd = ZSTD_createCCtx() };
	struct store_answer a = { .store = s };
	char *query = NULL;
	int err = rows->err;

	if (p.zstd)
		ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_compressionLevel, PACK_LEVEL);
	if (!err && p.zstd && rows->len)
		err = pack(s, columns, types, rows, &p);
	if (!err &&
	    (!p.zstd || asprintf(&query, "INSERT INTO %s FORMAT Native", columns) < 0))
		err = -ENOMEM;
	if (!err && rows->len)
		err = send_to_any(&a, query, s->url.database, p.out.data, p.out.len,
				  s->version < ZSTD_SINCE ? NULL : "zstd");
	if (!err && a.repeated)
		err = check_shards(s, a.host);
	ZSTD_freeCCtx(p.zstd);
	buf_fini(&p.block);
	buf_fini(&p.out);
	free(query);
	return err;
}

/* A file with rights for others is refused: it would be no secret. */
static int read_password(struct ch_store *s)
{
	const char *path = s->url.password_file;
	struct buf text = { 0 };
	int err = path ? keyfile_read(path, true, &text) : 0;

	if (err == -EPERM)
		log_err("%s: other users have rights to the password: chmod o= it",
			path);
	else if (err)
		log_err("%s: %s", path, err_str(err));
	if (!err && path) {
		s->password = strndup(buf_str(&text), strcspn(buf_str(&text), "\r\n"));
		err = s->password ? 0 : -ENOMEM;
	}
	if (text.data)
		explicit_bzero(text.data, text.len);
	buf_fini(&text);
	return err;
}

static int set_options(struct ch_store *s)
{
	CURL *c = s->curl;

	s->call.setopt(c, CURLOPT_NOSIGNAL, 1L);
	s->call.setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	s->call.setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	s->call.setopt(c, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	s->call.setopt(c, CURLOPT_TIMEOUT, VERSION_S);
	s->call.setopt(c, CURLOPT_NOPROGRESS, 0L);
	s->call.setopt(c, CURLOPT_XFERINFOFUNCTION, look_at_end);
	s->call.setopt(c, CURLOPT_XFERINFODATA, s);
	s->call.setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
	s->call.setopt(c, CURLOPT_LOW_SPEED_TIME, STALLED_S);
	s->call.setopt(c, CURLOPT_BUFFERSIZE, 256L << 10);
	s->call.setopt(c, CURLOPT_WRITEFUNCTION, take);
	s->call.setopt(c, CURLOPT_USERAGENT, "cpi/" PACKAGE_VERSION);
	if (s->url.user || s->password) {
		s->call.setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		s->call.setopt(c, CURLOPT_USERNAME,
			       s->url.user ? s->url.user : DEFAULT_USER);
		s->call.setopt(c, CURLOPT_PASSWORD, s->password ? s->password : "");
	}
	if (s->url.ca)
		s->call.setopt(c, CURLOPT_CAINFO, s->url.ca);
	if (s->url.cert)
		s->call.setopt(c, CURLOPT_SSLCERT, s->url.cert);
	if (s->url.key)
		s->call.setopt(c, CURLOPT_SSLKEY, s->url.key);
	return 0;
}

static int note_version(void *ctx, const struct rowbinary_cell *cells)
{
	struct ch_store *s = ctx;
	char text[32] = "";
	unsigned int major, minor;

	memcpy(text, cells->text, cells->len < sizeof(text) ? cells->len : 31);
	if (sscanf(text, "%5u.%3u", &major, &minor) != 2)
		return -EPROTO;
	s->version = major * 1000 + minor;
	return 0;
}

static int connect_store(struct ch_store *s)
{
	int err = query_in(s, "", "SELECT version() FORMAT RowBinary", "s", 1024,
			   note_version, s);

	if (!err && !s->version)
		err = -EPROTO;
	if (err == -EACCES)
		log_err("%s: the server refuses the user or the password: %s", s->name,
			err_str(err));
	else if (err && err != -EINTR)
		log_err("%s: no ClickHouse answers there: %s", s->name, err_str(err));
	s->call.setopt(s->curl, CURLOPT_TIMEOUT, LONGEST_S);
	return err;
}

int ch_store_open(const char *url, const struct ch_store_wait *wait,
		  struct ch_store **out)
{
	struct ch_store *s = calloc(1, sizeof(*s));
	struct buf why = { 0 };
	int err;

	if (!s)
		return -ENOMEM;
	s->wait = wait ? *wait : (struct ch_store_wait){ .end_fd = -1 };
	err = storeurl_parse(url, &s->url, &why);
	if (err == -EINVAL)
		log_err("%s: %s", url, buf_str(&why));
	buf_fini(&why);
	if (!err)
		err = curlcall_load(&s->call);
	if (!err) {
		s->name = strndup(url, strcspn(url, "?"));
		s->curl = s->call.init();
		err = s->name && s->curl ? read_password(s) : -ENOMEM;
	}
	if (!err)
		err = set_options(s);
	if (!err)
		err = connect_store(s);
	if (err)
		ch_store_close(s);
	else
		*out = s;
	return err;
}

void ch_store_close(struct ch_store *s)
{
	if (!s)
		return;
	if (s->curl)
		s->call.cleanup(s->curl);
	if (s->password)
		explicit_bzero(s->password, strlen(s->password));
	free(s->password);
	free(s->name);
	storeurl_fini(&s->url);
	free(s);
}
