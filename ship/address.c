/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * address.c - takes addresses, completes shipments, and voids those that are contained
 */
#include "config.h"

#include "ship/address.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "ship/contained.h"
#include "ship/holes.h"

#define MAX_TRIES  20
#define MAX_ANSWER (64u << 20)

/*
 * Begins a condition that excludes void addresses; put_numbers() and ")" must
 * follow.
 */
#define NOT_VOID " AND (host, at, nr) NOT IN (SELECT host, at, nr FROM void WHERE"

static uint64_t lot(void)
{
	uint64_t n = 0;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		n = (uint64_t)rand();
	return n;
}

static int get_number(struct ch_store *s, struct buf *sql, uint64_t *n)
{
	int err;

	*n = 0;
	buf_puts(sql, " FORMAT RowBinary");
	err = sql->err ? sql->err
		       : ch_store_query(s, buf_str(sql), "8", MAX_ANSWER,
					rowbinary_take_number, n);
	buf_reset(sql);
	return err;
}

static int find_number(struct ch_store *s, const char *name, uint64_t *number)
{
	struct buf sql = { 0 };
	int err;

	buf_puts(&sql, "SELECT toUInt64(min(number)) FROM host WHERE name = ");
	ch_put_literal(&sql, name);
	buf_puts(&sql, " AND number NOT IN (SELECT number FROM host GROUP BY number"
		       " HAVING uniqExact(name) > 1)");
	err = get_number(s, &sql, number);
	buf_fini(&sql);
	return err;
}

/*
 * After a failed try a random distance is added, so that competing machines diverge.
 * Reports need 31-bit numbers; once the highest is taken, any is drawn at random.
 */
static int claim_number(struct ch_store *s, const char *name, unsigned int try)
{
	struct buf sql = { 0 }, row = { 0 };
	uint64_t max, number;
	int err;

	buf_puts(&sql, "SELECT toUInt64(max(number)) FROM host");
	err = get_number(s, &sql, &max);
	if (!err) {
		number = max + 1 + (try ? lot() % (16u << try) : 0);
		if (number > INT32_MAX)
			number = 1 + lot() % INT32_MAX;
		rowbinary_put(&row, '4', number);
		rowbinary_put_string(&row, name, strlen(name));
		err = ch_store_insert(s, "host (number, name)", "4s", &row);
	}
	buf_fini(&row);
	buf_fini(&sql);
	return err;
}

int ship_host_number(struct ch_store *s, const char *name, uint32_t *number)
{
	uint64_t found = 0;
	int err = find_number(s, name, &found);

	for (unsigned int i = 0; !err && !found && i < MAX_TRIES; i++) {
		err = claim_number(s, name, i);
		if (!err)
			err = find_number(s, name, &found);
	}
	if (err)
		return err;
	if (!found)
		return -EBUSY;
	*number = (uint32_t)found;
	return 0;
}

/* Answers about epochs, which are found by their seconds. */
struct numbering {
	struct ship_epoch *epoch;
	size_t nr;
	bool collided;
};

/* at, host, the first number that is free */
static int note_free(void *ctx, const struct rowbinary_cell *cells)
{
	const struct numbering *n = ctx;

	for (size_t i = 0; i < n->nr; i++) {
		struct ship_epoch *e = &n->epoch[i];

		if (e->address.at == cells[0].n && e->address.host == cells[1].n)
			e->address.nr = (uint16_t)cells[2].n;
	}
	return 0;
}

/* host, at, nr of an address that has several lots */
static int note_collision(void *ctx, const struct rowbinary_cell *cells)
{
	struct numbering *n = ctx;

	for (size_t i = 0; i < n->nr; i++) {
		const struct ship_address *a = &n->epoch[i].address;

		n->collided |= a->host == cells[0].n && a->at == cells[1].n &&
			       a->nr == cells[2].n;
	}
	return 0;
}

static void put_seconds(const struct numbering *n, struct buf *sql)
{
	buf_puts(sql, " WHERE (host, toUInt32(at)) IN (");
	for (size_t i = 0; i < n->nr; i++)
		buf_printf(sql, "%s(%" PRIu32 ", %" PRIu32 ")", i ? ", " : "",
			   n->epoch[i].address.host, n->epoch[i].address.at);
	buf_putc(sql, ')');
	/* Beside the pairs, what the store can search by. */
	buf_puts(sql, " AND host IN (");
	for (size_t i = 0; i < n->nr; i++)
		buf_printf(sql, "%s%" PRIu32, i ? ", " : "", n->epoch[i].address.host);
	buf_putc(sql, ')');
}

static int find_free(struct ch_store *s, struct numbering *n)
{
	struct buf sql = { 0 };
	int err;

	for (size_t i = 0; i < n->nr; i++)
		n->epoch[i].address.nr = 0;
	buf_puts(&sql, "SELECT toUInt64(toUInt32(at)), toUInt64(host),"
		       " toUInt64(max(nr)) + 1 FROM attempt");
	put_seconds(n, &sql);
	buf_puts(&sql, " GROUP BY host, at FORMAT RowBinary");
	err = ch_store_query_buf(s, &sql, "888", MAX_ANSWER, note_free, n);
	buf_fini(&sql);
	return err;
}

/* Epochs of one second follow each other. After a collision both sides step aside. */
static void spread_numbers(struct numbering *n, int try)
{
	for (size_t i = 0; try && i < n->nr; i++)
		n->epoch[i].address.nr +=
			(uint16_t)(lot() % (4u << (try < 8 ? try : 8)));
	for (size_t i = 1; i < n->nr; i++) {
		for (size_t k = 0; k < i; k++) {
			const struct ship_address *a = &n->epoch[k].address;
			struct ship_address *b = &n->epoch[i].address;

			if (a->host == b->host && a->at == b->at && a->nr >= b->nr)
				b->nr = (uint16_t)(a->nr + 1);
		}
	}
}

static int insert_attempts(struct ch_store *s, const struct numbering *n)
{
	const uint64_t mine = lot();
	struct buf rows = { 0 };
	int err;

	for (size_t i = 0; i < n->nr; i++) {
		rowbinary_put(&rows, '4', n->epoch[i].address.host);
		rowbinary_put(&rows, '4', n->epoch[i].address.at);
		rowbinary_put(&rows, '2', n->epoch[i].address.nr);
		rowbinary_put(&rows, '8', mine);
	}
	err = ch_store_insert(s, "attempt (host, at, nr, lot)", "4t28", &rows);
	buf_fini(&rows);
	return err;
}

static int find_collisions(struct ch_store *s, struct numbering *n)
{
	struct buf sql = { 0 };
	int err;

	n->collided = false;
	buf_puts(&sql, "SELECT toUInt64(host), toUInt64(toUInt32(at)), toUInt64(nr)"
		       " FROM attempt");
	put_seconds(n, &sql);
	buf_puts(&sql, " GROUP BY host, at, nr HAVING uniqExact(lot) > 1"
		       " FORMAT RowBinary");
	err = ch_store_query_buf(s, &sql, "888", MAX_ANSWER, note_collision, n);
	buf_fini(&sql);
	return err;
}

int ship_take_addresses(struct ch_store *s, struct ship_epoch *e, size_t nr)
{
	struct numbering n = { .epoch = e, .nr = nr, .collided = true };
	int err = 0;

	for (int i = 0; !err && n.collided && i < MAX_TRIES; i++) {
		err = find_free(s, &n);
		if (err)
			break;
		spread_numbers(&n, i);
		err = insert_attempts(s, &n);
		if (!err)
			err = find_collisions(s, &n);
	}
	return err ? err : n.collided ? -EBUSY : 0;
}

static void put_text(struct buf *out, const char *text)
{
	rowbinary_put_string(out, text, strlen(text));
}

static void put_epoch(struct buf *out, const struct ship_epoch *e)
{
	const struct platform_desc *p = &e->platform;

	rowbinary_put(out, '4', e->address.host);
	rowbinary_put(out, '4', e->address.at);
	rowbinary_put(out, '2', e->address.nr);
	rowbinary_put(out, '8', (uint64_t)e->id);
	rowbinary_put(out, '8', e->run_from_ns);
	rowbinary_put(out, '8', e->run_to_ns);
	rowbinary_put(out, '1', e->run_state);
	rowbinary_put(out, '8', e->first_flush);
	rowbinary_put(out, '8', e->last_flush);
	put_text(out, e->label);
	rowbinary_put(out, '8', e->from_ns);
	rowbinary_put(out, '8', e->to_ns);
	rowbinary_put(out, '4', e->uncertainty_ms);
	put_text(out, p->host);
	put_text(out, p->arch);
	put_text(out, p->cpu);
	put_text(out, p->release);
	put_text(out, p->boot_id);
	rowbinary_put(out, '8', p->clock_hz);
	rowbinary_put(out, '4', p->nr_cpus);
	rowbinary_put(out, '8', e->received);
	rowbinary_put(out, '8', e->stored);
	rowbinary_put(out, '8', e->lost);
	rowbinary_put(out, '8', e->nr_rows);
	put_text(out, PACKAGE_VERSION);
	rowbinary_put(out, '1', 1);
	rowbinary_put(out, '4', e->one_in);
	rowbinary_put(out, '4', e->turn);
}

int ship_commit(struct ch_store *s, const struct ship_epoch *e, size_t nr)
{
	static const char columns[] =
		"epoch (host, at, nr, id, run_from_ns, run_to_ns, run_state,"
		" first_flush, last_flush, label, from_ns, to_ns, uncertainty_ms, name,"
		" arch, cpu, release, boot_id, clock_hz, nr_cpus, received, stored,"
		" lost, nr_rows, version, thinned, one_in, turn)";
	struct buf rows = { 0 };
	int err;

	for (size_t i = 0; i < nr; i++) {
		if (!e[i].damaged)
			put_epoch(&rows, &e[i]);
	}
	err = ch_store_insert(s, columns, "4t2i88188s884sssss848888s144", &rows);
	buf_fini(&rows);
	return err;
}

static int note_flushes(void *ctx, const struct rowbinary_cell *cells)
{
	const struct shipment of = { .host = cells[0].n,
				     .at = cells[1].n,
				     .nr = cells[2].n,
				     .turn = cells[5].n };
	const struct flushes flushes = { cells[3].n, cells[4].n };
	int err = shipments_add(ctx, &of, &flushes);

	return err == -EINVAL ? -CPI_ECORRUPT : err;
}

static void put_numbers(const struct ship_run *run, struct buf *sql)
{
	buf_puts(sql, " host GLOBAL IN (SELECT number FROM host WHERE name = ");
	ch_put_literal(sql, run->host);
	buf_putc(sql, ')');
}

/* The complete shipments of a run. */
static void put_run(const struct ship_run *run, struct buf *sql)
{
	buf_puts(sql, " FROM epoch WHERE");
	put_numbers(run, sql);
	buf_printf(sql, " AND name = ");
	ch_put_literal(sql, run->host);
	buf_printf(sql,
		   " AND run_from_ns = %" PRIu64 " AND boot_id = ", run->run_from_ns);
	ch_put_literal(sql, run->boot_id);
}

/*
 * The store evaluates the parts of a query one after another, and another shipper may
 * commit between them. A shipment without its turn would be put in the wrong order, and
 * both of two equal ones could become void: so it is left out (INNER).
 */
int ship_read_shipments(struct ch_store *s, const struct ship_run *run, uint64_t first,
			struct shipments *out)
{
	struct buf sql = { 0 };
	int err;

	buf_puts(&sql, "SELECT toUInt64(host), toUInt64(toUInt32(at)), toUInt64(nr),"
		       " toUInt64(seq - merged), seq, toUInt64(turn) FROM (SELECT host,"
		       " at, nr, seq, merged FROM flush WHERE merged <= seq AND");
	put_numbers(run, &sql);
	buf_puts(&sql, " AND (host, at, nr) GLOBAL IN (SELECT host, at, nr");
	put_run(run, &sql);
	buf_printf(&sql, " AND last_flush >= %" PRIu64 NOT_VOID, first);
	put_numbers(run, &sql);
	buf_puts(&sql, ")) GROUP BY host, at, nr, seq, merged) AS f ALL INNER JOIN"
		       " (SELECT host, at, nr, max(turn) AS turn");
	put_run(run, &sql);
	buf_printf(&sql, " AND last_flush >= %" PRIu64, first);
	buf_puts(&sql, " GROUP BY host, at, nr) AS e USING host, at, nr"
		       " ORDER BY host, at, nr, seq FORMAT RowBinary");
	err = ch_store_query_buf(s, &sql, "888888", MAX_ANSWER, note_flushes, out);
	buf_fini(&sql);
	return err ? err : shipments_mark(out);
}

/* What only shipment i has of its flushes. */
static int send_alone(struct ch_store *s, const struct ship_run *run,
		      const struct shipments *list, size_t i)
{
	const struct shipment *of = &list->shipment[i];
	struct buf rows = { 0 };
	struct flushes alone;
	int err;

	for (size_t k = of->from; k < of->to; k++) {
		struct flushes f = list->flushes[k];

		while (shipments_next_alone(list, i, &f, &alone)) {
			log_warn("ship: flushes %" PRIu64 " to %" PRIu64
				 " were removed "
				 "from the database, and their shipment is replaced",
				 alone.first, alone.last);
			ship_dropped_put(&rows, of->host, of->at, run->boot_id,
					 run->run_from_ns, alone.first, alone.last);
		}
	}
	err = ship_dropped_send(s, &rows);
	buf_fini(&rows);
	return err;
}

int ship_void(struct ch_store *s, const struct ship_run *run,
	      const struct shipments *list, bool all, uint64_t *nr_void)
{
	struct buf rows = { 0 };
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; !err && i < list->nr; i++) {
		const struct shipment *of = &list->shipment[i];

		if (!of->contained && !(all && of->overlaps))
			continue;
		if (!of->contained)
			err = send_alone(s, run, list, i);
		rowbinary_put(&rows, '4', of->host);
		rowbinary_put(&rows, '4', of->at);
		rowbinary_put(&rows, '2', of->nr);
		nr++;
	}
	if (!err)
		err = ch_store_insert(s, "void (host, at, nr)", "4t2", &rows);
	if (!err)
		*nr_void += nr;
	buf_fini(&rows);
	return err;
}

int ship_last_flush(struct ch_store *s, const struct ship_run *run, uint64_t *last)
{
	struct buf sql = { 0 };
	int err;

	buf_puts(&sql, "SELECT max(last_flush)");
	put_run(run, &sql);
	err = get_number(s, &sql, last);
	buf_fini(&sql);
	return err;
}

struct last_flushes {
	ship_last_fn fn;
	void *ctx;
};

/* boot_id, run_from_ns, last_flush, turn */
static int note_last(void *ctx, const struct rowbinary_cell *cells)
{
	const struct last_flushes *l = ctx;
	char *boot_id = strndup(cells[0].text, cells[0].len);
	int err = boot_id ? l->fn(l->ctx, boot_id, cells[1].n, cells[2].n, cells[3].n)
			  : -ENOMEM;

	free(boot_id);
	return err;
}

int ship_last_flushes(struct ch_store *s, const char *host, ship_last_fn fn, void *ctx)
{
	struct last_flushes l = { fn, ctx };
	const struct ship_run run = { .host = host };
	struct buf sql = { 0 };
	int err;

	buf_puts(&sql, "SELECT boot_id, run_from_ns, max(last_flush),"
		       " toUInt64(max(turn)) FROM epoch WHERE");
	put_numbers(&run, &sql);
	buf_puts(&sql, " AND name = ");
	ch_put_literal(&sql, host);
	buf_puts(&sql, " GROUP BY boot_id, run_from_ns FORMAT RowBinary");
	err = ch_store_query_buf(s, &sql, "s888", MAX_ANSWER, note_last, &l);
	buf_fini(&sql);
	return err;
}

int ship_had_host(struct ch_store *s, const struct ship_run *run, bool *had)
{
	struct buf sql = { 0 };
	uint64_t n;
	int err;

	buf_puts(&sql, "SELECT count() FROM epoch WHERE");
	put_numbers(run, &sql);
	buf_puts(&sql, " AND name = ");
	ch_put_literal(&sql, run->host);
	buf_printf(&sql, " AND toUInt64(toUInt32(made)) < %" PRIu64,
		   (uint64_t)(run->run_from_ns / NSEC_PER_SEC));
	err = get_number(s, &sql, &n);
	buf_fini(&sql);
	if (!err)
		*had = n;
	return err;
}
