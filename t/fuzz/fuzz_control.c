/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_control.c - requests to cpid's control socket, and replies as cpi reads them
 *
 * The first byte chooses: bit 0, a reply instead of a request; bit 1, the peer is root;
 * bit 2, the session refuses. The session is replaced by functions that check what
 * they get: cpid performs only requests that the peer may make, with clean arguments.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "daemon/control/control_private.h"
#include "daemon/mappings/registration.h"
#include "report/select/client.h"
#include "t/fuzz/fuzz.h"

static int refusal; /* what the session answers */
static bool is_root;
static bool was_asked;

static int ask_session(bool needs_root)
{
	fuzz_check(is_root || !needs_root);
	was_asked = true;
	return refusal;
}

int session_flush(struct session *s)
{
	return ask_session(true);
}

int session_new_epoch(struct session *s, const char *label)
{
	fuzz_check(text_is_clean(label) && strlen(label) < CPI_CONTROL_TEXT);
	return ask_session(true);
}

int session_container(struct session *s, const char *id, const char *name)
{
	fuzz_check(strlen(id) == CPI_CONTROL_CONTAINER_ID - 1 && *name &&
		   text_is_clean(name) && strlen(name) < CPI_CONTROL_CONTAINER_NAME);
	return ask_session(true);
}

int session_mark(struct session *s, const char *text, uint64_t *at_ns)
{
	fuzz_check(*text && text_is_clean(text) && strlen(text) < CPI_CONTROL_TEXT);
	*at_ns = 1;
	return ask_session(true);
}

int session_set_rate(struct session *s, double hz)
{
	fuzz_check(isfinite(hz) && hz >= 0);
	return hz > 0 ? ask_session(true) : ask_session(true) & 0;
}

int session_register(struct session *s, const struct registration *r, struct buf *text)
{
	fuzz_check(strlen(r->path) < CPI_CONTROL_PATH);
	buf_puts(text, "done\n");
	return ask_session(false);
}

static void perform(const union request *r)
{
	struct job job = { .request = *r, .privileged = is_root };

	was_asked = false;
	request_perform(&job, NULL);
	fuzz_check(job.status <= 0 && (!job.status || job.text.len));
	fuzz_check(was_asked || job.status || r->head.op == CPI_CONTROL_QUIT);
	fuzz_check(job.text.len <= CPI_CONTROL_REPLY);
	buf_fini(&job.text);
}

static void take_request(const uint8_t *data, size_t size)
{
	union request r = { .head = { .magic = 0 } };
	struct buf text = { 0 };
	int err;

	memcpy(&r, data, size < sizeof(r) ? size : sizeof(r));
	if (!request_is_valid(&r, (ssize_t)size))
		return;
	err = request_check(&r, is_root, &text);
	fuzz_check(!err == !text.len);
	fuzz_check(err || r.head.version == CPI_CONTROL_VERSION);
	fuzz_check(err || is_root || r.head.op == CPI_CONTROL_STATUS ||
		   r.head.op == CPI_CONTROL_REGISTER);
	if (!err && r.head.op != CPI_CONTROL_STATUS)
		perform(&r);
	buf_fini(&text);
}

static void check_line(void *ctx, const char *name, const char *value)
{
	fuzz_check(!strchr(name, ' ') && !strchr(name, '\n') && !strchr(value, '\n'));
}

static void take_reply(const uint8_t *data, size_t size)
{
	struct buf text = { 0 };
	int err = client_take_reply((const char *)data, size, &text);

	fuzz_check(err <= 0 && text.len <= size);
	client_each_line(buf_str(&text), check_line, NULL);
	buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	is_root = data[0] & 2;
	refusal = data[0] & 4 ? -EIO : 0;
	if (data[0] & 1)
		take_reply(data + 1, size - 1);
	else
		take_request(data + 1, size - 1);
	return 0;
}
