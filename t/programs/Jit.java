// SPDX-License-Identifier: GPL-2.0-or-later
// java Jit MS: computes for so long in a method that Java compiles.
public class Jit {
	static int fibonacci(int n) {
		return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
	}

	public static void main(String[] args) {
		long end = System.currentTimeMillis() + Long.parseLong(args[0]), sum = 0;

		while (System.currentTimeMillis() < end)
			sum += fibonacci(25);
		System.exit(sum > 0 ? 0 : 1);
	}
}
