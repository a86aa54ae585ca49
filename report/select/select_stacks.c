/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select_stacks.c - opens a selection whose streams are those of call stacks
 *
 * Stacks have their own streams and losses. The selection is opened as for profiles,
 * and then the streams and losses of stacks replace those of profiles.
 */
#include "config.h"

#include "report/select/select_stacks.h"

#include <errno.h>

#include "base/log.h"

/* Replaces the streams and losses of profiles by those of stacks. */
static int replace_totals(struct selection *sel, const char *event)
{
	struct query_streams streams;
	struct query_losses losses;
	int err;

	err = query_streams_of(sel->db, TALLY_STACKS, &sel->epochs, event, &streams);
	if (err)
		return err;
	query_streams_fini(&sel->streams);
	sel->streams = streams;
	err = query_losses_of(sel->db, TALLY_STACKS, &sel->epochs, &losses);
	if (err)
		return err;
	query_losses_fini(&sel->losses);
	sel->losses = losses;
	return 0;
}

int select_stacks(const struct select_request *req, const char *spec,
		  struct selection *sel)
{
	const char *event = req->event;
	struct select_request every_event = *req;
	int err;

	/* Only stacks, and not profiles, need to have samples of --event. */
	every_event.event = NULL;
	err = select_open_epochs(&every_event, spec, SELECT_TOGETHER, sel);
	if (err)
		return err;
	err = replace_totals(sel, event);
	if (err) {
		select_failed(sel, err);
	} else if (!sel->streams.nr) {
		log_err("%s: the selected epochs have no call stacks%s%s: collect them "
			"with 'cpi record -g -- COMMAND' or 'cpid --stacks fp'",
			db_path(sel->db), event ? " of " : "", event ? event : "");
		err = -ENODATA;
	}
	sel->query.event = event;
	if (sel->dbs)
		sel->dbs = &req->dbs;
	if (err)
		select_close(sel);
	return err;
}
