/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * textlist.h - the values of an option that may be repeated
 */
#ifndef CPI_TEXTLIST_H
#define CPI_TEXTLIST_H

#define TEXT_LIST_MAX 32

/* The texts belong to the caller. */
struct text_list {
	const char *item[TEXT_LIST_MAX];
	int nr;
};

#endif
