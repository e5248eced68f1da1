"""Devices: where things run. Opened when needed; a device closes after everything that uses it."""
from __future__ import annotations

import dataclasses
import os
import threading
from typing import Optional, Union

from . import _library
from ._errors import Error, Invalid, Missing
from ._library import check, ffi, lib, path_bytes, text


class Device:
    """An open device: "cpu", "cuda", "cuda:1" or "sim". None: the GPU if there is one, else the CPU.

    `threads` is how many CPU threads operators use; 0: one per core.
    """

    def __init__(self, name: Optional[str] = None, threads: int = 0) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._process = os.getpid()
        place = ffi.new('heddle_device **')
        if name is None:
            status = lib.heddle_device_open(b'cuda', threads, place)
            if status == lib.HEDDLE_MISSING:
                status = lib.heddle_device_open(b'cpu', threads, place)
        else:
            status = lib.heddle_device_open(path_bytes(name), threads, place)
        check(status)
        self._c = place[0]
        self.retain()

    @property
    def kind(self) -> str:
        """ "cpu", "cuda" or "sim"."""
        return text(lib.heddle_device_kind_name(lib.heddle_device_get_kind(self._c)))

    def is_ours(self) -> bool:
        """False in a forked child: it has none of the threads of its parent's devices, and calls would wait for ever."""
        return self._process == os.getpid()

    def need(self) -> 'Device':
        """Itself, if it can be used in this process."""
        if not self.is_ours():
            raise Invalid('opened before this process was forked, so it cannot be used here: open it in this process, or '
                          'start processes by multiprocessing.get_context("spawn")')
        return self

    def retain(self) -> 'Device':
        """One more object uses it."""
        with self._lock:
            self._users += 1
        return self

    def release(self) -> None:
        """An object that used it is closed; the last one closes the device."""
        if not self.is_ours():  # the parent closes it
            return
        with self._lock:
            self._users -= 1
            last = self._users == 0
        if last and _library and _library.ending is False:
            lib.heddle_device_close(self._c)

    def __del__(self) -> None:
        if getattr(self, '_users', 0):
            self.release()

    def __repr__(self) -> str:
        return f'heddle.Device({self.kind!r})'


def device_of(given: Union[Device, str, None], threads: int = 0) -> Device:
    return given.need() if isinstance(given, Device) else Device(given, threads)


@dataclasses.dataclass(frozen=True)
class DeviceInfo:
    """One device, or why it cannot be used."""
    device: str
    present: bool
    why: str = ''           # it cannot be used
    name: str = ''          # "NVIDIA H200"
    instructions: str = ''  # "neon", "sm_90"
    processors: int = 0
    memory_total: int = 0   # bytes
    memory_free: int = 0
    properties: dict[str, str] = dataclasses.field(default_factory=dict)


def _describe(name: str) -> DeviceInfo:
    try:
        device = Device(name)
    except Missing as error:
        return DeviceInfo(name, False, str(error))
    info = ffi.new('heddle_device_info *')
    check(lib.heddle_device_describe(device._c, info))
    count = lib.heddle_device_properties(device._c, ffi.NULL, 0)
    rows = ffi.new('heddle_device_property[]', max(count, 1))
    lib.heddle_device_properties(device._c, rows, count)
    return DeviceInfo(name, True, '', text(info.name), text(info.instructions), info.processors, info.memory_total,
                      info.memory_free, {text(rows[i].name): text(rows[i].value) for i in range(count)})


def devices() -> list[DeviceInfo]:
    """All devices that heddle knows, and why one cannot be used."""
    found = [_describe('cpu'), _describe('cuda'), _describe('sim')]
    number = 1
    while found[1].present:
        try:
            other = _describe(f'cuda:{number}')
        except Error:
            break
        if not other.present:
            break
        found.insert(1 + number, other)
        number += 1
    return found
