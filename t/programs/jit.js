// SPDX-License-Identifier: GPL-2.0-or-later
// node jit.js MS: computes for so long in two functions that node compiles.
function fibonacci(n) {
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

function primes(n) {
	let found = 0;

	for (let i = 2; i < n; i++) {
		let prime = true;

		for (let j = 2; j * j <= i && prime; j++)
			prime = i % j != 0;
		found += prime;
	}
	return found;
}

const end = Date.now() + Number(process.argv[2]);
let sum = 0;

while (Date.now() < end) {
	for (let i = 0; i < 10; i++)
		sum += fibonacci(20) + primes(5000);
}
process.exitCode = sum > 0 ? 0 : 1;
