/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_request.c - of any request cpi is called with options of the table alone
 *
 * The first line is the target, the second a header's value.
 */
#include "config.h"

#include <string.h>

#include "t/fuzz/fuzz.h"
#include "web/api.h"
#include "web/header.h"
#include "web/target.h"

static const char *const reports[] = { "prof", "list", "diff", "export", "stats" };

static void look_at_call(const struct api_call *call)
{
	bool is_option = true;

	fuzz_check(call->nr <= API_MAX_ARGV && call->type && call->suffix);
	for (int i = 0; i < call->nr; i++) {
		const char *arg = call->argv[i];

		if (is_option && i)
			fuzz_check(!strncmp(arg, "--", 2));
		is_option = is_option && strcmp(arg, "--");
		fuzz_check(!is_option ||
			   (strncmp(arg, "--db", 4) && strncmp(arg, "--output", 8) &&
			    strncmp(arg, "--svg", 5)));
	}
	fuzz_check(!is_option);
}

static void make_calls(char *target)
{
	const struct text_list dbs = { .nr = 0 };
	struct api_call call;
	struct target t;

	if (target_parse(target, &t))
		return;
	fuzz_check(t.nr_args <= TARGET_MAX_ARGS && *t.path == '/');
	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		struct buf why = { 0 };
		int err = api_call_make(reports[i], &t, &dbs, &call, &why);

		fuzz_check(!err || why.len);
		if (!err) {
			look_at_call(&call);
			api_call_fini(&call);
		}
		buf_fini(&why);
	}
}

static void read_header(const char *value)
{
	const struct text_list names = { .item = { "cpi.example" }, .nr = 1 };
	const char *user, *password;
	uint64_t from, nr;
	char text[64];

	if (!header_basic(value, text, sizeof(text), &user, &password))
		fuzz_check(user == text && password == user + strlen(user) + 1 &&
			   password + strlen(password) < text + sizeof(text));
	header_host_is_ours(value, 80, &names);
	header_accepts_gzip(value);
	header_names_tag(value, "abc");
	if (!header_range(value, 1000, &from, &nr))
		fuzz_check(nr > 0 && from < 1000 && nr <= 1000 - from);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *header;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	header = strchr(text, '\n');
	if (header)
		*header++ = '\0';
	read_header(header ? header : "");
	make_calls(text);
	free(text);
	return 0;
}
