"""Runs a program at a terminal, types lines when it asks, and prints what the terminal showed: typed-secretly.py <line>,<line> <program> …"""
import os, pty, re, sys

lines = sys.argv[1].split(',')
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown, answered = b'', 0
while True:
    try:
        piece = os.read(terminal, 1024)
    except OSError:
        break
    if not piece:
        break
    shown += piece
    # Some move the cursor behind what they ask, or to the next line, in a piece of its own.
    text = re.sub(rb'\x1b\[[0-9;?]*[A-Za-z]', b'', shown).rstrip()
    if text.endswith(b':') and len(text) > answered and lines:
        answered = len(text)
        os.write(terminal, lines.pop(0).encode() + b'\r')
sys.stdout.write(shown.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
