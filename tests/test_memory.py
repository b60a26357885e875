"""Memory that nobody uses goes back to the system."""

import subprocess
import sys

import pytest
from conftest import ROOT

PROGRAM = """
import ctypes, threading
from lib.serving.front.server import tune_allocator

few = {few} and tune_allocator()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
libc.fopen.restype = ctypes.c_void_p
libc.fclose.argtypes = [ctypes.c_void_p]
together = threading.Barrier(12)

def work():
    together.wait()
    for _ in range(200):
        libc.malloc(5000)
    together.wait()

threads = [threading.Thread(target=work) for _ in range(12)]
for thread in threads: thread.start()
for thread in threads: thread.join()
file = libc.fopen(b"/dev/stdout", b"w")
libc.malloc_info(0, file)
libc.fclose(file)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the C library is another one here")
def test_threads_share_tune_allocator() -> None:
    """However many threads allocate, they share two arenas instead of having one each."""

    def arenas(few: bool) -> int:
        command = [sys.executable, "-c", PROGRAM.format(few=few)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout.count("<heap nr=")

    assert arenas(few=True) <= 2 < arenas(few=False)
