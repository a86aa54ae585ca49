/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracefile.c - reads a file of traces in pieces, and feeds them to the model
 */
#include "config.h"

#include "tools/input/tracefile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "tools/input/unpack.h"

#define PIECE (1 << 16)

/* The size of a piece; the first one identifies the format. */
static int read_pieces(struct unpack *u, const char *path, struct tip *t,
		       const struct trace_watch *watch, struct trace **tr)
{
	char *piece = malloc(PIECE);
	int err = piece ? 0 : -ENOMEM;
	bool begun = false;
	ssize_t n;

	while (!err && (n = unpack_read(u, piece, PIECE)) != 0) {
		err = n < 0 ? (int)n : 0;
		if (!err && !*tr)
			err = trace_new(piece, n, t, tr);
		if (!err && !begun && watch)
			err = trace_set_watch(*tr, watch);
		begun = true;
		if (!err)
			err = trace_feed(*tr, piece, n);
	}
	if (!err && *tr)
		err = trace_end(*tr);
	if (err == -CPI_EFORMAT && !*tr)
		log_err("%s: no pipeline trace: Kanata, O3PipeView and records of 64 "
			"bytes are known, plain or packed with gzip or zstd",
			path);
	else if (err == -ENOTSUP)
		log_err("%s: records of cycles have no instructions: give a log in "
			"Kanata's or O3PipeView's format",
			path);
	else if (err && !*tr)
		log_err("%s: %s", path, err_str(err));
	else if (err)
		log_err("%s: %s %" PRIu64 ": %s", path,
			strcmp(trace_name(*tr), "tokens") ? "line" : "record",
			trace_where(*tr), err_str(err));
	free(piece);
	return err;
}

int trace_file_read(const char *path, struct tip *t, const struct trace_watch *watch)
{
	struct trace *tr = NULL;
	struct unpack *u;
	int err = unpack_open(path, &u);

	if (err) {
		log_err("%s: %s", path, err_str(err));
		return err;
	}
	err = read_pieces(u, path, t, watch, &tr);
	trace_free(tr);
	unpack_close(u);
	return err;
}
