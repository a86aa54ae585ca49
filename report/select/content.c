/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * content.c - a hash of all data that a report of some epochs depends on
 */
#include "config.h"

#include "report/select/content.h"

#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "db/query/content.h"

/* What changes when a file is replaced, or written to. */
static int add_file(void *ctx, const char *image)
{
	struct sha256_ctx *sha = ctx;
	struct file_stamp state = { 0 };
	struct stat st;

	if (*image == '/' && !stat(image, &st))
		state = file_stamp_of(&st);
	sha256_update(sha, sizeof(state), (const uint8_t *)&state);
	return 0;
}

static void add_epochs(struct buf *text, const struct query_epochs *epochs)
{
	for (size_t i = 0; i < epochs->nr; i++) {
		const struct query_epoch *e = &epochs->epoch[i];

		buf_printf(text, "%" PRId64 " %" PRIu64 " %" PRIu64 " %d %u %" PRIu64,
			   e->id, e->from_ns, e->to_ns, e->open, e->uncertainty_ms,
			   e->samples);
		buf_printf(text, " %s %s %s\n", e->host, e->boot_id, e->label);
	}
}

static void add_events(struct buf *text, const struct selection *sel)
{
	for (size_t i = 0; i < sel->gaps.nr; i++)
		buf_printf(text, "%" PRIu64 " %" PRIu64 " %s\n",
			   sel->gaps.gap[i].from_ns, sel->gaps.gap[i].to_ns,
			   sel->gaps.gap[i].reason);
	for (size_t i = 0; i < sel->marks.nr; i++)
		buf_printf(text, "%" PRIu64 " %s %s\n", sel->marks.mark[i].at_ns,
			   sel->marks.mark[i].host, sel->marks.mark[i].text);
}

static int add_content(struct sha256_ctx *sha, const struct selection *sel)
{
	struct buf text = { 0 };
	int err;

	add_epochs(&text, &sel->epochs);
	add_events(&text, sel);
	err = query_content(sel->db, &sel->epochs, &text, add_file, sha);
	if (!err)
		err = text.err;
	if (!err)
		sha256_update(sha, text.len, (const uint8_t *)text.data);
	buf_fini(&text);
	return err;
}

int content_hash(const struct selection *sel, uint8_t out[CONTENT_SIZE])
{
	struct sha256_ctx sha;
	int err;

	sha256_init(&sha);
	err = add_content(&sha, sel);
	if (!err)
		sha256_digest(&sha, CONTENT_SIZE, out);
	return err;
}

static int add_selection(struct sha256_ctx *sha, const struct select_request *req,
			 const char *spec)
{
	struct selection sel;
	int err = select_open_epochs(req, spec, SELECT_APART, &sel);

	if (err)
		return err;
	err = add_content(sha, &sel);
	if (err)
		select_failed(&sel, err);
	select_close(&sel);
	return err;
}

int content_name(const struct select_request *req, char *const *specs, size_t nr,
		 char out[CONTENT_NAME_SIZE])
{
	struct select_request stored = *req;
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx sha;
	int err = 0;

	stored.as_stored = true;
	sha256_init(&sha);
	if (!nr)
		err = add_selection(&sha, &stored, req->epoch);
	for (size_t i = 0; i < nr && !err; i++)
		err = add_selection(&sha, &stored, specs[i]);
	if (err)
		return err;
	sha256_digest(&sha, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		sprintf(out + 2 * i, "%02x", digest[i]);
	return 0;
}
