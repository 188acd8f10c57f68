import { hash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Ajv } from 'ajv'
import Type, { type Static } from 'typebox'
import { makeFolder, writeOnce } from '../adapters/files/durable-file.ts'
import { fields, oneOf, RepositoryId, Sha256Text } from '../contract/schemas.ts'
import type { FileKey } from '../features/identity/access/file-keys.ts'
import { recoveryKeyId } from '../kernel/caller.ts'
import { toSha256 } from '../kernel/digest.ts'
import { fileKeysMax, keysFileBytesMax } from '../kernel/limits/identity.ts'
import { type Settings, SettingsInvalid } from './settings/rules.ts'

const KeysFile = fields({
  keys: Type.Array(
    fields({
      id: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' }),
      sha256: Sha256Text,
      repositories: Type.Array(
        fields({ repository: RepositoryId, permissions: Type.Array(oneOf(['read', 'write'] as const)) }),
      ),
      administrator: Type.Optional(Type.Boolean()),
      serviceAdministrator: Type.Optional(Type.Boolean()),
    }),
    { maxItems: fileKeysMax },
  ),
})
type KeysFile = Static<typeof KeysFile>

/** Of a file's permissions. */
const writableByOthers = 0o022

export interface KeyPaths {
  readonly recoveryKey: string
  readonly healthKey: string
}

export const keyPaths = (settings: Settings): KeyPaths => ({
  recoveryKey: join(settings.dataDir, 'config', 'bootstrap-token.txt'),
  healthKey: join(settings.dataDir, 'config', 'health-token.txt'),
})

/** The keys of a first start: the recovery key, and a key that may only look at health and metrics. */
const makeKeys = async (settings: Settings): Promise<void> => {
  const paths = keyPaths(settings)
  const secret = async (path: string): Promise<string> =>
    (await writeOnce(path, `${randomBytes(32).toString('hex')}\n`)).trim()
  const content: KeysFile = {
    keys: [
      {
        id: recoveryKeyId,
        sha256: hash('sha256', await secret(paths.recoveryKey)),
        repositories: [{ repository: 'releases', permissions: ['read', 'write'] }],
        administrator: true,
        serviceAdministrator: true,
      },
      { id: 'health', sha256: hash('sha256', await secret(paths.healthKey)), repositories: [] },
    ],
  }
  await writeOnce(settings.keysFile.path, `${JSON.stringify(content, null, 2)}\n`)
}

const wrongIn =
  ({ keysFile: { path } }: Settings) =>
  (why: string): SettingsInvalid =>
    new SettingsInvalid([`SVC_KEYS_FILE: ${path} ${why}`])

/**
 * Makes the keys on the first start of one that may write, then reads the keys file. Throws {@link SettingsInvalid} for
 * a file that is not one.
 */
export const openKeys = async (settings: Settings, { readOnly = false } = {}): Promise<FileKey[]> => {
  const { path, makeIfMissing } = settings.keysFile
  const wrong = wrongIn(settings)
  if (!existsSync(path)) {
    if (readOnly) throw wrong('does not exist; a reader takes the one of its writer')
    if (!makeIfMissing) throw wrong('does not exist')
    await makeKeys(settings)
  } else if (makeIfMissing && !readOnly) await makeFolder(dirname(path)) // Who made it may have died before it was durable.
  return toFileKeys(await readKeysFile(settings), wrong)
}

/** What stands in the keys file. Throws {@link SettingsInvalid} for one that does not exist or that is none. */
export const readKeysFile = async (settings: Settings): Promise<KeysFile> => {
  const { path } = settings.keysFile
  const wrong = wrongIn(settings)
  if (!existsSync(path)) throw wrong('does not exist')
  const { size, mode } = await stat(path)
  if ((mode & writableByOthers) !== 0)
    throw wrong(
      'may be written by others than its owner, who could give themselves any right; take that from them (chmod go-w)',
    )
  if (size > keysFileBytesMax) throw wrong(`is larger than ${keysFileBytesMax} bytes`)
  let parsed: unknown
  try {
    parsed = JSON.parse(await readFile(path, 'utf8'))
  } catch {
    throw wrong('is not JSON')
  }
  // By what checks requests as well, which is loaded anyway: typebox's own checker is 300 modules more at every start.
  const isKeysFile = new Ajv({ validateFormats: false }).compile<KeysFile>(KeysFile)
  if (isKeysFile(parsed)) return parsed
  const [first] = isKeysFile.errors ?? []
  throw wrong(`is not a keys file: ${first?.instancePath ?? ''} ${first?.message ?? ''}`)
}

const toFileKeys = ({ keys }: KeysFile, wrong: (why: string) => SettingsInvalid): FileKey[] => {
  const ids = new Set(keys.map((key) => key.id))
  const digests = new Set(keys.map((key) => key.sha256))
  if (ids.size < keys.length || digests.size < keys.length) throw wrong('holds two keys with the same id or secret')
  const twice = keys.find(
    ({ repositories }) => new Set(repositories.map((each) => each.repository)).size < repositories.length,
  )
  if (twice !== undefined) throw wrong(`names a repository twice in the key ${twice.id}`)
  return keys.map((key) => ({
    id: key.id,
    sha256: toSha256(key.sha256),
    administrator: key.administrator ?? false,
    serviceAdministrator: key.serviceAdministrator ?? false,
    repositories: new Map(
      key.repositories
        .filter(({ permissions }) => permissions.length > 0)
        .map(({ repository, permissions }) => [repository, new Set(permissions)] as const),
    ),
  }))
}
