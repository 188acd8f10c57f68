import { hash, randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { chown, readFile, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { removeUnfinished, syncDirectory, writeNamed } from '../adapters/files/durable-file.ts'
import { lockFile } from '../database/sqlite/file-lock.ts'
import { recoveryKeyId } from '../kernel/caller.ts'
import { Failure } from '../kernel/failure.ts'
import { keyPaths, readKeysFile } from './keys-file.ts'
import { type Settings, SettingsInvalid } from './settings/rules.ts'

/**
 * A file in the place of another, which belongs to whom that belonged: who rotates need not be who runs the service.
 */
const replace = (path: string, text: string, { uid, gid, mode }: Stats): Promise<void> =>
  writeNamed(path, async (handle) => {
    await handle.chown(uid, gid)
    await handle.chmod(mode & 0o777)
    await handle.writeFile(text)
  })

const statOrNull = (path: string): Promise<Stats | null> =>
  stat(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  })

export interface RotatedKey {
  readonly keysFile: string
  /** Where the new key is; null where the old one had no file. */
  readonly file: string | null
  /** The new key, where no file has it. */
  readonly secret: string | null
}

/**
 * Gives the recovery key another secret: in the keys file, which decides, and in the file beside it that operators
 * read. The secret is durable under another name before the keys file names it, and gets its name last: whatever a
 * crash leaves, either the old key is good, or the new one is there; doing it again puts all in order. Processes that
 * run keep the keys that they read at their start. One rotation at a time: 409 `busy` while another is at work.
 */
export const rotateRecoveryKey = async (settings: Settings): Promise<RotatedKey> => {
  // What is wrong with the file is said before anything is made beside it.
  await keysWithRecovery(settings)
  const { path } = settings.keysFile
  const { uid, gid } = await stat(path)
  const lockPath = `${path}.lock`
  const alone = lockFile(lockPath, 'exclusive')
  if (alone === null)
    throw new Failure('busy', 'Another svc recovery-key rotate is at work here. Wait until it has ended.')
  try {
    // Who rotates next may be the owner of the keys.
    await chown(lockPath, uid, gid)
    return await rotate(settings)
  } finally {
    alone[Symbol.dispose]()
  }
}

const rotate = async (settings: Settings): Promise<RotatedKey> => {
  const keysFile = settings.keysFile.path
  const keys = await keysWithRecovery(settings)
  const secret = randomBytes(32).toString('hex')
  const path = keyPaths(settings).recoveryKey
  const next = `${path}.next`
  for (const each of [keysFile, path, next]) await removeUnfinished(each)
  const known = await statOrNull(path)
  if (known !== null) {
    // Only it has the good secret, where a rotation died before its end: it gets its name before another takes its
    // place.
    if (await hasSecretOf(keys, next)) {
      await rename(next, path)
      await syncDirectory(dirname(path))
    }
    await replace(next, `${secret}\n`, known)
    await syncDirectory(dirname(path))
  }
  const sha256 = hash('sha256', secret)
  const changed = keys.map((key) => (key.id === recoveryKeyId ? { ...key, sha256 } : key))
  await replace(keysFile, `${JSON.stringify({ keys: changed }, null, 2)}\n`, await stat(keysFile))
  await syncDirectory(dirname(keysFile))
  if (known === null) return { keysFile, file: null, secret }
  await rename(next, path)
  await syncDirectory(dirname(path))
  return { keysFile, file: path, secret: null }
}

/** The entries of the keys file, the recovery key's among them. */
const keysWithRecovery = async (settings: Settings) => {
  const { keys } = await readKeysFile(settings)
  if (keys.some(({ id }) => id === recoveryKeyId)) return keys
  throw new SettingsInvalid([
    `SVC_KEYS_FILE: ${settings.keysFile.path} has no entry ${recoveryKeyId}, which is the recovery key`,
  ])
}

const hasSecretOf = async (keys: readonly { id: string; sha256: string }[], path: string): Promise<boolean> => {
  if ((await statOrNull(path)) === null) return false
  const sha256 = hash('sha256', (await readFile(path, 'utf8')).trim())
  return keys.some((key) => key.id === recoveryKeyId && key.sha256 === sha256)
}
