/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containers_ask.c - gets a runtime's answer, as bytes
 *
 * gRPC is HTTP/2 with a message of Protocol Buffers as body: a byte that says whether
 * it is compressed, its length in four bytes, and the message. A request for all
 * containers is an empty message.
 */
#include "config.h"

#include "helpers/containers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"

#define GRPC_PREFIX 5
#define SERVICE     "http://localhost/runtime.v1.RuntimeService/"

struct exchange {
	const struct curlcall *call;
	const char *path;
	unsigned int wait_s;
	CURL *curl;
	struct buf *body;
};

static size_t take_body(char *data, size_t one, size_t nr, void *ctx)
{
	struct buf *body = ctx;

	if (nr > CONTAINERS_ANSWER - body->len)
		return 0;
	buf_put(body, data, nr);
	return body->err ? 0 : nr;
}

/* Each request has a connection of its own. */
static int perform(struct exchange *x)
{
	const struct curlcall *call = x->call;
	long status = 0;
	CURLcode code;

	call->setopt(x->curl, CURLOPT_UNIX_SOCKET_PATH, x->path);
	call->setopt(x->curl, CURLOPT_PROTOCOLS_STR, "http");
	call->setopt(x->curl, CURLOPT_PROXY, "");
	call->setopt(x->curl, CURLOPT_NOSIGNAL, 1L);
	call->setopt(x->curl, CURLOPT_TIMEOUT, (long)x->wait_s);
	call->setopt(x->curl, CURLOPT_WRITEFUNCTION, take_body);
	call->setopt(x->curl, CURLOPT_WRITEDATA, x->body);
	code = call->perform(x->curl);
	if (code) {
		log_warn("%s: %s", x->path,
			 code == CURLE_WRITE_ERROR ? "its answer is too large"
						   : call->strerror(code));
		return code == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -EIO;
	}
	call->getinfo(x->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status == 200)
		return 0;
	log_warn("%s: HTTP status %ld", x->path, status);
	return -EIO;
}

static int begin(struct exchange *x, struct buf *body)
{
	x->body = body;
	x->curl = x->call->init();
	return x->curl ? 0 : -ENOMEM;
}

static int get(struct exchange *x, const char *url, struct buf *body)
{
	int err = begin(x, body);

	if (err)
		return err;
	x->call->setopt(x->curl, CURLOPT_URL, url);
	err = perform(x);
	x->call->cleanup(x->curl);
	return err;
}

/* Removes the prefix. Without a message the call failed, and only a header says why. */
static int take_message(const struct exchange *x, struct buf *body)
{
	const uint8_t *p = (const uint8_t *)body->data;
	const size_t size = body->len;

	if (size < GRPC_PREFIX) {
		log_warn("%s: has no runtime.v1 of the container runtime interface",
			 x->path);
		return -EPROTO;
	}
	if (p[0] || size - GRPC_PREFIX != ((uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 |
					   (uint32_t)p[3] << 8 | p[4])) {
		log_warn("%s: its answer is not one plain message", x->path);
		return -EPROTO;
	}
	memmove(body->data, body->data + GRPC_PREFIX, size - GRPC_PREFIX);
	body->len = size - GRPC_PREFIX;
	return 0;
}

static int call_grpc(struct exchange *x, const char *url, struct buf *body)
{
	static const char empty[GRPC_PREFIX];
	const struct curlcall *call = x->call;
	struct curl_slist *head, *headers;
	int err = begin(x, body);

	if (err)
		return err;
	head = call->slist_append(NULL, "content-type: application/grpc");
	headers = head ? call->slist_append(head, "te: trailers") : NULL;
	if (headers) {
		call->setopt(x->curl, CURLOPT_URL, url);
		call->setopt(x->curl, CURLOPT_HTTP_VERSION,
			     (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
		call->setopt(x->curl, CURLOPT_HTTPHEADER, headers);
		call->setopt(x->curl, CURLOPT_POSTFIELDSIZE, (long)sizeof(empty));
		call->setopt(x->curl, CURLOPT_POSTFIELDS, empty);
		err = perform(x);
	} else {
		err = -ENOMEM;
	}
	call->cleanup(x->curl);
	call->slist_free_all(head);
	return err ? err : take_message(x, body);
}

int containers_ask(const struct curlcall *call, enum containers_kind kind,
		   const char *path, unsigned int wait_s, struct containers_answer *out)
{
	struct exchange x = { .call = call, .path = path, .wait_s = wait_s };
	int err;

	switch (kind) {
	case CONTAINERS_CRI:
		err = call_grpc(&x, SERVICE "ListPodSandbox", &out->pods);
		return err ? err
			   : call_grpc(&x, SERVICE "ListContainers", &out->containers);
	case CONTAINERS_DOCKER:
		return get(&x, "http://localhost/containers/json?all=1",
			   &out->containers);
	case CONTAINERS_STORAGE:
		err = file_read_all(AT_FDCWD, path, CONTAINERS_ANSWER,
				    &out->containers);
		if (err)
			log_warn("%s: %s", path, err_str(err));
		return err;
	}
	return -EINVAL;
}
