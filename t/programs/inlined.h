/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CPI_T_PROGRAMS_INLINED_H
#define CPI_T_PROGRAMS_INLINED_H
#include <string>
#include <vector>
namespace shapes
{
struct point {
	double x, y;
	double norm() const
	{
		return x * x + y * y;
	}
};
template <typename T> inline T twice(T v)
{
	return v + v;
}
double area(const std::vector<point> &v);
} // namespace shapes
int cross(int v);

#endif
