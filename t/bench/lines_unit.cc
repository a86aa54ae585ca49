/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines_unit.cc - a unit with much debug information, for t/bench/lines */
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>

static inline unsigned mix(unsigned v)
{
	v ^= v >> 13;
	return v * 2654435761u;
}

extern "C" __attribute__((noinline)) unsigned work(unsigned n)
{
	std::unordered_map<unsigned, std::string> names;
	std::map<std::string, std::vector<unsigned>> groups;
	std::regex word("[0-9]+x?");
	unsigned sum = n;

	for (unsigned i = 0; i < n; i++) {
		names[i] = std::to_string(mix(i));
		if (std::regex_match(names[i], word))
			groups[names[i].substr(0, 1)].push_back(i);
	}
	for (auto &g : groups) {
		std::sort(g.second.begin(), g.second.end(), std::greater<unsigned>());
		sum = mix(sum + g.second.front());
	}
	return sum;
}
