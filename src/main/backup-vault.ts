import { openBackupDirectory } from '../adapters/vault-directory/backup-directory.ts'
import { lockFile } from '../database/sqlite/file-lock.ts'
import { plainCoding } from '../features/operating/backups/coding.ts'
import type { Room } from '../features/operating/backups/data-files.ts'
import { Failure } from '../kernel/failure.ts'
import type { BackupVault } from '../ports/backup-vault.ts'
import type { Settings } from './settings/rules.ts'

/** Says what to set where no vault is named. */
export const noVault = (): Failure =>
  new Failure('invalid_request', 'No vault is named. Set SVC_BACKUP_VAULT, such as to file:/mnt/backup/svc.')

/** The vault that is a folder. Nothing happens to it yet. */
export const openVaultFolder = (root: string): BackupVault => openBackupDirectory(root, lockFile)

/** The vault that the settings name, and how what is in it is written. Nothing happens to it yet. */
export const openBackupRoom = async ({ backupVault }: Pick<Settings, 'backupVault'>): Promise<Room> => {
  if (backupVault === null) throw noVault()
  if (backupVault.kind === 'directory') return { vault: openVaultFolder(backupVault.root), coding: plainCoding }
  // What speaks S3 takes 37 MiB of memory.
  const { openVaultS3 } = await import('../adapters/blob-s3/vault-s3.ts')
  return { vault: openVaultS3(backupVault), coding: plainCoding }
}
