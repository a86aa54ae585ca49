# SPDX-License-Identifier: GPL-2.0-or-later
# hex.awk - hexadecimal numbers, for awks without strtonum(): awk -f hex.awk -f PROGRAM

# The value of lower-case digits, without "0x".
function hex_value(hex,    i, value)
{
	for (i = 1; i <= length(hex); i++)
		value = value * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
	return value + 0
}
