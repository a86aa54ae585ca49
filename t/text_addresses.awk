# SPDX-License-Identifier: GPL-2.0-or-later
# text_addresses.awk - 1500 random addresses of .text, from the output of readelf -SW; with
# hex.awk and -v seed=N

$0 ~ / \.text / {
	sub(/^ *\[ *[0-9]*\]/, "")
	start = hex_value($3)
	size = hex_value($5)
	srand(seed)
	for (i = 0; i < 1500; i++)
		printf "0x%x\n", start + int(rand() * size)
}
