import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeOnce } from '../adapters/files/durable-file.ts'
import { openBackupDirectory } from '../adapters/vault-directory/backup-directory.ts'
import { lockFile } from '../database/sqlite/file-lock.ts'
import { BackupLocked, type Coding, plainCoding } from '../features/operating/backups/coding.ts'
import type { Room } from '../features/operating/backups/data-files.ts'
import { Failure } from '../kernel/failure.ts'
import type { BackupVault } from '../ports/backup-vault.ts'
import type { Settings } from './settings/rules.ts'

/** Says what to set where no vault is named. */
export const noVault = (): Failure =>
  new Failure('invalid_request', 'No vault is named. Set SVC_BACKUP_VAULT, such as to file:/mnt/backup/svc.')

/** The vault that is a folder. Nothing happens to it yet. */
export const openVaultFolder = (root: string): BackupVault => openBackupDirectory(root, lockFile)

type VaultSettings = Pick<Settings, 'backupVault' | 'backupRecipients' | 'backupIdentityFile' | 'dataDir'>

/**
 * The vault that the settings name, and how what is in it is written. Nothing happens to it yet. Who `writes` there has
 * a key of the service's own, which is made if it is missing.
 */
export const openBackupRoom = async (settings: VaultSettings, { writes = false } = {}): Promise<Room> => {
  const { backupVault } = settings
  if (backupVault === null) throw noVault()
  const coding = await codingOf(settings, writes)
  if (backupVault.kind === 'directory') return { vault: openVaultFolder(backupVault.root), coding }
  // What speaks S3 takes 37 MiB of memory.
  const { openVaultS3 } = await import('../adapters/blob-s3/vault-s3.ts')
  return { vault: openVaultS3(backupVault), coding }
}

/** What the service opens its own lists with, and names data by. It opens nothing else. */
const serviceKeyPath = ({ dataDir }: VaultSettings): string => join(dataDir, 'config', 'backup-key.txt')

/**
 * Encrypts to the recipients that the settings name. Points that were encrypted before are read with whatever keys
 * there are, also where new ones are not encrypted any more.
 */
const codingOf = async (settings: VaultSettings, writes: boolean): Promise<Coding> => {
  const { backupRecipients: recipients, backupIdentityFile } = settings
  const encrypts = recipients.length > 0
  if (!encrypts && backupIdentityFile === null) return plainCoding
  const age = await import('../adapters/age/age-cipher.ts')
  const path = serviceKeyPath(settings)
  const own =
    encrypts && writes
      ? (await writeOnce(path, `${await age.newIdentity()}\n`)).trim()
      : await readFile(path, 'utf8').then(
          (text) => text.trim(),
          () => null,
        )
  const operators = backupIdentityFile === null ? [] : await identitiesIn(backupIdentityFile)
  const identities = own === null ? operators : [...operators, own]
  const service = own === null ? [] : [await age.recipientOf(own)]
  return {
    encrypted: encrypts,
    opens: operators.length > 0,
    idOf: (digest) => {
      if (!encrypts) return digest
      if (own === null) throw new BackupLocked('There is no key of the service to name data by.')
      return createHmac('sha256', own).update(digest).digest('hex')
    },
    encrypt: (pieces, readers) =>
      encrypts ? age.encrypted(pieces, readers === 'service' ? [...recipients, ...service] : recipients) : pieces,
    async *decrypt(pieces) {
      try {
        yield* age.decrypted(pieces, identities)
      } catch (error) {
        if (error instanceof age.NoKeyFits)
          throw new BackupLocked(
            'It is encrypted, and none of the keys here opens it. Set SVC_BACKUP_IDENTITY_FILE to the file with the secret key of a recipient.',
          )
        throw error
      }
    },
  }
}

/** The secret keys of a file as `age-keygen` writes it. */
const identitiesIn = async (path: string): Promise<string[]> => {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new Failure('invalid_request', `SVC_BACKUP_IDENTITY_FILE: ${path} cannot be read.`, { cause: error })
  })
  const keys = text.split('\n').map((line) => line.trim())
  const found = keys.filter((line) => line.startsWith('AGE-SECRET-KEY-'))
  if (found.length === 0)
    throw new Failure('invalid_request', `SVC_BACKUP_IDENTITY_FILE: ${path} has no line AGE-SECRET-KEY-….`)
  return found
}
