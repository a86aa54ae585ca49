/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target.c - a program with two procedures, for reports to look at
 */
#include <stdio.h>
#include <stdlib.h>

unsigned int target_hot(unsigned int n);
unsigned int target_cold(unsigned int n);

__attribute__((noinline)) unsigned int target_hot(unsigned int n)
{
	unsigned int sum = 1;

	for (unsigned int i = 0; i < n; i++) {
		if (sum & 1)
			sum = sum * 3 + 1;
		else
			sum /= 2;
	}
	return sum;
}

__attribute__((noinline)) unsigned int target_cold(unsigned int n)
{
	return target_hot(n) ^ n;
}

int main(int argc, char **argv)
{
	printf("%u\n", target_cold(argc > 1 ? strtoul(argv[1], NULL, 10) : 10));
	return 0;
}
