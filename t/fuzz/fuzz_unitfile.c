/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_unitfile.c - settings of any text are words of it, at the places that are told
 */
#include "config.h"

#include <string.h>

#include "service/unitfile.h"
#include "t/fuzz/fuzz.h"

struct text {
	const char *data;
	size_t size;
	unsigned int last_line;
};

/* Where a line begins; it has to be in the text. */
static const char *find_line(const struct text *text, unsigned int line)
{
	const char *at = text->data, *end = at + text->size;

	while (--line) {
		at = memchr(at, '\n', (size_t)(end - at));
		fuzz_check(at);
		at++;
	}
	return at;
}

static void check_word(const struct text *text, struct unitfile_place at,
		       const char *word)
{
	const char *from = find_line(text, at.line) + at.column - 1;
	const size_t len = strlen(word);

	fuzz_check(from + len <= text->data + text->size);
	fuzz_check(!memcmp(from, word, len));
}

static int check_setting(void *ctx, const struct unitfile_setting *s)
{
	struct text *text = ctx;

	fuzz_check(*s->name && s->name_at.line > text->last_line);
	text->last_line = s->name_at.line;
	check_word(text, s->name_at, s->name);
	check_word(text, s->value_at, s->value);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text text = { .data = (const char *)data, .size = size };
	struct unitfile_error error = { .text = NULL };
	int err = unitfile_parse(text.data, size, "cpid", check_setting, &text, &error);

	fuzz_check(!err == !error.text);
	return 0;
}
