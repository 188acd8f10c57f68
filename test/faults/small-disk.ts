import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Told } from '../harness/client.ts'

/** A disk of its own that can be filled to the last byte. */
export interface SmallDisk {
  readonly path: string
  readonly freeBytes: () => number
  /** Takes every byte that is free but some, and more whenever it is called again. */
  fill(leaveBytes?: number): void
  /** Gives back what `fill` took. */
  makeRoom(): void
  remove(): void
}

/** What a service says that has no room. */
export const assertFull = (told: Told): void => {
  assert.deepEqual([told.status, told.json.code], [507, 'insufficient_space'], told.text)
}

const piece = Buffer.alloc(65_536)

/**
 * Mounts a file system in memory; it goes with the test file, also when that fails. Needs the right to mount, as root
 * has.
 */
export const mountSmallDisk = (size: string): SmallDisk => {
  const path = mkdtempSync(join(tmpdir(), 'svc-small-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', path], { stdio: 'pipe' })
  } catch (cause) {
    rmdirSync(path)
    throw new Error('This test mounts a small file system. Run it on Linux as root (CAP_SYS_ADMIN).', { cause })
  }
  let mounted = true
  const remove = (): void => {
    if (!mounted) return
    mounted = false
    // Lazily, because a process that was just killed may hold files for a moment longer.
    execFileSync('umount', ['--lazy', path])
    rmdirSync(path)
  }
  process.once('exit', remove)
  return {
    path,
    freeBytes: () => freeBytesOf(path),
    fill: (leaveBytes) => fillDisk(path, leaveBytes),
    makeRoom() {
      rmSync(fillerIn(path), { force: true })
    },
    remove,
  }
}

const fillerIn = (path: string): string => join(path, 'filler')

const freeBytesOf = (path: string): number => {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize
}

/** Takes every byte of the disk mounted there but some. */
export const fillDisk = (path: string, leaveBytes = 0): void => {
  const descriptor = openSync(fillerIn(path), 'a')
  try {
    for (let room = 1; room > 0; ) {
      room = freeBytesOf(path) - leaveBytes
      if (room > 0) writeSync(descriptor, piece, 0, Math.min(piece.byteLength, room))
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  } finally {
    closeSync(descriptor)
  }
}
