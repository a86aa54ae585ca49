# SPDX-License-Identifier: GPL-2.0-or-later
"""For gdb: the PCs of each thread's frames, innermost first, a line for each thread

Frames that were inlined are parts of the one that they are in; those of tail calls are
what gdb concludes, and not on the stack.
"""
import gdb

gdb.execute("set backtrace past-main on")
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame, chain = gdb.newest_frame(), []
    while frame:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            chain.append(hex(frame.pc()))
        frame = frame.older()
    print("chain", *chain)
