/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * assets.h - the files of the page, which are embedded in the program
 */
#ifndef CPI_WEB_ASSETS_H
#define CPI_WEB_ASSETS_H

#include <stddef.h>
#include <stdint.h>

struct asset {
	const char *name; /* "page.js" */
	const char *type; /* as Content-Type */
	const uint8_t *gzip;
	size_t nr_gzip;
};

/* Made by web/embed from the list in web/local.mk; a NULL name ends it. */
extern const struct asset assets[];

#endif
