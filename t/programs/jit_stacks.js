// SPDX-License-Identifier: GPL-2.0-or-later
// jit_stacks.js MS: outer() calls leaf() for so many milliseconds. V8 writes its dump 2 MB
// at a time, so as much is compiled first for nothing.
'use strict';

function leaf(n) {
	let x = 1;
	for (let i = 0; i < n; i++)
		x = (Math.imul(x, 1103515245) + 12345 + i) | 0;
	return x;
}

function outer(n) {
	return leaf(n) + leaf(n + 1);
}

function compile_nothing(name) {
	return eval(`(function ${name}(x) { ${'x = x * 3 + 1;'.repeat(40)} return x; })`)(1);
}

function run(until) {
	let sum = 0;
	while (Date.now() < until)
		sum += outer(1000);
	return sum;
}

run(Date.now() + 500);
for (let i = 0; i < 2000; i++)
	compile_nothing(`nothing${i}`);
run(Date.now() + Number(process.argv[2]));
