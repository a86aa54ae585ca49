# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints a table for runsdb: an hour of a small web server's minutes, with call stacks.

From the half hour on a new release makes render_page slower. The same each time.
"""
import math
import random

IMAGES = {
    "/usr/bin/server": ["main", "serve", "render_page", "parse_request", "compress", "hash_lookup",
                        "log_write", "json_encode", "route", "template_eval", "escape_html"],
    "/usr/lib/libc.so.6": ["memmove", "malloc", "free", "memcmp", "qsort"],
    "/usr/lib/libssl.so.3": ["aes_gcm", "sha256_block", "ssl_read", "ssl_write"],
    "/usr/lib/libpq.so.5": ["pq_exec", "pq_parse", "pq_recv"],
    "/usr/bin/python3": ["eval_frame", "dict_lookup", "gc_collect"],
    "/usr/bin/cache-worker": ["evict", "insert", "scan"],
}
KERNEL = {"do_syscall_64": 200, "copy_user": 340, "tcp_sendmsg": 150, "schedule": 90}
SERVER, LIBC, SSL, PQ = list(IMAGES)[:4]
MAIN = [f"{SERVER}:main", f"{SERVER}:serve"]
RENDER = [*MAIN, f"{SERVER}:route", f"{SERVER}:render_page"]
STACKS = [
    (RENDER, 1000), ([*RENDER, f"{SERVER}:template_eval"], 200),
    ([*RENDER, f"{SERVER}:template_eval", f"{LIBC}:memmove"], 400),
    ([*RENDER, f"{SERVER}:escape_html"], 120),
    ([*MAIN, f"{SERVER}:parse_request", f"{LIBC}:malloc"], 100),
    ([*MAIN, f"{SERVER}:parse_request", f"{SERVER}:hash_lookup"], 130),
    ([*MAIN, f"{SSL}:ssl_write", f"{SSL}:aes_gcm"], 480),
    ([*MAIN, f"{SSL}:ssl_write", "[kernel]:do_syscall_64", "[kernel]:tcp_sendmsg", "[kernel]:copy_user"], 300),
    ([*MAIN, f"{SSL}:ssl_read", f"{SSL}:aes_gcm"], 180),
    ([*MAIN, f"{PQ}:pq_exec", f"{PQ}:pq_recv", "[kernel]:do_syscall_64"], 90),
    ([*MAIN, f"{PQ}:pq_exec", f"{PQ}:pq_parse", f"{LIBC}:memcmp"], 70),
    ([MAIN[0], f"{SERVER}:log_write", "[kernel]:do_syscall_64"], 60),
]


def context(image):
    comm = image.rsplit("/", 1)[1] if image in ("/usr/bin/python3", "/usr/bin/cache-worker") else "server"
    letter = {"python3": "b", "cache-worker": "c"}.get(comm, "a")
    return f"comm={comm}&cgroup=/system.slice/docker-{letter * 64}.scope&@"


def main():
    rng = random.Random(7)
    weights = {(i, p): 10 ** rng.uniform(0.3, 2.6) for i in IMAGES for p in IMAGES[i]}
    weights |= {(SERVER, "render_page"): 500, (LIBC, "memmove"): 300, (SSL, "aes_gcm"): 240}
    for minute in range(60):
        load = 0.6 + 0.35 * math.sin(minute / 9) + rng.gauss(0, 0.04)
        slower = 1.45 if minute >= 30 else 1
        words = ["release-4.2" if 30 <= minute < 33 else "-", "60", "1000"]
        for (image, procedure), weight in weights.items():
            n = int(rng.gauss(1, 0.05) * weight * load * 20 * (slower if procedure == "render_page" else 1))
            words += [f"{context(image)}{image}:{procedure}={n}"] if n > 0 else []
        for procedure, weight in KERNEL.items():
            words.append(f"{context(SERVER)}[kernel]:{procedure}={int(weight * load * 20 * rng.gauss(1, 0.05))}")
        for frames, weight in STACKS:
            n = int(weight * load * rng.gauss(1, 0.08) * (slower if frames is RENDER else 1))
            words.append(f"comm=server@{';'.join(frames)}={max(1, n)}")
        words.append(f"idle:cpu_idle={int(60000 * (1.4 - load))}")
        print(*words)


main()
