import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { toSha256 } from '../../kernel/digest.ts'
import { type BlobName, blobName, newGeneration } from '../../ports/blob-name.ts'

/** What the tests of the blob directory share. */
export interface Scratch {
  readonly base: string
  readonly root: string
  readonly staging: string
  /** What is undone after the test, the last first. */
  readonly undo: DisposableStack
}

/** A fresh folder, removed after the test. */
export const scratch = (t: TestContext): Scratch => {
  const base = fs.mkdtempSync(join(tmpdir(), 'svc-blobs-'))
  const undo = new DisposableStack()
  undo.defer(() => fs.rmSync(base, { recursive: true, force: true }))
  t.after(() => undo.dispose())
  return { base, root: join(base, 'blobs'), staging: join(base, 'staging'), undo }
}

/** Resolves when the condition holds; fails with what `otherwise` says if it never does. */
export const until = async (holds: () => boolean, otherwise: () => string): Promise<void> => {
  const deadline = performance.now() + 5_000
  while (!holds()) {
    assert.ok(performance.now() < deadline, otherwise())
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Files below the folder that this process has open. */
export const openFilesUnder = ({ base }: Scratch): string[] =>
  fs
    .readdirSync('/proc/self/fd')
    .map((descriptor) => {
      try {
        return fs.readlinkSync(`/proc/self/fd/${descriptor}`)
      } catch {
        return ''
      }
    })
    .filter((path) => path.startsWith(base))

const capSysAdmin = 1n << 21n

/** Whether this process may mount: root may, unless it lacks the capability, as in a plain container. */
export const mayMount = ((): boolean => {
  if (process.platform !== 'linux') return false
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(fs.readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '0'
  return (BigInt(`0x${effective}`) & capSysAdmin) !== 0n
})()

/** Mounts over an empty folder until the test ends. */
export const mount = ({ undo }: Scratch, path: string, how: readonly string[]): void => {
  fs.mkdirSync(path, { recursive: true })
  execFileSync('mount', [...how, path])
  undo.defer(() => execFileSync('umount', [path]))
}

export const smallDisk = (size: string): string[] => ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs']

/** An error of the file system, as a test injects it. */
export const failure = (code: string): Error => Object.assign(new Error(`${code}: injected`), { code })

/** The name of nothing in particular in a shard. */
export const nameInShard = (shard: string): BlobName =>
  blobName(toSha256(shard + randomBytes(31).toString('hex')), newGeneration())
