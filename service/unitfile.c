/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unitfile.c - reads files of settings line by line
 *
 * Each line is copied, so that name and value can end in a NUL and the text stays the
 * caller's. A file is refused at its first mistake: half of a configuration is not
 * what anybody asked for.
 */
#include "config.h"

#include "service/unitfile.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct parser {
	const char *section;
	bool in_section;
	unitfile_fn fn;
	void *ctx;
	struct unitfile_error *error;
	unsigned int line;
};

/* column counts from 0 here. */
static int refuse(struct parser *p, size_t column, const char *text)
{
	*p->error = (struct unitfile_error){
		.at = { p->line, (unsigned int)column + 1 },
		.text = text,
	};
	return -EINVAL;
}

/* As refuse(). The message continues with the header of the file's section. */
static int refuse_section(struct parser *p, size_t column, const char *text)
{
	int err = refuse(p, column, text);

	p->error->wants_section = true;
	return err;
}

static size_t skip_spaces(const char *line, size_t at)
{
	return at + strspn(line + at, " \t");
}

/* The end of line[start..end) without trailing spaces. */
static size_t trim(const char *line, size_t start, size_t end)
{
	while (end > start && strchr(" \t", line[end - 1]))
		end--;
	return end;
}

static int read_header(struct parser *p, char *line, size_t start)
{
	size_t end = trim(line, start, strlen(line)), len = strlen(p->section);

	if (line[end - 1] != ']')
		return refuse(p, end, "a section's name ends with ']'");
	if (end - start != len + 2 || strncmp(line + start + 1, p->section, len) != 0)
		return refuse_section(p, start + 1, "unknown section: the only one is");
	p->in_section = true;
	return 0;
}

static bool is_name(unsigned char c)
{
	return isalnum(c) || c == '-' || c == '_';
}

static int read_setting(struct parser *p, char *line, size_t start)
{
	size_t name_end = start, equals, value, end;

	while (is_name((unsigned char)line[name_end]))
		name_end++;
	equals = skip_spaces(line, name_end);
	if (name_end == start || line[equals] != '=')
		return refuse(p, name_end, "this is no setting: write NAME = VALUE");
	if (!p->in_section)
		return refuse_section(p, start,
				      "write this line above the first setting:");
	value = skip_spaces(line, equals + 1);
	end = trim(line, value, strlen(line));
	line[name_end] = '\0';
	line[end] = '\0';
	return p->fn(p->ctx, &(struct unitfile_setting){
				     .name = line + start,
				     .value = line + value,
				     .name_at = { p->line, (unsigned int)start + 1 },
				     .value_at = { p->line, (unsigned int)value + 1 },
			     });
}

/* Returns the column of a byte that no line has, or len. */
static size_t find_control(const char *line, size_t len)
{
	size_t i = 0;

	while (i < len && (line[i] == '\t' || !iscntrl((unsigned char)line[i])))
		i++;
	return i;
}

static int read_line(struct parser *p, const char *text, size_t len)
{
	char line[UNITFILE_MAX_LINE];
	size_t start = find_control(text, len);

	if (start < len)
		return refuse(p, start, "a line must not contain control characters");
	if (len >= sizeof(line))
		return refuse(p, sizeof(line), "the line is too long");
	memcpy(line, text, len);
	line[len] = '\0';
	start = skip_spaces(line, 0);
	if (!line[start] || line[start] == '#' || line[start] == ';')
		return 0;
	return line[start] == '[' ? read_header(p, line, start)
				  : read_setting(p, line, start);
}

int unitfile_parse(const char *text, size_t len, const char *section, unitfile_fn fn,
		   void *ctx, struct unitfile_error *error)
{
	struct parser p = { .section = section, .fn = fn, .ctx = ctx, .error = error };
	const char *end = text + len, *newline;
	int err = 0;

	while (text < end && !err) {
		newline = memchr(text, '\n', (size_t)(end - text));
		newline = newline ? newline : end;
		p.line++;
		err = read_line(&p, text, (size_t)(newline - text));
		text = newline < end ? newline + 1 : end;
	}
	return err;
}
