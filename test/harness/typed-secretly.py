"""Runs a program at a terminal, types lines when it asks, and prints what the terminal showed: typed-secretly.py <line>,<line> <program> …"""
import os, pty, sys

lines = sys.argv[1].split(',')
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown = b''
while True:
    try:
        piece = os.read(terminal, 1024)
    except OSError:
        break
    if not piece:
        break
    shown += piece
    if shown.endswith(b': ') and lines:
        os.write(terminal, lines.pop(0).encode() + b'\r')
sys.stdout.write(shown.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
