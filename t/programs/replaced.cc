// SPDX-License-Identifier: GPL-2.0-or-later
// What a listing asks a C++ file for: landing pads, virtual calls, templates' names, and
// cold parts. Runs for so many ms.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string>
#include <vector>

namespace replaced {

struct shape {
	virtual ~shape() = default;
	virtual long area(long x) const = 0;
};

struct square : shape {
	long area(long x) const override { return x * x; }
};

struct circle : shape {
	long area(long x) const override { return 3 * x * x + 1; }
};

template <typename T> __attribute__((noinline)) T fold(const std::vector<T> &v)
{
	T sum = 0;

	for (const auto &x : v)
		sum = sum * 31 + x;
	return sum;
}

__attribute__((noinline)) long risky(long x)
{
	std::string text = std::to_string(x);

	if (text.size() > 40)
		throw std::runtime_error(text);
	return static_cast<long>(text.size());
}

} // namespace replaced

int main(int argc, char **argv)
{
	const clock_t end = argc > 1 ? std::atol(argv[1]) * (CLOCKS_PER_SEC / 1000) : 0;
	const replaced::square square;
	const replaced::circle circle;
	std::vector<long> v(2000);
	long sum = 1;

	while (std::clock() < end) {
		for (auto &x : v)
			x = sum = sum * 25214903917L % 281474976710655L;
		std::sort(v.begin(), v.end());
		for (auto x : v) {
			const replaced::shape *s = &square;

			if (x & 1)
				s = &circle;
			sum += s->area(x & 255);
		}
		sum += replaced::fold(v);
		try {
			sum += replaced::risky(sum);
		} catch (const std::exception &) {
			sum = 1;
		}
	}
	std::printf("%ld\n", sum);
	return 0;
}
