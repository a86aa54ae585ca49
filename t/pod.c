/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pod.c - the program of a pod's containers: with an argument it computes before it
 * waits */
#include <unistd.h>

int main(int argc, char **argv)
{
	(void)argv;
	for (volatile unsigned long i = 0; argc > 1 && i < 1000000000; i++)
		;
	for (;;)
		pause();
}
