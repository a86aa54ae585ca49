/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_records.c - any bytes are registers, packets or fields, or are refused
 *
 * The first byte chooses which; two more are the processor.
 */
#include "config.h"

#include <string.h>

#include "decode/ibs.h"
#include "decode/perffields.h"
#include "decode/spe.h"
#include "t/fuzz/fuzz.h"
#include "t/records/text.h"

static void check_record(const struct hw_record *r)
{
	fuzz_check(!(r->is & ~r->known));
	fuzz_check(!hw_has(r, HW_DATA_SOURCE) ||
		   r->value[HW_DATA_SOURCE] < HW_NR_DATA_SOURCES);
	for (int i = 0; i < HW_NR_VALUES; i++)
		fuzz_check(hw_has(r, i) || !r->value[i]);
}

static void check_ibs(enum ibs_kind kind, const uint8_t cpu[2], const uint8_t *data,
		      size_t size)
{
	struct ibs_machine machine = { .family = 0x17 + (cpu[0] & 3), .model = cpu[1] };
	struct buf text = { 0 };
	struct ibs_sample s;
	struct hw_record r;

	if (ibs_read_record(kind, data, size, &machine, &r))
		return;
	check_record(&r);
	fuzz_check(!ibs_read(kind, data, size, &s));
	machine.caps = s.caps;
	ibs_text(&s, &machine, &text);
	fuzz_check(text.err || text.len);
	buf_fini(&text);
}

static void check_packets(const struct spe_stream *s)
{
	struct buf text = { 0 };
	struct spe_packet p;
	size_t at = 0;
	int length;

	while ((length = spe_read_packet(s, at, &p)) != 0) {
		fuzz_check(length < 0 || at + length <= s->size);
		if (length > 0)
			spe_packet_text(&p, &text);
		buf_reset(&text);
		at += length < 0 ? 1 : length;
	}
	fuzz_check(at <= s->size);
	buf_fini(&text);
}

static void check_spe(const uint8_t cpu[2], const uint8_t *data, size_t size)
{
	struct spe_reader reader = { .stream = { data, size, cpu[1] },
				     .common_sources = cpu[0] & 1 };
	size_t before = 0;
	struct hw_record r;

	check_packets(&reader.stream);
	while (spe_next(&reader, &r)) {
		fuzz_check(reader.at > before && reader.at <= size);
		fuzz_check(reader.skipped <= reader.at);
		before = reader.at;
		check_record(&r);
	}
}

static void check_fields(const uint8_t *data, size_t size)
{
	struct perf_fields f = { .has = 0 };
	struct buf text = { 0 };
	struct hw_record r;

	if (size < sizeof(uint64_t[3]))
		return;
	memcpy(&f.has, data, sizeof(f.has));
	memcpy(&f.weight, data + 8, sizeof(f.weight));
	memcpy(&f.data_src, data + 16, sizeof(f.data_src));
	perf_fields_record(&f, &r);
	check_record(&r);
	perf_data_src_text(f.data_src, &text);
	fuzz_check(text.err || text.len);
	buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return 0;
	switch (data[0] & 3) {
	case 0:
	case 1:
		check_ibs(data[0] & 1, data + 1, data + 3, size - 3);
		break;
	case 2:
		check_spe(data + 1, data + 3, size - 3);
		break;
	case 3:
		check_fields(data + 3, size - 3);
	}
	return 0;
}
