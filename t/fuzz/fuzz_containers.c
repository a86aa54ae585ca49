/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_containers.c - whatever a runtime says, names of containers are harmless
 *
 * The first byte is the kind of runtime, the next two are the size of its list of pods;
 * the list of containers is the rest.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "helpers/containers.h"
#include "t/fuzz/fuzz.h"

static int check_row(void *ctx, const struct container_row *row)
{
	size_t *nr = ctx;

	fuzz_check(++*nr <= CONTAINERS_MAX);
	fuzz_check(strnlen(row->id, sizeof(row->id)) == sizeof(row->id) - 1);
	fuzz_check(!row->id[strspn(row->id, "0123456789abcdef")]);
	fuzz_check(strnlen(row->name, sizeof(row->name)) < sizeof(row->name));
	fuzz_check(*row->name && text_is_clean(row->name));
	return *nr == 100 ? -ECANCELED : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct containers_answer answer = { 0 };
	size_t pods, nr = 0;
	sqlite3 *json;
	int err;

	if (size < 3)
		return 0;
	pods = (size_t)data[1] << 8 | data[2];
	pods = pods < size - 3 ? pods : size - 3;
	buf_put(&answer.pods, data + 3, pods);
	buf_put(&answer.containers, data + 3 + pods, size - 3 - pods);
	fuzz_check(!sqlite3_open(":memory:", &json));
	err = containers_read((enum containers_kind)(data[0] % 3), &answer, json,
			      check_row, &nr);
	fuzz_check(err <= 0 && (err == -ECANCELED) == (nr == 100));
	sqlite3_close(json);
	buf_fini(&answer.pods);
	buf_fini(&answer.containers);
	return 0;
}
