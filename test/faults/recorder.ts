import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Environment } from '../harness/processes.ts'

const source = join(import.meta.dirname, 'recorder.c')

/** Compiles a library to be preloaded, once for each text of its source. Needs a C compiler, which Debian calls gcc. */
export const builtLibrary = async (path: string): Promise<string> => {
  const text = await readFile(path)
  const library = join(tmpdir(), `svc-test-${createHash('sha256').update(text).digest('hex').slice(0, 16)}.so`)
  if (existsSync(library)) return library
  const unfinished = `${library}.${process.pid}`
  await promisify(execFile)('gcc', ['-O2', '-Wall', '-shared', '-fPIC', '-o', unfinished, path])
  renameSync(unfinished, library)
  return library
}

/** As in recorder.c, and a mark of ours. */
export type Change =
  | { readonly kind: 'named' | 'unlinked' | 'made'; readonly inode: bigint; readonly path: string }
  | { readonly kind: 'renamed' | 'linked'; readonly inode: bigint; readonly path: string; readonly to: string }
  | { readonly kind: 'written'; readonly inode: bigint; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'resized'; readonly inode: bigint; readonly length: number }
  | Sync
  | { readonly kind: 'unknown'; readonly what: string }
  | { readonly kind: 'mark'; readonly text: string }

export interface Sync {
  readonly kind: 'syncing' | 'synced'
  readonly inode: bigint
  readonly process: number
  readonly thread: number
  readonly call: string
  readonly failed: boolean
}

const kinds = [
  'mark',
  'named',
  'written',
  'resized',
  'renamed',
  'unlinked',
  'made',
  'linked',
  'syncing',
  'synced',
  'unknown',
] as const
const headBytes = 40

/** What processes do to the files under one folder, in the order in which the kernel saw it. */
export class Recording {
  readonly path: string
  readonly environment: Environment

  private constructor(path: string, environment: Environment) {
    this.path = path
    this.environment = environment
  }

  /** Of the folder `root`, kept in the file `path`; processes that start with `environment` are recorded. */
  static async of(root: string, path: string): Promise<Recording> {
    writeFileSync(path, '')
    const library = await builtLibrary(source)
    return new Recording(path, { LD_PRELOAD: library, SVC_RECORD: path, SVC_RECORD_ROOT: root })
  }

  /** Says something between what is recorded. */
  mark(text: string): void {
    const bytes = Buffer.from(text)
    const head = Buffer.alloc(headBytes)
    head.writeUInt32LE(bytes.length, 12)
    appendFileSync(this.path, Buffer.concat([head, bytes]))
  }

  /** From now on syncs of files whose path ends so fail, until it is null. */
  failSyncs(ending: string | null): void {
    if (ending === null) rmSync(`${this.path}.fail`, { force: true })
    else {
      writeFileSync(`${this.path}.fail.new`, ending)
      renameSync(`${this.path}.fail.new`, `${this.path}.fail`)
    }
  }

  changes(): Change[] {
    return changesIn(this.path)
  }
}

/** What the record in the file `path` says. */
export const changesIn = (path: string): Change[] => {
  const record = readFileSync(path)
  const changes: Change[] = []
  for (let at = 0; at < record.length; ) {
    const bytes = record.readUInt32LE(at + 12)
    changes.push(changeIn(record.subarray(at, at + headBytes), record.subarray(at + headBytes, at + headBytes + bytes)))
    at += headBytes + bytes
  }
  return changes
}

const changeIn = (head: Buffer, payload: Buffer): Change => {
  const kind = kinds[head.readUInt32LE(0)]
  const inode = head.readBigUInt64LE(16)
  const offset = Number(head.readBigUInt64LE(24))
  const [path = '', to = ''] = kind === 'written' ? [] : payload.toString().split('\0')
  switch (kind) {
    case 'named':
    case 'unlinked':
    case 'made':
      return { kind, inode, path }
    case 'renamed':
    case 'linked':
      return { kind, inode, path, to }
    case 'written':
      return { kind, inode, at: offset, bytes: payload }
    case 'resized':
      return { kind, inode, length: offset }
    case 'syncing':
    case 'synced':
      return {
        kind,
        inode,
        process: head.readUInt32LE(4),
        thread: head.readUInt32LE(8),
        call: path,
        failed: head.readBigInt64LE(32) !== 0n,
      }
    case 'unknown':
      return { kind, what: path }
    case 'mark':
      return { kind, text: payload.toString() }
    default:
      throw new Error('the record is broken')
  }
}
