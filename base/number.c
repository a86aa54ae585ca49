/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * number.c - strtoull() and strtod(), but stricter
 *
 * Both skip blanks; strtoull() also takes signs, and octal digits for base 0. People
 * type such things by mistake, so they are refused first.
 */
#include "config.h"

#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int number_parse(const char *text, int base, uint64_t *out)
{
	unsigned long long v;
	char *end;

	/* Refuses blanks, signs and octal digits, which strtoull() would take. */
	if (base == 0)
		base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
	else if (base == 16 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return -EINVAL;
	if (base == 16 ? !isxdigit((unsigned char)*text)
		       : !isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	v = strtoull(text, &end, base);
	if (*end)
		return -EINVAL;
	if (errno)
		return -ERANGE;
	*out = v;
	return 0;
}

int number_parse_real(const char *text, const char *suffix, double least, double most,
		      double *out)
{
	char *end;
	double v = strtod(text, &end);

	if (isspace((unsigned char)*text) || end == text ||
	    (*end && strcmp(end, suffix) != 0) || isnan(v))
		return -EINVAL;
	if (v < least || v > most)
		return -ERANGE;
	*out = v;
	return 0;
}

/* Units are powers of 1024. */
int number_parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;
	uint64_t v;
	int shift = 0;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || !v)
		return -EINVAL;
	if (*end) {
		unit = strchr(units, *end);
		if (!unit || end[1])
			return -EINVAL;
		shift = 10 * (int)(unit - units + 1);
	}
	if (v > UINT64_MAX >> shift)
		return -EINVAL;
	*bytes = v << shift;
	return 0;
}
