/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tip_records.c - writes the samples of a pipeline trace as a file of TIP records
 *
 * Samples are written as the trace is read. The code of the sampled instructions
 * follows at the end, when the table of instructions is complete.
 */
#include "config.h"

#include "tools/input/tip_records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/newfile.h"
#include "base/path.h"
#include "daemon/os/tipfile.h"

struct tip_records {
	char *path;
	struct newfile file;
	struct tipfile_writer *w;
};

/* The number of each state in files of records. */
static const enum cpi_tip_state states[] = {
	[TIP_IS_COMPUTING] = CPI_TIP_COMMITS,      [TIP_IS_STALLED] = CPI_TIP_STALLS,
	[TIP_IS_MISPREDICT] = CPI_TIP_MISPREDICTS, [TIP_IS_FLUSHED] = CPI_TIP_FLUSHES,
	[TIP_IS_DRAINED] = CPI_TIP_DRAINED,        [TIP_IS_EXCEPTION] = CPI_TIP_EXCEPTS,
};

static int put_sample(void *ctx, const struct tip_sample *s)
{
	struct tip_records *r = ctx;
	struct cpi_tip_sample sample = { .cycle = s->cycle,
					 .state = states[s->state],
					 .n = s->n };

	for (unsigned int i = 0; i < s->n; i++)
		sample.address[i] = s->insn[i].pc;
	return tipfile_put_sample(r->w, &sample);
}

static void free_records(struct tip_records *r)
{
	free(r->path);
	free(r);
}

int tip_records_begin(const char *path, const char *trace, struct tip *t,
		      const struct tip_sampling *sampling, struct tip_records **out)
{
	struct tipfile_info info = { .interval = sampling->interval,
				     .banks = TIP_MAX_WIDTH };
	struct tip_records *r = calloc(1, sizeof(*r));
	int err = r ? newfile_open(path, &r->file) : -ENOMEM;

	snprintf(info.name, sizeof(info.name), "%s", path_base(trace));
	if (!err) {
		r->path = strdup(path);
		err = r->path ? tipfile_create(r->file.beside ? r->file.beside : path,
					       &info, &r->w)
			      : -ENOMEM;
	}
	if (err) {
		log_err("%s: %s", path, err_str(err));
		tip_records_abandon(r);
		return err;
	}
	tip_tell_samples(t, put_sample, r);
	*out = r;
	return 0;
}

static int put_code(struct tip_records *r, const struct tip_row *row)
{
	struct tipfile_code code = { .address = row->pc,
				     .begins_function = row->function == row->pc };

	snprintf(code.text, sizeof(code.text), "%s", row->text);
	return tipfile_put_code(r->w, &code);
}

int tip_records_end(struct tip_records *r, const struct tip_result *result)
{
	int err = 0, end_err;

	for (size_t i = 0; i < result->nr_rows && !err; i++) {
		if (result->row[i].text)
			err = put_code(r, &result->row[i]);
	}
	end_err = tipfile_end(r->w);
	err = err ? err : end_err;
	end_err = newfile_close(&r->file, !err);
	err = err ? err : end_err;
	if (err)
		log_err("%s: %s", r->path, err_str(err));
	free_records(r);
	return err;
}

void tip_records_abandon(struct tip_records *r)
{
	if (!r)
		return;
	tipfile_abandon(r->w);
	newfile_close(&r->file, false);
	free_records(r);
}
