/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records_dump - the text of raw records, for 0353-records-perf.t
 *
 * Each line of its input is "fetch FAMILY MODEL CAPS HEX", "op FAMILY MODEL CAPS HEX",
 * "spe HEX" or "source HEX"; FAMILY, MODEL and CAPS are hexadecimal, too.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/ibs.h"
#include "decode/perffields.h"
#include "decode/spe.h"
#include "t/records/text.h"

#define MAX_BYTES 65536

static size_t read_hex(const char *text, uint8_t *bytes)
{
	size_t nr = 0;
	unsigned int byte;

	for (; nr < MAX_BYTES && sscanf(text, "%2x", &byte) == 1; text += 2)
		bytes[nr++] = byte;
	return nr;
}

static void dump_ibs(enum ibs_kind kind, const struct ibs_machine *machine,
		     const uint8_t *bytes, size_t nr, struct buf *out)
{
	struct ibs_sample s;

	if (!ibs_read(kind, bytes, nr, &s))
		ibs_text(&s, machine, out);
}

static void dump_spe(const uint8_t *bytes, size_t nr, struct buf *out)
{
	const struct spe_stream s = { .data = bytes, .size = nr };
	struct spe_packet p;
	size_t at = 0;
	int length;

	while ((length = spe_read_packet(&s, at, &p)) != 0) {
		if (length < 0)
			buf_puts(out, "Bad packet!");
		else
			spe_packet_text(&p, out);
		buf_putc(out, '\n');
		at += length < 0 ? 1 : length;
	}
}

static void dump_line(const char *line, uint8_t *bytes, struct buf *out)
{
	struct ibs_machine m;
	int at = -1;

	if (sscanf(line, "op %x %x %x %n", &m.family, &m.model, &m.caps, &at) == 3 &&
	    at > 0)
		dump_ibs(IBS_OP, &m, bytes, read_hex(line + at, bytes), out);
	else if (sscanf(line, "fetch %x %x %x %n", &m.family, &m.model, &m.caps, &at) ==
			 3 &&
		 at > 0)
		dump_ibs(IBS_FETCH, &m, bytes, read_hex(line + at, bytes), out);
	else if (!strncmp(line, "spe ", 4))
		dump_spe(bytes, read_hex(line + 4, bytes), out);
	else if (!strncmp(line, "source ", 7)) {
		perf_data_src_text(strtoull(line + 7, NULL, 16), out);
		buf_putc(out, '\n');
	}
}

int main(void)
{
	static char line[2 * MAX_BYTES + 64];
	static uint8_t bytes[MAX_BYTES];
	struct buf out = { 0 };

	while (fgets(line, sizeof(line), stdin)) {
		dump_line(line, bytes, &out);
		fputs(buf_str(&out), stdout);
		buf_reset(&out);
	}
	buf_fini(&out);
	return EXIT_SUCCESS;
}
