# SPDX-License-Identifier: MIT
"""gdb commands that show a CCE's cells and regions: `bcr cells`, `bcr cell N`, `bcr region ID`, `bcr ccs`, `bcr waits`,
`bcr handlers`. `help bcr` lists them.

They read the CCE's own mappings of shared memory by the fixed layouts of docs/layout, not by debug symbols, so a
stripped libbcr does. All that is read may be torn or corrupt: walks are bounded, and what cannot be read is left out.
They work on 64-bit CCEs that run here, and on their core files.

Where things are: shared memory is in mappings of memfds named "bcr". One of them has the records of CCEs; this CCE's
is the one with its process ID. Its private context begins with the record's address and its journal's (record + 128),
then the table of mapped segments; so it is found by these two words."""
import os
import struct
import subprocess
import time

import gdb

# Offsets that test_gdb_layout compares with the headers.
LAYOUT = {
    "record.bytes": 8192, "record.state": 0, "record.version": 4, "record.first_area": 8, "record.identity": 16, "record.index": 32,
    "record.pid": 40, "record.ordinal": 56, "record.sleeping": 68, "record.waits_on": 84, "record.journal": 128,
    "record.slots": 1600, "record.note": 3520, "record.slot_chunk": 3648, "record.since_ns": 3816, "record.waits_for": 3832,
    "host.magic": 0, "host.enl_pid": 12, "host.record_count": 16, "host.program": 32, "host.record_seg": 4096,
    "area.next": 0, "area.cells": 8, "area.rings": 16, "area.base": 24, "area.kinds": 28, "area.nrgns": 44,
    "area.ring_log2": 48, "area.owner": 56, "area.bytes": 128,
    "cell.head_lock": 0, "cell.head": 16, "cell.waiter": 24, "cell.state": 8, "cell.tail_lock": 128, "cell.tail": 144,
    "cell.watermark": 168, "cell.requests": 176, "cell.list_first": 64, "cell.first": 80, "cell.front": 88,
    "cell.back_first": 96, "cell.area": 192, "cell.bytes": 256,
    "node.next": 0, "node.region": 8,
    "slot.word": 8, "slot.cell": 16, "slot.next": 32, "slot.kind": 56, "slot.bytes": 64,
    "region.count": 0, "region.length": 8, "region.data_16": 16, "region.archtype": 20, "region.home": 28,
    "region.kind": 30,
    "ctx.map": 16, "ctx.sched": 128,
    "sched.current": 8, "sched.chunks": 264, "sched.main": 336,
    "chunk.next": 0, "chunk.count": 32, "chunk.element_bytes": 40,
    "chunk.elements": 48,
    "invocation.handler": 104, "invocation.cell": 112,
    "invocation.context": 32,
}
MAGIC, UNIT, CELLS_PER_PAGE, PAGE, RECORDS_PER_SEG = 0x42435231, 32, 15, 4096, 64
KINDS = ("private", "in", "out", "in/out")
STATES = ("free", "starting", "alive", "dying", "dead")
OPERATIONS = ("", "alloc", "free", "put", "get", "read", "rgwait", "slow", "zap", "rgmod", "rgfree")
SLOTS = ("free", "region", "get", "get", "served", "failed", "put", "put done", "region", "order", "answered")
WANTS = ("get", "read", "write lock")
FLAGS = ((1, "slow"), (2, "owner of its lock has ended"), (4, "closed"), (8, "descriptor armed"), (16, "handler"),
         (32, "handler"), (64, "corrupt"))
MOST = 100000  # of anything that is walked


def at(name):
    return LAYOUT[name]


class Cce:
    """The CCE that the selected inferior is."""

    def __init__(self):
        self.inferior = gdb.selected_inferior()
        if self.inferior.pid == 0:
            raise gdb.GdbError("The program is not being run.")
        if gdb.lookup_type("long").sizeof != 8 or gdb.lookup_type("char").pointer().sizeof != 8:
            raise gdb.GdbError("bcr commands read 64-bit programs only.")
        self.order = "<"
        self.shared, self.private = self.mappings()
        if not self.shared:
            raise gdb.GdbError("This process has no shared memory of BCR: it has not come out of bcr_init yet, or is no CCE.")
        self.record = self.find_record()
        self.ctx = self.find_ctx()
        self.map = self.u64(self.ctx + at("ctx.map"))
        self.host = self.address(0)

    def mappings(self):
        shared, private = [], []
        text = gdb.execute("info proc mappings", to_string=True)
        for line in text.splitlines():
            words = line.split()
            if len(words) < 4 or not words[0].startswith("0x"):
                continue
            start, end = int(words[0], 16), int(words[1], 16)
            if any("memfd:bcr" in word for word in words[4:]):
                shared.append((start, end))
            elif len(words) < 5 or not words[4].startswith("r") or words[4].startswith("rw"):
                private.append((start, end))
        return shared, private

    def read(self, address, length):
        try:
            return bytes(self.inferior.read_memory(address, length))
        except gdb.MemoryError:
            raise gdb.GdbError("Cannot read memory at %#x." % address)

    def u16(self, address):
        return struct.unpack(self.order + "H", self.read(address, 2))[0]

    def u32(self, address):
        return struct.unpack(self.order + "I", self.read(address, 4))[0]

    def u64(self, address):
        return struct.unpack(self.order + "Q", self.read(address, 8))[0]

    def find_record(self):
        size = at("record.bytes")
        for start, end in self.shared:
            if end - start != size * RECORDS_PER_SEG:
                continue
            for record in range(start, end, size):
                try:
                    head = self.read(record, 64)
                except gdb.GdbError:
                    continue
                state, = struct.unpack_from(self.order + "I", head, at("record.state"))
                pid, = struct.unpack_from(self.order + "I", head, at("record.pid"))
                if state == 2 and pid == self.inferior.pid:
                    return record
        raise gdb.GdbError("No record of this process: it has not come out of bcr_init yet, or has ended.")

    def find_ctx(self):
        words = struct.pack(self.order + "QQ", self.record, self.record + at("record.journal"))
        for start, end in self.private:
            if end - start > 1 << 30:
                continue
            found = start
            while found is not None and found < end:
                try:
                    found = self.inferior.search_memory(found, end - found, words)
                except gdb.MemoryError:
                    break
                if found is None or not start <= found < end:
                    break  # what gdb gives where it cannot read on (guard pages) is no address of this mapping
                if found % 64 == 0 and self.is_host(found):
                    return found
                found += 8
        raise gdb.GdbError("The library's context of this CCE is not found: is the program's libbcr another version?")

    def is_host(self, ctx):
        try:
            return self.u32(self.u64(self.u64(ctx + at("ctx.map"))) + at("host.magic")) == MAGIC
        except gdb.GdbError:
            return False

    def address(self, ref):
        """Where the object of a reference lies; None: this process has not mapped it."""
        ref &= (1 << 48) - 1
        base, units = struct.unpack(self.order + "QQ", self.read(self.map + 16 * (ref >> 32), 16))
        offset = ref & 0xFFFFFFFF
        return base + offset * UNIT if offset < units else None

    def areas(self):
        ref = self.u64(self.record + at("record.first_area"))
        for _ in range(MOST):
            where = self.address(ref) if ref & 0xFFFFFFFFFFFF else None
            if where is None:
                return
            yield Area(self, where)
            ref = self.u64(where + at("area.next"))

    def find_cell(self, number):
        for area in self.areas():
            if area.base <= number < area.base + area.cells:
                return area.cell(number - area.base)
        raise gdb.GdbError("This CCE has no cell %d; `bcr cells` lists them." % number)

    def slots(self):
        """(address, word) of each region ID that is not free."""
        runs = [(self.record + at("record.slots"), 30)]
        for k in range(20):
            ref = self.u64(self.record + at("record.slot_chunk") + 8 * k)
            where = self.address(ref) if ref else None
            if where is not None:
                runs.append((where, 256 << k))
        for start, count in runs:
            words = self.read(start, count * at("slot.bytes"))
            for i in range(count):
                word, = struct.unpack_from(self.order + "Q", words, i * at("slot.bytes") + at("slot.word"))
                if word >> 56:
                    yield start + i * at("slot.bytes"), word

    def records(self):
        for index in range(min(self.u32(self.host + at("host.record_count")), 65000)):
            seg = self.u32(self.host + at("host.record_seg") + 4 * (index // RECORDS_PER_SEG))
            where = self.address(seg << 32 | (index % RECORDS_PER_SEG) * at("record.bytes") // UNIT) if seg else None
            if index != 0 and where is not None:
                yield index, where

    def ordinal(self, index):
        if index == 0: # the record of the daemon, which has the regions of bcr_enlist
            return "enl"
        for found, where in self.records():
            if found == index:
                return "CCE %d" % self.u32(where + at("record.ordinal"))
        return "record %d" % index

    def note(self, record):
        """What the CCE of a record says of its wait (bcr_note), and which CCE it names; None: nothing. It is none of
        gdb's, so it is escaped."""
        note = record + at("record.note")
        for _ in range(8):
            state = self.u64(note)
            words = self.read(note, 128)
            if self.u64(note) == state and not state >> 32 & 1:
                break
        else:
            return None
        length, identity = state & 0xFFFFFFFF, words[8:24]
        if not 0 < length <= 104:
            return None
        text = "".join(c if c.isprintable() and c != "\\" else c.encode("unicode_escape").decode("ascii")
                       for c in words[24:24 + length].decode("utf-8", "backslashreplace"))
        return self.named(identity), text

    def named(self, identity):
        """How sentences call the CCE of an identity; "": there is none."""
        if not any(identity):
            return ""
        host, index = struct.unpack(">HH", identity[:4])
        if host != struct.unpack(">H", self.read(self.record + at("record.identity"), 2))[0]:
            return " for a CCE of host %d" % host
        for found, where in self.records():
            if found == index and self.read(where + at("record.identity"), 16) == identity:
                return " for CCE %d" % self.u32(where + at("record.ordinal"))
        return " for a CCE that has ended"

    def cell_name(self, ref):
        """What a reference to a cell means: its number and owner."""
        where = self.address(ref)
        area = self.address(self.u64(where + at("cell.area"))) if where is not None else None
        if area is None:
            return "a cell elsewhere"
        area = Area(self, area)
        number = next((area.base + i for i in range(min(area.cells, MOST)) if area.cell_address(i) == where), None)
        return "cell %s of %s" % (number, self.ordinal(area.owner))


class Area:
    def __init__(self, cce, where):
        self.cce, self.where = cce, where
        self.base, *self.kinds = struct.unpack(cce.order + "5I", cce.read(where + at("area.base"), 20))
        self.cells = sum(self.kinds)
        self.nrgns = cce.u32(where + at("area.nrgns"))
        self.ring_log2 = cce.u32(where + at("area.ring_log2")) & 31
        self.owner = cce.u32(where + at("area.owner"))
        self.first = cce.u64(where + at("area.cells"))
        self.rings = cce.u64(where + at("area.rings"))

    def cell_address(self, i):
        return self.cce.address(self.first + i // CELLS_PER_PAGE * (PAGE // UNIT) +
                                i % CELLS_PER_PAGE * (at("cell.bytes") // UNIT))

    def kind(self, i):
        for kind, count in zip(KINDS, self.kinds):
            if i < count:
                return kind
            i -= count
        return "?"

    def cell(self, i):
        return Cell(self, i)


class Cell:
    def __init__(self, area, i):
        cce = area.cce
        self.cce, self.area, self.number, self.kind = cce, area, area.base + i, area.kind(i)
        self.where = area.cell_address(i)
        self.bytes = cce.read(self.where, at("cell.bytes"))
        self.ring = cce.address(area.rings + (i << area.ring_log2) * 8 // UNIT)
        self.flags = self.word("cell.state") & 0xFFFFFFFF
        self.head, self.tail = self.word("cell.head"), self.word("cell.tail")

    def word(self, name):
        return struct.unpack_from(self.cce.order + "Q", self.bytes, at(name))[0]

    def half(self, name):
        return struct.unpack_from(self.cce.order + "I", self.bytes, at(name))[0]

    def chain(self, ref):
        for _ in range(MOST):
            where = self.cce.address(ref) if ref else None
            if where is None:
                return
            yield self.cce.u64(where + at("node.region"))
            ref = self.cce.u64(where + at("node.next"))

    def regions(self):
        """References of the regions, in their order."""
        if self.word("cell.first"):
            yield self.word("cell.first")
        yield from self.chain(self.word("cell.front"))
        places = 1 << self.area.ring_log2
        for ticket in range(self.head, min(self.tail, self.head + places)):
            entry = self.cce.u64(self.ring + ticket % places * 8)
            if entry >> 56 == 0x80 | ticket >> self.area.ring_log2 & 0x7F:
                yield entry & 0xFFFFFFFFFFFF
        yield from self.chain(self.word("cell.back_first"))

    def requests(self):
        """Addresses of the slots of requests that wait, of those that this process has mapped."""
        for i in range(4):
            ref = struct.unpack_from(self.cce.order + "Q", self.bytes, at("cell.waiter") + 8 * i)[0] & 0xFFFFFFFFFFFF
            if ref:
                yield self.cce.address(ref)
        ref = self.word("cell.list_first")
        for _ in range(MOST):
            if not ref:
                return
            where = self.cce.address(ref)
            yield where
            ref = self.cce.u64(where + at("slot.next")) if where is not None else 0

    def notes(self):
        notes = [text for flag, text in FLAGS if self.flags & flag]
        for lock in ("cell.head_lock", "cell.tail_lock"):
            if self.half(lock):
                notes.append("locked by %s" % self.cce.ordinal(self.half(lock) - 1))
        return ", ".join(dict.fromkeys(notes))


def count(number, what):
    return "%d %s%s" % (number, what, "" if number == 1 else "s")


def region_text(cce, ref):
    where = cce.address(ref)
    if where is None:
        return "a region that this process has not mapped yet"
    length, = struct.unpack(cce.order + "I", cce.read(where + at("region.length"), 4))
    base = cce.address(ref >> 32 << 32)
    data = base + cce.u32(where + at("region.data_16")) * 16
    holders = cce.u64(where + at("region.count")) & 0xFFFFFFFF
    error = cce.u16(where + at("region.kind"))
    text = "%s at %#x, %s, from %s" % (count(length, "byte"), data, count(holders, "holder"),
                                      cce.ordinal(cce.u16(where + at("region.home"))))
    if error:
        text += ", an error region of code %d" % error
    shown = cce.read(data, min(length, 16)) if length else b""
    if shown:
        text += ": " + shown.hex(" ") + (" ..." if length > 16 else "")
    return text


def request_text(cce, where):
    if where is None:
        return "a CCE whose IDs this process has not mapped"
    kind = cce.u32(where + at("slot.kind"))
    want = kind & 0x7F
    return "%s by %s" % (WANTS[want] if want < len(WANTS) else "request", cce.ordinal(kind >> 8))


class Bcr(gdb.Command):
    """Cells and regions of the CCE that is debugged."""

    def __init__(self):
        super().__init__("bcr", gdb.COMMAND_DATA, prefix=True)


class Command(gdb.Command):
    def __init__(self):
        super().__init__("bcr " + type(self).__name__.lower(), gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        self.dont_repeat()
        try:
            self.show(Cce(), argument.strip())
        except gdb.MemoryError as error:
            raise gdb.GdbError(str(error))


class Cells(Command):
    """bcr cells: the cells of this CCE that are in use."""

    def show(self, cce, argument):
        unused = 0
        for area in cce.areas():
            for i in range(min(area.cells, MOST)):
                cell = area.cell(i)
                regions, requests = sum(1 for _ in cell.regions()), sum(1 for _ in cell.requests())
                if cell.tail == 0 and cell.head == 0 and regions + requests == 0 and not cell.flags:
                    unused += 1
                    continue
                notes = cell.notes()
                print("cell %-6d %-8s %s%s%s" % (cell.number, cell.kind, count(regions, "region"),
                                                 ", %s" % count(requests, "waiting request") if requests else "",
                                                 ", " + notes if notes else ""))
        print("%s never used" % count(unused, "cell"))


class CellCommand(Command):
    """bcr cell N: the regions in cell N of this CCE, and the requests that wait for one."""

    def __init__(self):
        gdb.Command.__init__(self, "bcr cell", gdb.COMMAND_DATA)

    def show(self, cce, argument):
        if not argument:
            raise gdb.GdbError("bcr cell takes the number of a cell.")
        cell = cce.find_cell(int(gdb.parse_and_eval(argument)))
        print("cell %d, %s%s%s" % (cell.number, cell.kind, ", " if cell.notes() else "", cell.notes()))
        for i, ref in enumerate(cell.regions()):
            print("  %d: %s" % (i, region_text(cce, ref)))
        for where in cell.requests():
            print("  waits: %s" % request_text(cce, where))
        if cell.flags & (16 | 32):
            mark = cell.half("cell.watermark")
            print("  handler: watermark %d, requested %d times" %
                  (mark - (1 << 32) if mark >> 31 else mark, cell.word("cell.requests")))


class Region(Command):
    """bcr region ID: what a bcr_region names. ID is any expression."""

    def show(self, cce, argument):
        if not argument:
            raise gdb.GdbError("bcr region takes a region ID, such as a variable of type bcr_region.")
        wanted = int(gdb.parse_and_eval(argument).cast(gdb.lookup_type("unsigned long")))
        for where, word in cce.slots():
            if where != wanted:
                continue
            state = word >> 56
            if state in (1, 8):
                print(region_text(cce, word & 0xFFFFFFFFFFFF))
            else:
                print("no region yet: %s at %s" % (SLOTS[state] if state < len(SLOTS) else "?",
                                                   cce.cell_name(cce.u64(where + at("slot.cell")))))
            return
        raise gdb.GdbError("%#x is not the ID of a region that this CCE holds." % wanted)


class Ccs(Command):
    """bcr ccs: the CCEs of this host that this process knows of."""

    def show(self, cce, argument):
        print("program %s" % cce.read(cce.host + at("host.program"), 128).split(b"\0")[0].decode("ascii", "replace"))
        daemon = cce.u32(cce.host + at("host.enl_pid"))
        for _, where in cce.records():
            state = cce.u32(where + at("record.state"))
            if state == 0 or cce.u32(where + at("record.pid")) == daemon: # its own record, and that of its links
                continue
            if state == 1 and cce.u32(where + at("record.pid")) != 0: # a job's member that is no CCE (bcri_cce_seen_state)
                state = 2
            operation = cce.u32(where + at("record.journal"))
            notes = []
            if where == cce.record:
                notes.append("this one")
            if operation:
                notes.append("in the midst of a %s" % (OPERATIONS[operation] if operation < len(OPERATIONS) else "call"))
            if cce.u32(where + at("record.sleeping")):
                notes.append("asleep")
            holder = cce.u32(where + at("record.waits_on"))
            if holder:
                notes.append("waits for a lock of %s" % cce.ordinal(holder - 1))
            noted = cce.note(where) if state == 2 else None
            if noted is not None:
                notes.append("waits%s: %s" % noted)
            print("CCE %-6d pid %-8d %-9s %s" % (cce.u32(where + at("record.ordinal")), cce.u32(where + at("record.pid")),
                                              STATES[state] if state < len(STATES) else "?", ", ".join(notes)))


class Waits(Command):
    """bcr waits: what this CCE waits for: its gets and puts that are not served, and what it says of that (bcr_note)."""

    def show(self, cce, argument):
        found = 0
        for where, word in cce.slots():
            state = word >> 56
            if state not in (2, 3, 6, 9):
                continue
            found += 1
            if state == 9:
                print("an order to another host; ID %#x" % where)
                continue
            want = cce.u32(where + at("slot.kind")) & 0x7F
            what = "put" if state == 6 else WANTS[want] if want < len(WANTS) else "request"
            print("%s at %s; ID %#x" % (what, cce.cell_name(cce.u64(where + at("slot.cell"))), where))
        noted = cce.note(cce.record)
        if noted is not None:
            found += 1
            print("it says that it waits%s: %s" % noted)
        if cce.u32(cce.record + at("record.sleeping")):
            since = (time.clock_gettime_ns(time.CLOCK_MONOTONIC) - cce.u64(cce.record + at("record.since_ns"))) / 1e9
            print("it sleeps%s" % (", since %.1f s" % since if 0 <= since < 1e9 else ""))
        if found == 0:
            print("it waits for nothing")


class Handlers(Command):
    """bcr handlers: cells with handlers, and a backtrace of each handler that has begun and waits."""

    def show(self, cce, argument):
        for area in cce.areas():
            for i in range(min(area.cells, MOST)):
                cell = area.cell(i)
                if cell.flags & (16 | 32):
                    mark = cell.half("cell.watermark")
                    print("cell %d: watermark %d, requested %d times" %
                          (cell.number, mark - (1 << 32) if mark >> 31 else mark, cell.word("cell.requests")))
        sched = cce.u64(cce.ctx + at("ctx.sched"))
        if not sched:
            print("no handler has run")
            return
        current, main = cce.u64(sched + at("sched.current")), sched + at("sched.main")
        if current not in (0, main):
            self.backtrace(cce, main, "the main program, while a handler runs:")
        chunk = cce.u64(sched + at("sched.chunks"))
        waiting = 0
        for _ in range(1000):
            if not chunk:
                break
            elements, size = cce.u64(chunk + at("chunk.elements")), cce.u64(chunk + at("chunk.element_bytes"))
            for i in range(min(cce.u32(chunk + at("chunk.count")), MOST)):
                invocation = elements + i * size
                if invocation == current or not cce.u64(invocation + at("invocation.handler")):
                    continue
                cell, = struct.unpack(cce.order + "i", cce.read(invocation + at("invocation.cell"), 4))
                waiting += self.backtrace(cce, invocation, "the handler of cell %d, suspended:" % cell)
            chunk = cce.u64(chunk + at("chunk.next"))
        if not waiting:
            print("no handler is suspended")

    def backtrace(self, cce, invocation, title):
        """By the registers that Boost.Context has saved: they are put into the selected thread, and taken out again."""
        context = cce.u64(invocation + at("invocation.context"))
        if not context:
            return 0
        print(title)
        if gdb.selected_frame().architecture().name() != "i386:x86-64":
            print("  (a backtrace is known for x86-64 alone)")
            return 1
        saved = struct.unpack("9Q", cce.read(context, 72))
        pc = 7 if gdb.find_pc_line(saved[7]).symtab or gdb.block_for_pc(saved[7]) or self.is_code(saved[7]) else 8
        names = ("r12", "r13", "r14", "r15", "rbx", "rbp", "rip")
        values = dict(zip(names, saved[pc - 6:pc - 2] + (saved[pc - 2], saved[pc - 1], saved[pc])))
        values["rsp"] = context + (pc + 1) * 8
        frame = gdb.selected_frame()
        frame.newest().select() if hasattr(frame, "newest") else gdb.newest_frame().select()
        own = {name: int(gdb.parse_and_eval("(unsigned long)$" + name)) for name in values}
        try:
            for name, value in values.items():
                gdb.execute("set $%s = %#x" % (name, value), to_string=True)
            print(gdb.execute("backtrace 20", to_string=True), end="")
        except gdb.error as error:
            print("  (%s)" % error)
        finally:
            for name, value in own.items():
                gdb.execute("set $%s = %#x" % (name, value), to_string=True)
        return 1

    def is_code(self, address):
        return gdb.solib_name(address) is not None


Bcr()
Cells()
CellCommand()
Region()
Ccs()
Waits()
Handlers()


class Once(gdb.Command):
    """For enl: a CCE is enlisted once, so the second `run` in a session gets a sentence."""

    ran = False

    def __init__(self):
        super().__init__("bcri-once", gdb.COMMAND_OBSCURE)

    def invoke(self, argument, from_tty):
        if Once.ran and "BCRI_SOCKET" in os.environ:
            raise gdb.GdbError("A CCE is enlisted once, and this one has been: quit, and start the program by enl again.")
        Once.ran = True


class Settled(gdb.Breakpoint):
    """A hardware watchpoint that stops this CCE once it is outside of BCR."""

    def __init__(self, hold, address):
        super().__init__("*(unsigned int *) %#x" % address, gdb.BP_WATCHPOINT, internal=True)
        self.hold = hold
        self.silent = True

    def stop(self):
        return not self.hold.is_inside()


class Hold:
    """A CCE that is stopped in the midst of a call of BCR holds up those that need what it has locked or is changing. So
    where it was stopped from outside (by attaching, or Ctrl-C) it goes on until the call is over, but not for long."""

    MOST_SECONDS = 0.2

    def __init__(self):
        self.cce = Cce()
        self.record = self.cce.record

    def is_inside(self):
        """Its journal is open, or its list of areas is being changed; and it does not sleep."""
        word = lambda name: self.cce.u32(self.record + at(name))
        return (word("record.journal") != 0 or word("record.version") % 2 == 1) and word("record.sleeping") == 0

    def settle(self):
        """Lets it run until it is outside."""
        watches, alarm = [], None
        try:
            for name in ("record.journal", "record.version"):
                watches.append(Settled(self, self.record + at(name)))
            alarm = subprocess.Popen(["sh", "-c", "sleep %g; kill -INT %d" % (self.MOST_SECONDS, self.cce.inferior.pid)],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            gdb.execute("continue", to_string=True)
        except (gdb.error, OSError) as error:
            print("bcr: it could not be let on: %s" % error)
        if alarm is not None:
            alarm.kill()
            alarm.wait()
        if self.cce.inferior.pid != 0:
            for watch in watches:
                watch.delete()

    def held_up(self):
        index = self.cce.u32(self.record + at("record.index")) & 0xFFFF
        return [self.cce.ordinal(other) for other, where in self.cce.records()
                if self.cce.u32(where + at("record.waits_on")) == index + 1]

    def tell(self):
        held = self.held_up()
        print("bcr: this CCE is stopped in the midst of a call, and holds up %s; `continue` lets it on." %
              (" and ".join(held) if held else "whoever needs the same cell (nobody yet)"))


def look_for_hold():
    """Called when a prompt is about to come after a stop from outside."""
    try:
        hold = Hold()
        if not hold.is_inside():
            return
        hold.settle()
        if gdb.selected_inferior().pid == 0:
            return
        if hold.is_inside():
            hold.tell()
        else:
            print("bcr: it was in the midst of a call, which is over now.")
        gdb.execute("frame")
    except (gdb.error, gdb.MemoryError, RuntimeError):
        pass  # no CCE, or one that has ended
    finally:
        Stops.outside = False  # also of the stop that this has made


class HoldCommand(gdb.Command):
    """For tests: what a prompt does after a stop from outside."""

    def __init__(self):
        super().__init__("bcri-hold", gdb.COMMAND_OBSCURE)

    def invoke(self, argument, from_tty):
        look_for_hold()


class Stops:
    """Stops from outside: SIGINT, and attaching, which is a stop for no reason."""

    outside = False

    def on_stop(self, event):
        Stops.outside = type(event) is gdb.StopEvent or (isinstance(event, gdb.SignalEvent) and
                                                         event.stop_signal in ("SIGINT", "SIGSTOP"))

    def on_prompt(self):
        if Stops.outside:
            look_for_hold()


HoldCommand()
stops = Stops()
gdb.events.stop.connect(stops.on_stop)
gdb.events.before_prompt.connect(stops.on_prompt)

Once()
for name in ("run", "start", "starti"):
    gdb.execute("define hook-%s\nbcri-once\nend" % name)
