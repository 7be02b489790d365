"""The map of scores, shared with the core; see docs/protocol.md.

A store of an aligned word is one instruction. The maximum is taken under a lock, which can be taken again by the thread that has
it: finalizers and signal handlers run probes inside probes.
"""

import _thread
import mmap
import struct

MAGIC = 0x0048_5441_424F_5349
HEADER = 8
CANDIDATE = 2
ACTION = 3
#: The upper 48 bits of the cell of a covered target.
COVERED = ((0x3FF0_0000_0000_0000 << 2) & 0xFFFF_FFFF_FFFF_FFFF) >> 16

_LOCK = _thread.RLock()
_DOUBLE = struct.Struct("=d")
_WORD = struct.Struct("=Q")
_double_of, _word_of = _DOUBLE.pack, _WORD.unpack
#: The smallest normal number.
SMALLEST = 2.2250738585072014e-308


class Cells:
    """The words of a map."""

    def __init__(self, words, version=1):
        if len(words) < HEADER or words[0] != MAGIC:
            raise ValueError("this is not a map of scores")
        self.targets = words[1] & 0xFFFF_FFFF
        self.first = HEADER + (self.targets + 63) // 64
        if words[1] >> 32 != version or self.first + self.targets > len(words):
            raise ValueError("this is a map of another version")
        self.words = words

    @classmethod
    def open(cls, path, version):
        """The map in a file that the core made."""
        with open(path, "r+b") as file:
            mapped = mmap.mmap(file.fileno(), 0)
        return cls(memoryview(mapped).cast("Q"), version)

    @classmethod
    def alone(cls, targets, version=1):
        """A map in this process only, for tests."""
        size = HEADER + (targets + 63) // 64 + targets
        words = memoryview(bytearray(8 * size)).cast("Q")
        words[0] = MAGIC
        words[1] = version << 32 | targets
        return cls(words, version)

    @property
    def candidate(self):
        return self.words[CANDIDATE]

    @property
    def action(self):
        return min(self.words[ACTION], 0xFFFF)

    def near(self, target, distance, action):
        """A target was missed by a distance."""
        if not 0 <= target < self.targets:
            return
        score = 0.999 / (1.0 + distance)
        (bits,) = _word_of(_double_of(score if score > SMALLEST else SMALLEST))
        score = ((bits << 2) & 0xFFFF_FFFF_FFFF_FFFF) >> 16
        with _LOCK:
            at = self.first + target
            if self.words[at] >> 16 < score:
                self._store(at, target, score, action)

    def cover(self, target, action):
        """A target is covered."""
        if not 0 <= target < self.targets:
            return
        with _LOCK:
            at = self.first + target
            if self.words[at] >> 16 < COVERED:
                self._store(at, target, COVERED, action)

    def _store(self, at, target, score, action):
        self.words[at] = score << 16 | (0xFFFF - action)
        self.words[HEADER + (target >> 6)] |= 1 << (target & 63)

    def cell(self, target):
        """The score and the action of a target; none when it was not reached."""
        cell = self.words[self.first + target]
        if cell == 0:
            return None
        (score,) = _DOUBLE.unpack(_WORD.pack(cell >> 16 << 14))
        return score, 0xFFFF - (cell & 0xFFFF)
