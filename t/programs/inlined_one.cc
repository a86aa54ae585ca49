/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inlined_one.cc - C++ of which most is inlined, and its neighbour two */
#include "inlined.h"
#include <algorithm>
#include <cstdio>
namespace {
__attribute__((always_inline)) inline int deepest(int v) { return v * 7 ^ (v >> 3); }
__attribute__((always_inline)) inline int deeper(int v)
{
	int s = 0;
	for (int i = 0; i < v; i++) s += deepest(s + i);
	return s;
}
}
namespace shapes {
double area(const std::vector<point> &v)
{
	double s = 0;
	for (auto &p : v) s += twice(p.norm());
	return s;
}
}
int main(int argc, char **argv)
{
	std::vector<shapes::point> v;
	for (int i = 0; i < argc * 10; i++) v.push_back({ double(i), 2.0 * deeper(i) });
	std::sort(v.begin(), v.end(), [](auto &a, auto &b) { return a.norm() < b.norm(); });
	std::string s = std::to_string(shapes::area(v)) + "x";
	printf("%s %d\n", s.c_str(), cross(argc));
	return 0;
}
