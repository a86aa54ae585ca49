/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procedure_evidence.c - in which procedures ticks count as time
 *
 * The rows are those of 'cpi prof --by procedure': a procedure departs if its row does.
 */
#include "config.h"

#include "report/profile/procedure_evidence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile/prof.h"
#include "report/profile/prof_rows.h"
#include "report/select/procname.h"

struct procedure_evidence {
	struct prof_request req;
	struct prof p;
};

int procedure_evidence_open(const struct select_request *req,
			    const struct selection *sel, const struct events *ev,
			    struct procedure_evidence **out)
{
	struct procedure_evidence *e;
	struct evidence any;
	int err;

	*out = NULL;
	evidence_begin(&any, ev);
	if (!any.both)
		return 0;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->req = (struct prof_request){ .select = *req, .by = BY_PROCEDURE };
	e->p = (struct prof){ .req = &e->req, .sel = *sel, .quiet = true };
	e->p.sel.query.epochs = &e->p.sel.epochs;
	err = prof_gather(&e->p);
	if (err)
		procedure_evidence_close(e);
	else
		*out = e;
	return err;
}

void procedure_evidence_close(struct procedure_evidence *e)
{
	if (!e)
		return;
	prof_free_rows(&e->p);
	time_source_close(&e->p.source);
	events_fini(&e->p.ev); /* the caller closes the selection */
	free(e);
}

const struct evidence *procedure_evidence_fit(const struct procedure_evidence *e)
{
	return &e->p.evidence;
}

struct evidence_use procedure_evidence_use(const struct procedure_evidence *e,
					   const struct query_image *image,
					   const struct symbol *symbol)
{
	const bool kernel = image_kind_is_kernel(image->desc.kind);
	struct evidence_use use = { kernel ? EVIDENCE_KERNEL : EVIDENCE_USER, true };
	const struct prof_row *row;

	if (!e || image->desc.kind == IMAGE_IDLE)
		return use;
	row = prof_procedure_row(&e->p, image, symbol);
	use.random_only = row && row->departs;
	return use;
}

struct evidence_use procedure_evidence_unknown_use(const struct procedure_evidence *e,
						   const char *reason)
{
	const bool kernel = !strncmp(reason, "kernel_", 7);
	struct evidence_use use = { kernel ? EVIDENCE_KERNEL : EVIDENCE_USER, !e };

	for (size_t i = 0; e && i < e->p.nr_rows; i++) {
		const struct prof_row *row = e->p.row[i];

		if (row->kind == ROW_UNKNOWN && !strcmp(row->procedure, reason))
			use.random_only = row->departs;
	}
	return use;
}

void procedure_evidence_images(const struct procedure_evidence *e, const char *name,
			       struct buf *ids)
{
	for (size_t i = 0; e && i < e->p.nr_rows; i++) {
		const struct prof_row *row = e->p.row[i];

		if (row->kind == ROW_PROFILE && procname_is(row->procedure, name))
			buf_put(ids, &row->image, sizeof(row->image));
	}
}

double procedure_evidence_unknown(const struct procedure_evidence *e)
{
	double ns = 0;

	for (size_t i = 0; i < e->p.nr_rows; i++) {
		if (e->p.row[i]->kind == ROW_UNKNOWN)
			ns += e->p.row[i]->tally[e->p.ev.nr].weight;
	}
	return ns;
}
