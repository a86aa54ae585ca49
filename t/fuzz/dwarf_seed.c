/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dwarf_seed.c - calls within calls, all inlined, some in ranges apart */
struct pair {
	long first, second;
};

static inline long innermost(long v)
{
	return v * 7 ^ v >> 3;
}

static inline struct pair middle(struct pair p)
{
	p.first += innermost(p.second);
	if (p.first & 1)
		p.second -= innermost(p.first);
	return p;
}

long outer(long n);

__attribute__((noinline)) long outer(long n)
{
	struct pair p = { n, 1 };

	for (long i = 0; i < n; i++)
		p = middle(p);
	return p.first;
}

void _start(void);

void _start(void)
{
	for (;;)
		outer(100);
}
