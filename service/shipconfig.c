/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shipconfig.c - which store the configuration files of cpi-ship name
 */
#include "config.h"

#include "service/shipconfig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "service/unitfile.h"

/* An empty value is the default: none. */
static int take_setting(void *ctx, const char *file, const struct unitfile_setting *s)
{
	struct shipconfig_store *store = ctx;

	if (strcmp(s->name, "store"))
		return 0;
	shipconfig_fini(store);
	store->url = *s->value ? strdup(s->value) : NULL;
	store->file = strdup(file);
	store->line = s->value_at.line;
	return (store->url || !*s->value) && store->file ? 0 : -ENOMEM;
}

int shipconfig_read(const char *path, struct shipconfig_store *out)
{
	struct shipconfig_store found = { 0 };
	const struct unitfile_reader reader = { .program = "cpi",
						.section = SHIPCONFIG_SECTION,
						.setting = take_setting,
						.ctx = &found };
	int err = unitfile_read(&reader, path, true);

	if (err)
		shipconfig_fini(&found);
	else
		*out = found;
	return err;
}

void shipconfig_fini(struct shipconfig_store *s)
{
	free(s->url);
	free(s->file);
	*s = (struct shipconfig_store){ 0 };
}
