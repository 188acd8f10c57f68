import { hash, randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { readFile, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory, writeNamed } from '../adapters/files/durable-file.ts'
import { recoveryKeyId } from '../kernel/caller.ts'
import { keyPaths, readKeysFile } from './keys-file.ts'
import { type Settings, SettingsInvalid } from './settings/rules.ts'

/** A file in the place of another, which belongs to whom that belonged: who rotates need not be who runs the service. */
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
 * Gives the recovery key another secret: in the keys file, which decides, and in the file beside it that operators read. The
 * secret is durable under another name before the keys file names it, and gets its name last: whatever a crash leaves, either
 * the old key is good, or the new one is there; doing it again puts all in order. Processes that run keep the keys that they
 * read at their start.
 */
export const rotateRecoveryKey = async (settings: Settings): Promise<RotatedKey> => {
  const keysFile = settings.keysFile.path
  const { keys } = await readKeysFile(settings)
  if (!keys.some(({ id }) => id === recoveryKeyId))
    throw new SettingsInvalid([`SVC_KEYS_FILE: ${keysFile} has no entry ${recoveryKeyId}, which is the recovery key`])
  const secret = randomBytes(32).toString('hex')
  const path = keyPaths(settings).recoveryKey
  const known = await statOrNull(path)
  const next = `${path}.next`
  if (known !== null) {
    // Only it has the good secret, where a rotation died before its end: it gets its name before another takes its place.
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
  await refuseRival(settings, path)
  return { keysFile, file: path, secret: null }
}

const hasSecretOf = async (keys: readonly { id: string; sha256: string }[], path: string): Promise<boolean> => {
  if ((await statOrNull(path)) === null) return false
  const sha256 = hash('sha256', (await readFile(path, 'utf8')).trim())
  return keys.some((key) => key.id === recoveryKeyId && key.sha256 === sha256)
}

/** Two rotations at once may leave the keys file of one and the secret of the other. */
const refuseRival = async (settings: Settings, path: string): Promise<void> => {
  const { keys } = await readKeysFile(settings)
  if (!(await hasSecretOf(keys, path))) throw new Error('another rotation came in between; run it again')
}
