/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.c - one image, one stream, one flush
 *
 * Records contain offsets, so no process map is needed, and counts are only added up.
 * Memory depends on how many instructions ran, not on how long.
 */
#include "config.h"

#include "daemon/import/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/import/replay_samples.h"
#include "daemon/os/loss.h"
#include "db/profile/stream_account.h"
#include "db/store/store.h"

#define MAX_INSTRUCTIONS (1u << 22)
#define CYCLES_HZ        1000000000

struct replay {
	const struct replay_config *cfg;
	struct tipfile *file;
	struct profile *profile;
	struct image_desc image;
	struct sha256_ctx hash; /* of the code, to tell programs of one name apart */
	struct flush_instruction *instruction;
	struct flush_symbol *symbol;
	size_t nr_instructions, nr_symbols;
	struct stream_account account;
};

/* Where an address is in the image. */
static bool find_offset(const struct replay *r, uint64_t address, uint64_t *offset)
{
	const struct replay_program *p = r->cfg->program;

	*offset = address;
	return !p || p->offset_of(p->ctx, address, offset);
}

static int take_share(void *ctx, const struct replay_share *share)
{
	struct replay *r = ctx;
	struct count c = { .n = share->count };
	int err;

	if (!find_offset(r, share->address, &c.offset)) {
		r->account.lost[SAMPLE_NO_MAPPING] += c.n;
		return 0;
	}
	err = profile_add(r->profile, &c);
	return err ? err
		   : profile_add_weight(r->profile, share->weight, c.offset,
					share->part);
}

/* Ends the function before where the new one begins; the last has no end. */
static int begin_function(struct replay *r, uint64_t start)
{
	char name[32];

	if (GROW(r->symbol, r->nr_symbols))
		return -ENOMEM;
	snprintf(name, sizeof(name), "at_%" PRIx64, start);
	r->symbol[r->nr_symbols] =
		(struct flush_symbol){ &r->image, start, 0, strdup(name) };
	return r->symbol[r->nr_symbols++].name ? 0 : -ENOMEM;
}

/* Code comes in the order of its addresses. */
static int take_code(void *ctx, const struct tipfile_code *code)
{
	struct replay *r = ctx;
	const size_t nr = r->nr_instructions;
	int err = 0;

	if (r->cfg->program) /* its file has better names */
		return 0;
	if (nr && r->instruction[nr - 1].start >= code->address)
		return -CPI_ECORRUPT;
	if (nr == MAX_INSTRUCTIONS)
		return -CPI_ELIMIT;
	if (GROW(r->instruction, nr))
		return -ENOMEM;
	r->instruction[nr] = (struct flush_instruction){ &r->image, code->address,
							 strdup(code->text) };
	if (!r->instruction[nr].text)
		return -ENOMEM;
	r->nr_instructions++;
	sha256_update(&r->hash, sizeof(code->address), (const void *)&code->address);
	sha256_update(&r->hash, strlen(code->text), (const void *)code->text);
	if (code->begins_function)
		err = begin_function(r, code->address);
	if (!err && r->nr_symbols) {
		struct flush_symbol *last = &r->symbol[r->nr_symbols - 1];

		last->size = code->address - last->start + 1;
	}
	return err;
}

static int read_all(struct replay *r)
{
	const struct replay_taker to = { take_share, take_code, r };

	int err = replay_read_samples(r->file, &to, &r->account.received);

	r->account.stored = r->account.received - account_nr_lost(&r->account);
	return err;
}

/* A cycle counts as a nanosecond, and no recording begins before 1970. */
static uint64_t duration_ns(const struct replay *r, uint64_t now_ns)
{
	uint64_t ns;

	if (__builtin_mul_overflow(r->account.received, tipfile_info(r->file)->interval,
				   &ns))
		return now_ns;
	return ns < now_ns ? ns : now_ns;
}

static int store_samples(struct store *s, struct replay *r, uint64_t now_ns)
{
	const uint64_t ns = duration_ns(r, now_ns);
	const struct flush_profile profile = { &r->image, 0, "", r->profile };
	const struct flush_comm comm = { &r->image, 0, "[replay]", r->account.stored };
	const struct flush_loss loss = { 0, loss_class_of(SAMPLE_NO_MAPPING),
					 loss_name(SAMPLE_NO_MAPPING),
					 r->account.lost[SAMPLE_NO_MAPPING] };
	const struct flush_stream stream = {
		.desc = { .event = "cycles",
			  .source = "replay",
			  .cpu_type = "",
			  .unit = "cycles",
			  .mean_period = tipfile_info(r->file)->interval,
			  .landing = LANDING_PRECISE },
		.received = r->account.received,
		.enabled_ns = ns,
		.running_ns = ns,
	};
	const struct flush f = { .seq = 1,
				 .from_ns = now_ns - ns,
				 .to_ns = now_ns,
				 .duration_ns = ns,
				 .streams = &stream,
				 .nr_streams = 1,
				 .profiles = &profile,
				 .nr_profiles = 1,
				 .comms = &comm,
				 .nr_comms = 1,
				 .losses = &loss,
				 .nr_losses = 1,
				 .symbols = r->symbol,
				 .nr_symbols = r->nr_symbols,
				 .instructions = r->instruction,
				 .nr_instructions = r->nr_instructions };

	return store_flush(s, &f);
}

static int store_all(struct replay *r)
{
	const struct platform_desc platform = {
		.host = "[replay]",
		.arch = r->cfg->program ? r->cfg->program->arch : "",
		.cpu = "a core with time-proportional profiling",
		.release = "",
		.boot_id = "",
		.clock_hz = CYCLES_HZ,
		.nr_cpus = 1,
	};
	const uint64_t now_ns = time_real_ns(),
		       from_ns = now_ns - duration_ns(r, now_ns);
	struct store *s = NULL;
	struct db *db;
	int err = db_open(r->cfg->db_path, DB_COLLECT, &db);

	if (err)
		return err;
	err = store_begin(db, &platform, from_ns, &s);
	if (!err)
		err = store_epoch(s, from_ns, 0, r->cfg->label);
	if (!err)
		err = store_samples(s, r, now_ns);
	if (!err)
		err = store_end(s, now_ns);
	else
		store_free(s);
	db_close_whole(db);
	if (err)
		log_err("%s: %s", r->cfg->db_path, err_str(err));
	return err;
}

static void describe_image(struct replay *r)
{
	if (r->cfg->program) {
		r->image = r->cfg->program->desc;
		return;
	}
	r->image = (struct image_desc){ .kind = IMAGE_TRACE,
					.name = tipfile_info(r->file)->name,
					.has_content = r->nr_instructions };
	if (r->image.has_content)
		sha256_digest(&r->hash, sizeof(r->image.content), r->image.content);
}

static void replay_fini(struct replay *r)
{
	for (size_t i = 0; i < r->nr_instructions; i++)
		free((char *)r->instruction[i].text);
	for (size_t i = 0; i < r->nr_symbols; i++)
		free((char *)r->symbol[i].name);
	free(r->instruction);
	free(r->symbol);
	profile_free(r->profile);
	tipfile_close(r->file);
}

int replay_file(const struct replay_config *cfg, uint64_t *nr_samples)
{
	struct replay r = { .cfg = cfg, .profile = profile_new() };
	int err = r.profile ? tipfile_open(cfg->path, &r.file) : -ENOMEM;

	sha256_init(&r.hash);
	if (!err)
		err = read_all(&r);
	if (!err && !r.account.received)
		err = -CPI_EEMPTY;
	if (err) {
		log_err("%s: at byte %" PRIu64
			": %s; files of records are written by cpi tip "
			"--records",
			cfg->path, r.file ? tipfile_where(r.file) : 0, err_str(err));
	} else {
		describe_image(&r);
		err = store_all(&r);
	}
	if (!err)
		*nr_samples = r.account.received;
	replay_fini(&r);
	return err;
}
