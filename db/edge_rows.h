/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * edge_rows.h - table edge: rows that are added to, moved, and read
 */
#ifndef CPI_DB_EDGE_ROWS_H
#define CPI_DB_EDGE_ROWS_H

#include <sqlite3.h>
#include <stdint.h>

#include "db/edges.h"

/* A row's key. */
struct edge_key {
	int64_t epoch, image, target, stream, context, kind;
};

/*
 * In a write transaction: adds set to what the row has, and makes it when there is
 * none. What set has stays the same: the transaction may fail, and come again with it.
 * 0; what edges_decode() says of the row, logged; -EOVERFLOW or -CPI_ELIMIT, logged
 * too, when both do not fit one; or what SQLite reports.
 */
int edge_rows_add(sqlite3 *h, const struct edge_key *key, struct edges *set);

/*
 * In a write transaction: moves the row of an epoch that is behind *last, which becomes
 * its key, to another epoch; when *last is none of the epoch's, the first one. A row
 * that does not decode, or is too much for the one it is added to, stays where it is,
 * logged. 1: there may be more; 0: there are none; or what SQLite reports.
 */
int edge_rows_move(sqlite3 *h, int64_t epoch, int64_t target, struct edge_key *last);

/* Decodes all rows: 0, or -CPI_ECORRUPT (logged). */
int edge_rows_check(sqlite3 *h);

#endif
